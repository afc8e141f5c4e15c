package sidecar

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/plan"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
)

// published counts how often the sidecar writes its queue, and keeps the queue that was written
// last.
type published struct {
	*journal.Journal
	count int
	last  []byte
}

func (p *published) PutQueue(data []byte) error {
	p.count++
	p.last = data
	return p.Journal.PutQueue(data)
}

// viewed returns the sidecar of a crowded cluster, the journal to which it publishes, its plan, and
// its queue.
func viewed(t testing.TB) (*Sidecar, *published, *plan.World, []view.Job) {
	s := crowded(t, size{2_000, 500, 1_000})
	p := &published{Journal: s.eventLog.journal.(*journal.Journal)}
	s.publisher.Journal = p
	s.time.last = s.time.clock.Now()
	v := plan.Make(s.input())
	var views []view.Job
	for _, r := range s.jobs.sorted() {
		views = append(views, status.JobOf(r))
	}
	return s, p, v, views
}

func TestTheQueueIsWrittenOnlyWhenItChangedAndNotTooOften(t *testing.T) {
	s, p, v, views := viewed(t)
	clock := &handClock{now: time.Unix(v.Now, 0)}
	s.publisher.Clock = clock
	put := func(want int, when string) {
		t.Helper()
		if err := s.publisher.PublishQueue(v, views); err != nil {
			t.Fatal(err)
		}
		if p.count != want {
			t.Errorf("%s: written %d times, want %d", when, p.count, want)
		}
	}
	put(1, "the first time")
	clock.now = clock.now.Add(time.Hour)
	put(1, "unchanged after an hour")
	views[0].Why += "."
	put(2, "changed after an hour")
	views[0].Why += "."
	clock.now = clock.now.Add(time.Second)
	put(2, "changed again a second later: 2,500 jobs")
	clock.now = clock.now.Add(2 * time.Second)
	put(3, "three seconds later")
	var q view.Queue
	if err := json.Unmarshal(p.last, &q); err != nil {
		t.Fatal(err)
	}
	ranked, holders := 0, 0
	for i := range q.Jobs {
		switch e := &q.Jobs[i]; {
		case e.Holds():
			holders++
		case e.Rank == ranked+1:
			ranked++
		default:
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if ranked != 2000 || holders != 500 {
		t.Errorf("%d jobs wait and %d hold nodes, want 2,000 and 500", ranked, holders)
	}
}

// A job that may start at any second starts a second later in each plan.
func TestAJobThatMayStartNowDoesNotChangeTheQueueEachSecond(t *testing.T) {
	s, p, v, views := viewed(t)
	clock := &handClock{now: time.Unix(v.Now, 0)}
	s.publisher.Clock = clock
	due := 0
	for i := range v.Planned.Jobs {
		if v.Planned.Jobs[i].Start == v.Now {
			due++
		}
	}
	for range 60 {
		if err := s.publisher.PublishQueue(v, views); err != nil {
			t.Fatal(err)
		}
		for i := range v.Planned.Jobs {
			if v.Planned.Jobs[i].Start == v.Now {
				v.Planned.Jobs[i].Start++
			}
		}
		v.Now++
		clock.now = clock.now.Add(time.Second)
	}
	if due == 0 || p.count != 1 {
		t.Errorf("%d jobs are due, and the queue was written %d times in a minute, want once", due, p.count)
	}
}

// handClock is a clock that stands still until a test sets it.
type handClock struct {
	adapter.Wall
	now time.Time
}

func (c *handClock) Now() time.Time { return c.now }

func TestAChangeOfAnyFieldIsAChange(t *testing.T) {
	a := view.Entry{Plan: core.EP{{Duration: 1, Nodes: 1}}}
	if b := a; !a.Same(&b) {
		t.Error("an entry differs from itself")
	}
	for i := range reflect.TypeFor[view.Entry]().NumField() {
		b := a
		field := reflect.ValueOf(&b).Elem().Field(i)
		switch field.Kind() {
		case reflect.String:
			field.SetString("other")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Int, reflect.Int64:
			field.SetInt(7)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 2, 2))
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		default:
			t.Fatalf("a field of kind %s: teach same and this test about it", field.Kind())
		}
		if a.Same(&b) {
			t.Errorf("a change of %s is not seen", reflect.TypeFor[view.Entry]().Field(i).Name)
		}
	}
}

