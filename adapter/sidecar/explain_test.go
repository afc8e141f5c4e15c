package sidecar_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/status"
	"accordion/core"
)

// explained returns what `accordion explain` prints for a job now.
func (w *world) explained(key adapter.Key) string {
	w.t.Helper()
	x, err := status.Explain(w.journal, int64(key.ID))
	if err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	if err := x.Write(&b, time.Now(), time.UTC); err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

// says fails the test unless the explanation has all of the texts.
func (w *world) says(key adapter.Key, texts ...string) {
	w.t.Helper()
	got := w.explained(key)
	for _, text := range texts {
		if !strings.Contains(got, text) {
			w.t.Errorf("explain does not say %q:\n%s", text, got)
		}
	}
}

// queued returns the queue as a text, such as "1 ordinary running 8@2, 3 ordinary waiting 12@632".
// It has number, kind, phase, nodes and start of each job. Starts are in seconds since the world
// began.
func (w *world) queued() string {
	w.t.Helper()
	r, err := status.ReadQueue(w.journal)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, e := range r.Jobs {
		start := "?"
		if e.Start > 0 {
			start = fmt.Sprint(e.Start - w.begin.Unix())
		}
		all = append(all, fmt.Sprintf("%d %s %s %d@%s", e.ID, e.Kind, e.Phase, e.Size, start))
	}
	return strings.Join(all, ", ")
}

// `after` waits until half a second after the given second. What the sidecar wrote in that second
// is then in the journal, and no call is under way.
func (w *world) after(second int) {
	w.at(second)
	time.Sleep(500 * time.Millisecond)
}

func TestEveryJobIsInTheQueueWithItsPlannedStartAndSize(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.submit(embedded.JobSpec{Nodes: 12, Limit: 600, Runs: 600, User: "bob"})
		w.after(10)
		wide := w.submit(embedded.JobSpec{Nodes: 10, Limit: 300, Runs: 300, User: "bob"})
		job := w.evolving("5x300s,10x200s,2x100s")
		w.submit(embedded.JobSpec{Nodes: 1, Hold: true, User: "bob"})
		w.after(20)
		// The first job ends at 602, and may hold its nodes for another 30 s. The second job may
		// begin 45 s late, and may also hold its nodes for another 30 s, until 1007. At that second
		// the evolving job needs ten nodes.
		if got, want := w.queued(), "1 ordinary running 12@2, 2 ordinary waiting 10@632, 3 evolving waiting 5@707, 4 ordinary held 1@?"; got != want {
			t.Errorf("the queue is\n%s, want\n%s", got, want)
		}
		w.says(wide, "Job 2 of bob is an ordinary job of 10 nodes.", "It can start when job 1 of bob gives back its 12 nodes, at", "Nobody: it is the first in the queue.",
			"This is an estimate")
		w.says(job, "Job 3 of ada is evolving: 5 nodes for 5m, then 10 for 3m20s, then 2 for 1m40s.", "2nd in the queue", "job 2 of bob (ordinary): 10 nodes, planned from")
	})
}

func TestExplainSaysThatAStartMovedAndWhy(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		long := w.submit(embedded.JobSpec{Nodes: 12, Limit: 3600, Runs: 3600, User: "bob"})
		w.submit(embedded.JobSpec{Nodes: 2, Limit: 7200, Runs: 7200, User: "bob"})
		w.after(10)
		job := w.evolving("10x300s,12x200s")
		w.after(15)
		w.says(job, "It can start when job 1 of bob gives back its 12 nodes", "planned to start at")
		away := []string{"n1", "n15", "n16"} // 13 nodes are left, of which a job holds 2 for two hours
		for _, n := range away {
			if err := w.DrainNode(n); err != nil {
				t.Fatal(err)
			}
		}
		w.after(200)
		w.says(job, "start put off by", ": 3 nodes went out of service", "3 are down or drained", "At first its start was planned for", "later.")
		for _, n := range away {
			if err := w.ReviveNode(n); err != nil {
				t.Fatal(err)
			}
		}
		w.after(220)
		w.says(job, "start brought forward by", ": 3 nodes came back into service")
		if err := w.Cancel(long); err != nil {
			t.Fatal(err)
		}
		w.after(240)
		w.says(job, ": job 1 of bob ended 56m", "starting: on 10 nodes")
		if got, want := w.events(job), "accepted planned replanned replanned replanned starting started"; got != want {
			t.Errorf("events are %q, want %q", got, want)
		}
	})
}

