package status

import (
	"errors"
	"slices"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"

	"github.com/google/go-cmp/cmp"
)

// queued publishes the queue. It returns the entries by job number, and the job numbers in the order of the queue.
func (s *fixture) queued() (map[core.JobID]view.Entry, []core.JobID) {
	s.Helper()
	s.ok(s.Publish(s.v))
	all := map[core.JobID]view.Entry{}
	var order []core.JobID
	for _, e := range s.past.now.Jobs {
		all[e.ID] = e
		order = append(order, e.ID)
	}
	return all, order
}

// same fails the test unless two entries are equal.
func (s *fixture) same(got, want view.Entry) {
	s.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("job %d (-want +got):\n%s", want.ID, diff)
	}
}

func pending(id int) adapter.Job {
	return adapter.Job{Key: adapter.Key{ID: core.JobID(id)}, State: adapter.Pending, Want: 3, Limit: 100, Why: "Resources", Priority: 50}
}

func TestQueueListsHoldersThenRankedJobsThenOthers(t *testing.T) {
	s := newFixture(t)
	s.seen(adapter.Job{Key: adapter.Key{ID: 1}, State: adapter.Running, Started: t0 - 10, Limit: 100, Nodes: []string{"n3"}, Priority: 9})
	s.seen(adapter.Job{Key: adapter.Key{ID: 2}, State: adapter.Ending, Started: t0 - 20, Limit: core.Forever, Nodes: []string{"n4"}})
	s.seen(adapter.Job{Key: adapter.Key{ID: 3}, State: adapter.Running, Limit: 100})
	s.seen(adapter.Job{Key: adapter.Key{ID: 4}, State: adapter.Done, Started: t0 - 20})
	s.manages(40, managed.Running, nil)
	held := pending(8)
	held.Held = true
	s.seen(held)
	blocked := pending(9)
	blocked.Blocked = true
	s.seen(blocked)
	expander := pending(10)
	expander.Blocked, expander.Expands = true, 40
	s.seen(expander)
	s.queueSeen(s.seen(pending(5)), t0+100, t0+200)
	s.seen(pending(11)) // not in the plan's queue
	waits := s.waits(41, t0+300)
	s.queueSeen(s.seen(pending(6)), 0, 0)
	forever := pending(7)
	forever.Limit = core.Forever
	s.queueSeen(s.seen(forever), t0+400, t0+500)
	got, order := s.queued()
	if want := []core.JobID{3, 2, 1, 40, 5, 41, 6, 7, 8, 9}; !slices.Equal(order, want) {
		t.Fatalf("the order is %v, want %v", order, want)
	}
	base := view.Entry{Submitted: t0 - 100, User: "alice", Name: "run", Kind: "ordinary"}
	with := func(change func(*view.Entry)) view.Entry { e := base; change(&e); return e }
	s.same(got[1], with(func(e *view.Entry) {
		e.ID, e.Phase, e.Nodes, e.Size, e.Start, e.End, e.Free = 1, "running", "n3", 1, t0-10, t0+90, t0+120
	}))
	s.same(got[2], with(func(e *view.Entry) { e.ID, e.Phase, e.Nodes, e.Size, e.Start = 2, "ending", "n4", 1, t0-20 }))
	s.same(got[3], with(func(e *view.Entry) { e.ID, e.Phase, e.Start, e.End, e.Free = 3, "running", 1, 100, 130 }))
	ofBig := view.Entry{ID: 40, Submitted: t0 - 100, User: "bob", Name: "big", Kind: "evolving", Phase: "running", Request: "ep=2x100s,4x200s", Nodes: "n[1-2]", Size: 2,
		Start: t0, End: t0 + 300, Free: t0 + 300, Step: 1, Plan: core.EP{{Duration: 100, Nodes: 2}, {Duration: 200, Nodes: 4}}}
	s.same(got[40], ofBig)
	s.same(got[5], with(func(e *view.Entry) {
		e.ID, e.Phase, e.Rank, e.Size, e.Why, e.Priority, e.Start, e.End, e.Free = 5, "waiting", 1, 3, "Resources", 50, t0+100, t0+200, t0+200
	}))
	s.same(got[41], view.Entry{ID: 41, Submitted: t0 - 100, User: "bob", Name: "big", Kind: "evolving", Phase: "waiting", Request: "ep=2x100s,4x200s", Rank: 2, Size: 2,
		Start: t0 + 300, End: t0 + 600, Free: t0 + 600, Plan: waits.Choices[0], Priority: 70})
	s.same(got[6], with(func(e *view.Entry) {
		e.ID, e.Phase, e.Rank, e.Size, e.Why, e.Priority = 6, "waiting", 3, 3, "Resources", 50
	}))
	s.same(got[7], with(func(e *view.Entry) {
		e.ID, e.Phase, e.Rank, e.Size, e.Why, e.Priority, e.Start = 7, "waiting", 4, 3, "Resources", 50, t0+400
	}))
	s.same(got[8], with(func(e *view.Entry) { e.ID, e.Phase, e.Size, e.Why, e.Priority = 8, "held", 3, "Resources", 50 }))
	s.same(got[9], with(func(e *view.Entry) { e.ID, e.Phase, e.Size, e.Why, e.Priority = 9, "blocked", 3, "Resources", 50 }))
}

