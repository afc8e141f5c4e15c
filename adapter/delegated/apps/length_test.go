package apps

import (
	"testing"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
	"accordion/shim/wire/launcher"
)

// A cluster plans a part with the whole time limit of its batch job, which is longer than the walltime. If the machine used only the
// walltime, it could place an application into a gap before a local reservation that is too short for the batch job. The cluster would
// refuse every such try.
func TestAnApplicationIsPlacedAsLongAsItsJobsMayLast(t *testing.T) {
	const walltime = 60
	s := Settings{Timer: 1, Answer: 30, Grace: 60, BringUp: 30, Guard: 60, Applications: 8}
	limit := walltime + s.BringUp + s.Guard
	for name, c := range map[string]struct {
		hole     core.Time
		embedded bool
		tries    int
	}{
		"walltime and bring-up":           {prepareWithin + walltime + s.BringUp, false, 0},
		"not quite the limit":             {prepareWithin + limit - 1, false, 0},
		"the limit":                       {prepareWithin + limit, false, 1},
		"embedded, not the walltime":      {walltime - 1, true, 0},
		"embedded, which needs no longer": {walltime, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := New(1000, []Cluster{{Name: "a", Speed: 1, Embedded: c.embedded}}, nil, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			state := sched.Repeated{Limit: ep.Limit(1)}.New(core.Machine{Nodes: 4})
			job := core.Job{ID: 9, Submit: 500, Begin: 1002 + c.hole, Choices: []core.EP{{{Duration: 1000, Nodes: 4}}}}
			shown := &mailbox.ClusterState{Read: 1000, Hosts: 4, Local: sched.Local{State: state.(sched.Viewer), Waiting: []sched.Ranked{{Job: job, Rank: 500}}}}
			b := &embeddedMachine{t: t, m: m, now: 1000, said: map[uint64][]launcher.Message{}, closed: map[uint64]bool{}}
			b.says(1, "ann", &launcher.Hello{Version: 2, Speaks: []int{2}})
			subscribe := &launcher.Subscribe{}
			if !c.embedded {
				key := adapter.Key{ID: 5, Submitted: 990}
				shown.Jobs = []mailbox.Job{{Key: key, ID: 5, Application: 1, User: "ann", State: adapter.Pending, Submitted: 990}}
				subscribe.Jobs = []launcher.Part{{Cluster: "a", Job: 5}}
			}
			b.m.Step(1000, StateShown{0, shown})
			b.carry()
			b.says(1, "ann", subscribe)
			b.says(1, "ann", &launcher.Request{View: 1, Tag: 0, Hosts: []launcher.Hosts{{C: 0, N: 4}}, Walltime: walltime})
			b.now += 2 // the next pass
			b.carry()
			a := b.m.byID[1]
			if a == nil || a.Phase != Waiting && a.Phase != Preparing {
				t.Fatalf("%+v, %v", a, b.said[1])
			}
			if a.Try != c.tries {
				t.Errorf("%d tries, want %d; it would start at %d", a.Try, c.tries, m.estimate(a))
			}
			if m.Effects(); a.Try > 0 && m.clusters[0].orders[0].Limit > c.hole {
				t.Errorf("its job may last %d s in a hole of %d s", m.clusters[0].orders[0].Limit, c.hole)
			}
		})
	}
}

// While the user directory does not answer, another user's job that has the number of a part's job must not be taken for that job.
func TestASubmissionOfAnotherUsersJobIsNotThatOfThePart(t *testing.T) {
	m, err := New(1000, []Cluster{{Name: "a", Speed: 1}}, nil, Settings{Timer: 1, Answer: 30, Grace: 60, BringUp: 30, Guard: 60, Applications: 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &embeddedMachine{t: t, m: m, now: 1000, said: map[uint64][]launcher.Message{}, closed: map[uint64]bool{}}
	shows := func(user string, submitted core.Time) {
		key := adapter.Key{ID: 5, Submitted: submitted}
		job := mailbox.Job{Key: key, ID: 5, Application: 1, User: user, State: adapter.Pending, Submitted: submitted}
		b.m.Step(b.now, StateShown{0, &mailbox.ClusterState{Read: b.now, Hosts: 4, Jobs: []mailbox.Job{job}}})
		b.now++
	}
	shows("ann", 990)
	b.says(1, "ann", &launcher.Hello{Version: 2, Speaks: []int{2}})
	b.says(1, "ann", &launcher.Subscribe{Jobs: []launcher.Part{{Cluster: "a", Job: 5}}})
	shows("ann", 990)
	shows("1002", 995)
	if got := m.byID[1].Parts[0].Since; got != 990 {
		t.Errorf("after user 1002's job of the same number was read, the part was submitted at %d, want 990", got)
	}
	shows("ann", 998)
	if got := m.byID[1].Parts[0].Since; got != 998 {
		t.Errorf("after it was submitted again at 998, the part was submitted at %d", got)
	}
}