func TestExplainNamesJobsThatCameBeforeAndJobsThatLeft(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.submit(embedded.JobSpec{Nodes: 16, Limit: 600, Runs: 600, User: "bob"})
		older := w.submit(embedded.JobSpec{Nodes: 16, Limit: 600, Runs: 600, User: "carol", Hold: true})
		w.after(10)
		job := w.evolving("10x300s,12x200s")
		w.after(20)
		if err := w.Release(t.Context(), older); err != nil { // this job was submitted first, and is first in the queue again
			t.Fatal(err)
		}
		w.after(40)
		w.says(job, "start put off by", ": job 2 of carol came before it in the queue")
		if err := w.Cancel(older); err != nil {
			t.Fatal(err)
		}
		w.after(60)
		w.says(job, "start brought forward by", ": job 2 of carol left the queue")
	})
}

// More starts move in the same cycle than are reported in one cycle. The remaining moves are
// reported in later cycles with the same reason.
func TestExplainHasTheReasonForEachOfManyMovedStarts(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		long := w.submit(embedded.JobSpec{Nodes: 16, Limit: 7200, Runs: 7200, User: "bob"})
		w.after(10)
		var jobs []adapter.Key
		for range 15 {
			jobs = append(jobs, w.evolving("1x600s,16x600s"))
		}
		w.after(30)
		if err := w.Cancel(long); err != nil {
			t.Fatal(err)
		}
		w.after(60)
		for _, job := range jobs[1:] {
			w.says(job, "planned to start at", "start brought forward by", ": job 1 of bob ended 1h")
		}
	})
}

// Ten jobs end early, one after the other. Each end moves the start by two minutes, while the wait
// is 100 minutes at first. Not every such move is reported.
func TestSmallMovesOfAPlannedStartAreNotReported(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		for range 10 {
			w.submit(embedded.JobSpec{Nodes: 16, Limit: 600, Runs: 500, User: "bob"})
		}
		job := w.evolving("10x300s,12x200s")
		w.after(5100)
		if got := strings.Count(w.events(job), "replanned"); got < 2 || got > 7 || !strings.Contains(w.events(job), "started") {
			t.Errorf("its start was reported %d times:\n%s", got, w.explained(job))
		}
	})
	inWorld(t, slurmish, func(w *world) {
		w.submit(embedded.JobSpec{Nodes: 16, Limit: 600, Runs: 580, User: "bob"})
		w.after(3)
		job := w.evolving("10x300s,12x200s")
		w.after(620)
		if got, want := w.events(job), "accepted planned starting started"; got != want {
			t.Errorf("50 seconds earlier than planned: events are %q, want %q", got, want)
		}
	})
}

// counter is a Meter that keeps what it counts.
type counter struct {
	mu      sync.Mutex
	calls   map[string]int
	late    []time.Duration
	causes  map[string]int
	spared  int64
	limited []string
	unused  core.Time
	over    int
	phases  map[string]bool
	cycles  int
	queue   int
}

func newCounter() *counter {
	return &counter{calls: map[string]int{}, causes: map[string]int{}, phases: map[string]bool{}}
}

func (c *counter) with(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *counter) Cycle(_ time.Duration, read time.Time, phases map[string]int, waiting int) {
	c.with(func() {
		c.cycles++
		c.queue = max(c.queue, waiting)
		for phase := range phases {
			c.phases[phase] = true
		}
		if read.IsZero() {
			c.phases["never read"] = true
		}
	})
}
func (c *counter) Call(verb string, _ time.Duration, err error) {
	c.with(func() {
		c.calls[verb]++
		if err != nil {
			c.calls[verb+" failed"]++
		}
	})
}
func (c *counter) Grew(late time.Duration, _ string) {
	c.with(func() { c.late = append(c.late, late) })
}
func (c *counter) Broke(cause string) { c.with(func() { c.causes[cause]++ }) }
func (c *counter) Spared(n int64)     { c.with(func() { c.spared += n }) }
func (c *counter) Unused(n core.Time, over int) {
	c.with(func() { c.unused, c.over = c.unused+n, over })
}
func (c *counter) Limited(limit string) {
	c.with(func() { c.limited = append(c.limited, limit) })
}

func (w *world) counts() *counter {
	w.t.Helper()
	w.halt()
	c := newCounter()
	w.meter = c
	w.serve()
	return c
}