func TestExpanderIsNotListedWhileItsJobGrows(t *testing.T) {
	s := newFixture(t)
	s.manages(40, managed.Running, nil)
	s.seen(adapter.Job{Key: adapter.Key{ID: 50}, State: adapter.Running, Expands: 40, Started: t0, Limit: 100})
	s.seen(adapter.Job{Key: adapter.Key{ID: 51}, State: adapter.Running, Expands: 39, Started: t0, Limit: 100})
	if _, order := s.queued(); !slices.Equal(order, []core.JobID{40, 50, 51}) {
		t.Errorf("nothing grows: %v", order)
	}
	s.v.Fresh = func(*managed.Job) bool { return false }
	if _, order := s.queued(); !slices.Equal(order, []core.JobID{40, 51}) {
		t.Errorf("job 40 grows: %v", order)
	}
}

func TestQueueListsJobsWithoutRank(t *testing.T) {
	s := newFixture(t)
	withoutRank := func(id int, change func(*managed.Job)) { s.manages(id, managed.Waiting, change) }
	withoutRank(40, nil)
	withoutRank(41, func(r *managed.Job) { r.Seen.Blocked = true })
	withoutRank(42, func(r *managed.Job) { r.Seen.HeldBy = "root" })
	withoutRank(43, func(r *managed.Job) {
		r.Course = &managed.Course{Start: t0 + 50, EP: core.EP{{Duration: 10, Nodes: 3}}}
	})
	s.manages(44, managed.Starting, func(r *managed.Job) { r.Began = 0 })
	s.manages(45, managed.Starting, func(r *managed.Job) { r.Began, r.Planned = 0, 0 })
	starts := s.waits(46, t0+10)
	starts.Phase, starts.Planned, starts.Promise = managed.Starting, t0+10, []core.Time{t0 + 110, t0 + 310}
	noPlace := s.waits(47, 0)
	unreadable := pending(48)
	unreadable.Held = true
	s.seen(unreadable)
	s.LastLogged = func(k adapter.Key) string { return map[core.JobID]string{48: "its request cannot be read"}[k.ID] }
	part := pending(49)
	part.Held, part.Comment = true, "launch=5"
	s.seen(part)
	got, order := s.queued()
	if want := []core.JobID{44, 46, 47, 40, 41, 42, 43, 48, 49}; !slices.Equal(order, want) {
		t.Fatalf("the order is %v, want %v", order, want)
	}
	for id, want := range map[core.JobID]struct {
		phase string
		size  int
		start core.Time
	}{40: {"waiting", 2, 0}, 41: {"blocked", 2, 0}, 42: {"held", 2, 0}, 43: {"waiting", 3, t0 + 50}, 44: {"starting", 2, t0}, 46: {"starting", 0, t0 + 10}, 47: {"waiting", 2, 0}, 48: {"held", 3, 0}} {
		if e := got[id]; e.Phase != want.phase || e.Size != want.size || e.Start != want.start {
			t.Errorf("job %d is %s with %d nodes from %d, want %+v", id, e.Phase, e.Size, e.Start, want)
		}
	}
	if got[47].Rank != 2 || noPlace.Course != nil || got[48].Why != "its request cannot be read" || got[49].Kind != view.Delegated || got[48].Kind != "ordinary" || got[49].Why != "Resources" {
		t.Errorf("rank %d, why %q and %q, kinds %s and %s", got[47].Rank, got[48].Why, got[49].Why, got[49].Kind, got[48].Kind)
	}
}