func TestAJobHoldsWhatItsPlanSays(t *testing.T) {
	for _, c := range []struct {
		name string
		job  view.Entry
		want []int // nodes at the seconds 90, 100, 105, 115 and 130, as seen at second 100
	}{
		{"an ordinary job that runs", view.Entry{Size: 3, Start: 50, Free: 110}, []int{3, 3, 3, 0, 0}},
		{"one without a limit", view.Entry{Size: 3, Start: 50}, []int{3, 3, 3, 3, 3}},
		{"one past its limit", view.Entry{Size: 3, Start: 50, Free: 95}, []int{3, 3, 0, 0, 0}},
		{"one that waits", view.Entry{Rank: 1, Size: 3, Start: 104, Free: 120}, []int{0, 0, 3, 3, 0}},
		{"one without a place", view.Entry{Rank: 1, Size: 3}, []int{0, 0, 0, 0, 0}},
		{"an evolving job that runs", view.Entry{Size: 2, Start: 80, Free: 120, Plan: core.EP{{Duration: 30, Nodes: 2}, {Duration: 10, Nodes: 5}}}, []int{2, 2, 2, 5, 0}},
		{"one that has not grown yet", view.Entry{Size: 2, Start: 80, Free: 120, Plan: core.EP{{Duration: 15, Nodes: 2}, {Duration: 25, Nodes: 5}}}, []int{2, 2, 5, 5, 0}},
		{"an evolving job that waits", view.Entry{Rank: 1, Start: 105, Free: 125, Plan: core.EP{{Duration: 5, Nodes: 2}, {Duration: 15, Nodes: 5}}}, []int{0, 0, 2, 5, 0}},
	} {
		for i, second := range []core.Time{90, 100, 105, 115, 130} {
			if got := c.job.At(second, 100); got != c.want[i] {
				t.Errorf("%s holds %d nodes at %d, want %d", c.name, got, second, c.want[i])
			}
		}
	}
}

// The bound is 10 ms in a cycle with 2,000 waiting jobs. The quickest of several rounds counts,
// because other programs disturb it least.
func TestPublishingTheQueueOfACrowdedClusterFitsItsBound(t *testing.T) {
	s, _, v, views := viewed(t)
	clock := &handClock{now: time.Unix(v.Now, 0)}
	s.publisher.Clock = clock
	for name, prepare := range map[string]func(){"unchanged": func() {}, "written": func() { clock.now, views[0].Size = clock.now.Add(time.Hour), views[0].Size+1 }} {
		bound, quickest := 10*time.Millisecond, time.Hour
		if raceDetector {
			bound *= 10
		}
		for range 20 {
			prepare()
			begin := processorTime(t)
			if err := s.publisher.PublishQueue(v, views); err != nil {
				t.Fatal(err)
			}
			quickest = min(quickest, processorTime(t)-begin)
		}
		t.Logf("%s: %v", name, quickest)
		if quickest > bound {
			t.Errorf("%s: the queue takes %v of processor time, want at most %v", name, quickest, bound)
		}
	}
}

// BenchmarkQueue measures what the queue of `accordion queue` costs in a cycle with 2,000 pending
// and 500 running jobs, both when the queue is written and when it is not.
func BenchmarkQueue(b *testing.B) {
	s, _, v, views := viewed(b)
	clock := &handClock{now: time.Unix(v.Now, 0)}
	s.publisher.Clock = clock
	for name, prepare := range map[string]func(){"unchanged": func() {}, "written": func() { clock.now, views[0].Size = clock.now.Add(time.Hour), views[0].Size+1 }} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				prepare()
				if err := s.publisher.PublishQueue(v, views); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