func TestWhatTheSidecarDoesIsCounted(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		c := w.counts()
		job := w.evolving("2x20s,5x20s,3x20s")
		w.quiet(120)
		c.with(func() {
			for _, verb := range []string{"observe", "reserve", "shape", "attach", "release", "detach", "expand", "merge", "shrink", "unreserve"} {
				if c.calls[verb] == 0 || c.calls[verb+" failed"] > 0 {
					t.Errorf("%s was counted %d times, its failures %d", verb, c.calls[verb], c.calls[verb+" failed"])
				}
			}
			if len(c.late) != 1 || c.late[0] < 0 || c.late[0] > 2*time.Second {
				t.Errorf("growths were late by %v, want one by less than 2 s", c.late)
			}
			// The job had 3 nodes fewer than its peak for 20 s, and then 2 fewer for 20 s. That is
			// 100 node-seconds. About a second at the start is added.
			if c.spared < 95 || c.spared > 120 {
				t.Errorf("%d node-seconds were spared, want about 100:\n%s", c.spared, w.history())
			}
			if len(c.causes) > 0 || c.cycles == 0 || c.queue != 1 || c.phases["never read"] {
				t.Errorf("broken promises %v, cycles %d, queue %d", c.causes, c.cycles, c.queue)
			}
			if !c.phases["starting"] || !c.phases["running"] {
				t.Errorf("phases %v", c.phases)
			}
		})
		w.says(job, "Job 1 is not in the queue any more.", "ended: after step 3 of 3")
	})
}

func TestABrokenPromiseIsReportedWithItsCauseAndCountedOnce(t *testing.T) {
	for _, c := range []struct {
		cause string
		story func(w *world) adapter.Key
	}{
		{"late application", func(w *world) adapter.Key { return w.evolving("2x60s,5x200s", 80*time.Second, 199*time.Second) }},
		{"late shrinker", func(w *world) adapter.Key {
			w.evolving("10x30s,2x200s", 50*time.Second, 199*time.Second)
			w.at(1)
			return w.evolving("4x40s,14x60s")
		}},
		{"ordinary overrun", func(w *world) adapter.Key {
			w.halt()
			w.settings.Guard = 5 // less than the 30 s after which the batch system ends jobs past their limit
			w.serve()
			w.submit(embedded.JobSpec{Nodes: 10, Limit: 32, Runs: 300, User: "bob"})
			w.after(1)
			return w.evolving("4x38s,14x60s")
		}},
		{"lost node", func(w *world) adapter.Key {
			w.submit(embedded.JobSpec{Nodes: 2, Limit: 300, Runs: 300, User: "bob"})
			job := w.evolving("2x100s,14x60s")
			w.at(50)
			if err := w.DrainNode("n16"); err != nil {
				w.t.Fatal(err)
			}
			return job
		}},
	} {
		t.Run(c.cause, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				count := w.counts()
				job := c.story(w)
				w.after(150)
				if got := strings.Count(w.events(job), "promise broken"); got < 1 || got > 4 {
					t.Errorf("told %d times:\n%s", got, w.journalled())
				}
				if !strings.Contains(w.journalled(), "cause:"+c.cause) {
					t.Errorf("the cause is not %s:\n%s", c.cause, w.journalled())
				}
				count.with(func() {
					if count.causes[c.cause] < 1 || count.causes[c.cause] > 2 {
						t.Errorf("counted: %v", count.causes)
					}
				})
			})
		})
	}
}

// Slurm needs up to four seconds for a growth that consists of four changes of size. Such a delay
// breaks no promise.
func TestAGrowthThatTakesFourSecondsBreaksNoPromise(t *testing.T) {
	for delay, broken := range map[time.Duration]int{1900 * time.Millisecond: 0, 3900 * time.Millisecond: 0, 6 * time.Second: 1} {
		o := slurmish
		o.Faults = func(c embedded.Call) embedded.Fault {
			if c.Verb == "Merge" {
				return embedded.Fault{Delay: delay}
			}
			return embedded.Fault{}
		}
		inWorld(t, o, func(w *world) {
			c := w.counts()
			job := w.evolving("2x20s,5x20s")
			w.quiet(120)
			if got := strings.Count(w.events(job), "promise broken"); got != broken {
				t.Errorf("a growth that took %v: told %d times that a promise is broken, want %d:\n%s", delay, got, broken, w.journalled())
			}
			c.with(func() {
				if c.causes["batch system"] != broken {
					t.Errorf("a growth that took %v: counted %v", delay, c.causes)
				}
			})
		})
	}
}