func TestQueueHasSizesAndTurns(t *testing.T) {
	s := newFixture(t)
	s.v.Turns = map[core.JobID]plan.Turn{5: {Has: true, Due: 7}, 41: {Due: 8}}
	s.v.Sizes = map[core.JobID]plan.Size{5: {Machine: 1, Head: 9, Sized: &view.AllowedSizes{}}, 41: {Machine: 2, Sized: &view.AllowedSizes{}}}
	j := pending(5)
	j.Choices = []core.EP{{{Duration: 7200, Nodes: 4}}, {{Duration: 4200, Nodes: 8}}}
	s.queueSeen(s.seen(j), t0+100, t0+200)
	s.waits(41, t0+300)
	s.queueSeen(s.seen(pending(6)), 0, 0)
	got, _ := s.queued()
	if e := got[5]; e.Turn != view.Reserved || e.Due != 7 || e.Machine != 1 || e.Head != 9 || e.Sized == nil || e.Choices != "4x2h|8x1h10m" && e.Choices != "4x2h|8x70m" {
		t.Errorf("job 5: %+v", e)
	}
	if e := got[41]; e.Turn != view.Unreserved || e.Due != 8 || e.Machine != 2 || e.Sized == nil {
		t.Errorf("job 41: %+v", e)
	}
	if e := got[6]; e.Turn != "" || e.Due != 0 || e.Sized != nil || e.Choices != "" {
		t.Errorf("job 6: %+v", e)
	}
}

func TestLongQueueIsWrittenLessOften(t *testing.T) {
	s := newFixture(t)
	put := func(want bool, why string) {
		t.Helper()
		before := len(s.queues)
		s.ok(s.PublishQueue(s.v, nil))
		if got := len(s.queues) > before; got != want {
			t.Errorf("%s: written %t, want %t", why, got, want)
		}
	}
	put(true, "the first")
	s.later(1)
	put(false, "nothing has changed")
	for i := range 40 {
		s.seen(adapter.Job{Key: adapter.Key{ID: core.JobID(100 + i)}, State: adapter.Running, Started: t0, Limit: 100})
	}
	put(true, "40 jobs came")
	s.seen(adapter.Job{Key: adapter.Key{ID: 200}, State: adapter.Running, Started: t0, Limit: 100})
	s.at = s.at.Add(40 * time.Millisecond)
	put(false, "a job came 40 ms later")
	s.at = s.at.Add(time.Millisecond)
	put(true, "… and 41 ms")
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"the pool", func() { s.v.Nodes = s.v.Nodes[:3] }},
		{"nodes away", func() { s.v.Snapshot.Nodes[0].Usable = false }},
		{"why they are", func() { s.v.Snapshot.Nodes[0].Why = "DOWN" }},
		{"reservations", func() {
			s.v.Snapshot.Reservations = []adapter.Reservation{{Name: "upgrade", Nodes: []string{"n1"}, Start: t0, End: t0 + 900}}
		}},
		{"sizes", func() { s.v.Sizing = []view.Sizing{{Rule: "x"}} }},
		{"usage", func() { s.Usage = func() view.Usage { return view.Usage{Users: []view.UserUsage{{}}} } }},
		{"a job", func() { s.v.Snapshot.Jobs[0].Limit = 99 }},
	} {
		s.later(1)
		put(false, "before "+change.name)
		change.do()
		put(true, change.name)
	}
	s.fails = errors.New("the disk is full")
	s.v.Snapshot.Jobs[0].Limit = 98
	s.later(1)
	if err := s.PublishQueue(s.v, nil); !errors.Is(err, s.fails) {
		t.Errorf("%v", err)
	}
	if entries, shown := len(s.past.entries), len(s.past.queued.Jobs); entries != 41 || shown != 41 {
		t.Errorf("%d entries remembered, %d shown", entries, shown)
	}
}

