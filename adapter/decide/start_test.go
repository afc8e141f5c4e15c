package decide

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/sched"
)

// failing is a batch system whose answer to one verb is lost, and a journal that keeps nothing.
type failing struct {
	adapter.BatchSystem
	actions.Journal
	verb string
}

func (f failing) call(verb string) error {
	if verb == f.verb {
		return context.DeadlineExceeded
	}
	return nil
}

func (f failing) Reserve(context.Context, adapter.Reservation) error      { return f.call("reserve") }
func (f failing) Shape(context.Context, adapter.Key, adapter.Shape) error { return f.call("shape") }
func (f failing) Attach(context.Context, adapter.Key, string) error       { return f.call("attach") }
func (f failing) Release(context.Context, adapter.Key) error              { return f.call("release") }
func (failing) Begin(journal.Intent) (int64, error)                       { return 1, nil }
func (failing) Finish(int64, time.Time, error) error                      { return nil }

// Whoever does not know whether a job begins gives its nodes to nobody else.
func TestAStartOfWhichNobodyKnowsWhetherItArrivedKeepsItsNodes(t *testing.T) {
	for verb, want := range map[string]managed.Phase{
		"reserve": managed.Waiting, "shape": managed.Waiting, "attach": managed.Starting, "release": managed.Starting,
	} {
		r := waits()
		d := about(r, pool(*r.Seen), nil)
		r.Apply(d.Changes)
		f := failing{verb: verb}
		acts := &actions.Acts{System: f, Journal: f, Meter: actions.Deaf{}, Clock: adapter.Wall{}, Log: hclog.NewNullLogger(), Deadline: time.Minute}
		var got actions.Result
		err := acts.Do(t.Context(), d.Do.Calls[0], &got)
		if err == nil {
			err = acts.Do(t.Context(), d.Do.Calls[1], &got)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%s: %v", verb, err)
		}
		if r.Apply(Failed(r, d.Do, got, err, nil, time.Unix(now, 0)).Changes); r.Phase != want || (want == managed.Starting) != (len(r.Nodes) == 2) {
			t.Errorf("after the answer to %s was lost it is %s on %v, want %s", verb, r.Phase, r.Nodes, want)
		}
	}
}

// With the sidecar dead a reservation whose job is gone holds nodes for a minute at most.
func TestTheReservationOfAStartGoesWithoutItsJob(t *testing.T) {
	r := waits()
	d := about(r, pool(*r.Seen), nil)
	if d.Reserves == nil || d.Reserves.Idle < 1 || d.Reserves.Idle > 60 {
		t.Errorf("a start reserves %+v", d.Reserves)
	}
}

// A job that its owner got out of its hold could start at any second: it is held before anything else is decided.
func TestAWaitingJobThatIsNotHeldIsHeldFirst(t *testing.T) {
	r := waits()
	r.Seen.Held = false
	if d := about(r, pool(*r.Seen), nil); d.Do == nil || d.Do.Verb != "adopt" || d.Changes != nil {
		t.Errorf("what is decided is %+v", d)
	}
}

// A batch system that keeps reservations of others free starts no job whose limit reaches into one. The profile of 300 s has 34 s to
// begin and to be late, and the limit is whole minutes.
func TestAJobBeginsBeforeAReservationOfOthersOnlyWithItsWholeLimit(t *testing.T) {
	for _, c := range []struct {
		ahead core.Time // seconds until the reservation begins
		want  string
	}{
		{100, "waits: reservation repair, which begins at"}, {393, "waits: reservation repair, which begins at"}, {394, "start, starting"}, {1000, "start, starting"},
	} {
		r, s := waits(), pool(*waits().Seen)
		s.Reservations = []adapter.Reservation{{Name: "repair", User: "root", Start: now + c.ahead, End: now + c.ahead + 600}}
		for _, n := range s.Nodes {
			s.Reservations[0].Nodes = append(s.Reservations[0].Nodes, n.Name)
		}
		d := about(r, s, nil)
		if got := text(d); !strings.HasPrefix(got, c.want) {
			t.Errorf("%d s before it: %s, want %s", c.ahead, got, c.want)
		}
		if d.Reserves != nil && d.Reserves.End > now+c.ahead {
			t.Errorf("%d s before it, its own reservation ends at %d", c.ahead, d.Reserves.End-now)
		}
	}
}

// Slurm gives a job no node into whose maintenance its time limit reaches, though the job gives the node back before.
func TestNodesUnderMaintenanceBeforeTheEndOfTheLimitAreNotTaken(t *testing.T) {
	ahead := func(strict bool, from core.Time) (all []adapter.Reservation) {
		for _, n := range []string{"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"} {
			if n != "n1" { // on which it is until its end
				all = append(all, adapter.Reservation{Name: "repair", User: "root", Nodes: []string{n}, Start: now + from, End: now + from + 600, Strict: strict})
			}
		}
		return all
	}
	limited := func(r *managed.Job) *managed.Job {
		r.Asks, r.Seen.Started, r.Seen.Limit = &managed.Question{}, now-100, 400
		return r
	}
	for _, c := range []struct {
		name string
		job  *managed.Job
		all  []adapter.Reservation
		want string
	}{
		{"it grows on them for a step", limited(runs(0, now)), ahead(true, 220), "waits: reservation repair"},
		{"… and others than maintenance are ahead", limited(runs(0, now)), ahead(false, 220), "resize"},
		{"… and its limit ends before", limited(runs(0, now)), ahead(true, 301), "resize"},
	} {
		s := pool(*c.job.Seen)
		s.Reservations = c.all
		if got := text(about(c.job, s, nil)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	r := waits()
	r.Choices = []core.EP{{{Duration: 100, Nodes: 2}, {Duration: 400, Nodes: 1}}}
	s := pool(*r.Seen)
	s.Reservations = ahead(true, 300) // the second node is given back in time
	if got := text(about(r, s, nil)); !strings.HasPrefix(got, "waits: reservation repair") {
		t.Errorf("a job that gives a node back before maintenance: %s", got)
	}
}

func TestTheLimitOfAJobEndsBeforeAReservationOfOthers(t *testing.T) {
	for ahead, want := range map[core.Time]core.Time{394: 360, 463: 420, 500: 450, 10_000: 450} { // of a profile of 300 s, which may be 150 s late
		s := pool(*waits().Seen)
		s.Reservations = []adapter.Reservation{{Name: "repair", User: "root", Nodes: []string{"n1"}, Start: now + ahead, End: now + ahead + 600}}
		v := plan.Make(plan.Input{Now: now, Instant: time.Unix(now, 0), Snapshot: s, OutOfService: func(adapter.Node) bool { return false }, Settings: managed.Settings{Policy: sched.Repeated{}, StartLead: 4, Overrun: managed.Overrun{Least: 30, Share: 0.5}}})
		c := &managed.Course{Start: now, EP: core.EP{{Duration: 300, Nodes: 1}}, Layers: []managed.Layer{{From: now, To: now + 300, Nodes: []string{"n1"}}}}
		if got := (Situation{World: v}).limit(c); got != want {
			t.Errorf("%d s before a reservation its limit is %d s, want %d", ahead, got, want)
		}
	}
}