func TestQueueDescribesTheCluster(t *testing.T) {
	s := newFixture(t)
	s.v.Snapshot.Nodes[0].Usable, s.v.Snapshot.Nodes[0].Why = false, "DOWN"
	s.v.Snapshot.Nodes[1].Usable, s.v.Snapshot.Nodes[1].Why = false, "DRAIN"
	s.Usage = func() view.Usage { return view.Usage{} }
	s.v.Snapshot.Reservations = []adapter.Reservation{
		{Name: "upgrade", Nodes: []string{"n1", "n3", "elsewhere"}, Start: t0 + 10, End: t0 + 900, Repeats: "DAILY", Later: []adapter.Span{{Start: t0 + 86410, End: t0 + 87300}}},
		{Name: "accordion-7-1", Nodes: []string{"n1"}, Start: t0, End: t0 + 900},
		{Name: "other", Nodes: []string{"elsewhere"}, Start: t0, End: t0 + 900},
		{Name: "over", Nodes: []string{"n1"}, Start: t0 - 900, End: t0},
		{Name: "again", Nodes: []string{"n1"}, Start: t0 - 900, End: t0, Later: []adapter.Span{{Start: t0 + 100, End: t0 + 101}}},
	}
	s.ok(s.Publish(s.v))
	q := s.queues[0]
	if q.At != t0 || q.Cluster != "c" || q.Nodes != 4 || q.Away != 2 || len(q.AwayNodes) != 2 || q.Lead != 5 || q.Usage != nil || q.Approach != plan.Approach(s.Settings) {
		t.Errorf("%+v", q)
	}
	if len(q.Closures) != 2 || q.Closures[0].Nodes != 2 || q.Closures[0].Repeats != "DAILY" || len(q.Closures[0].Later) != 1 || q.Closures[0].Start != t0+10 || q.Closures[0].End != t0+900 || q.Closures[1].Name != "again" {
		t.Errorf("%+v", q.Closures)
	}
	s = newFixture(t)
	s.ok(s.Publish(s.v))
	if q := s.queues[0]; q.Approach != 0 || q.Closures == nil {
		t.Errorf("without reservations: %+v", q)
	}
	s = newFixture(t)
	for i := range 2 * maxAwayReasons {
		s.v.Snapshot.Nodes = append(s.v.Snapshot.Nodes, adapter.Node{Name: "x" + string(rune('a'+i%26)), Why: time.Unix(int64(i), 0).String()})
	}
	s.ok(s.Publish(s.v))
	if q := s.queues[0]; q.Away != 2*maxAwayReasons || len(q.AwayNodes) != maxAwayReasons {
		t.Errorf("%d away, %d reasons", q.Away, len(q.AwayNodes))
	}
}

// A job that is due keeps its planned start. Otherwise the planned start would change every second until the batch system starts the job.
func TestDueStartKeepsItsSecond(t *testing.T) {
	for _, c := range []struct {
		name              string
		before, now, want core.Time
		limit             core.Time
	}{
		{"it is due", 5, 6, 5, 100},
		{"it is not due yet", 7, 8, 8, 100},
		{"it was not due", 6, 5, 5, 100},
		{"it is due earlier", 5, 4, 4, 100},
		{"it is not due any more", 5, 700, 700, 100},
		{"it has no place any more", 5, 0, 0, 100},
		{"without a limit", 5, 6, 5, core.Forever},
	} {
		s := newFixture(t)
		show := func(start core.Time) view.Entry {
			s.v.Queue, s.v.Planned.Jobs, s.v.Snapshot.Jobs = nil, nil, nil
			j := pending(5)
			j.Limit = c.limit
			if start > 0 {
				s.queueSeen(s.seen(j), t0+start, t0+start+100)
			} else {
				s.queueSeen(s.seen(j), 0, 0)
			}
			all, _ := s.queued()
			return all[5]
		}
		show(c.before)
		s.later(1)
		e := show(c.now)
		want, end := t0+c.want, t0+c.want+100
		if c.want == 0 {
			want, end = 0, 0
		}
		if c.limit == core.Forever {
			end = 0
		}
		if e.Start != want || e.End != end || e.Free != end {
			t.Errorf("%s: from %d to %d and %d, want %d to %d", c.name, e.Start-t0, e.End-t0, e.Free-t0, want-t0, end-t0)
		}
	}
}
