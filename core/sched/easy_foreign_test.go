package sched_test

import (
	"testing"

	"accordion/core"
	"accordion/core/sched"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// Under any parameters, jobs behind foreign jobs may start or have the reservation, but they delay none of the foreign jobs.
// Foreign jobs have the places that they would have without the other jobs.
func TestNoJobDelaysForeignJobsAheadOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStory(t, guarded)
		now := core.Time(100)
		state, alone := s.policy.New(core.Machine{Nodes: s.nodes}), sched.Repeated{}.New(core.Machine{Nodes: s.nodes})
		for id := range core.JobID(rapid.IntRange(0, 2).Draw(t, "run")) {
			a := core.Allocation{Job: 100 + id, Start: now - 2, EP: drawEasyEP(t, 2, max(1, s.nodes/2))}
			state.Running(now, a)
			alone.Running(now, a)
		}
		for _, j := range s.arrives {
			if j.Foreign = j.Guard > 0; j.Foreign {
				state.Submit(now, j)
				alone.Submit(now, j)
			}
		}
		for _, j := range s.arrives {
			if j.Guard == 0 {
				state.Submit(now, j)
			}
		}
		got := state.Plan(now)
		got.Jobs = got.Jobs[:min(len(got.Jobs), len(alone.Plan(now).Jobs))] // the foreign jobs are the first in the queue
		if d := gocmp.Diff(alone.Plan(now), got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%+v on %d nodes: (-alone +before others)\n%s", s.policy, s.nodes, d)
		}
	})
}

func TestWithoutPatienceTheFirstOfTheQueueHasTheReservation(t *testing.T) {
	state := full(3)
	state.Submit(10, core.Job{ID: 1, Submit: 9, Choices: []core.EP{{{Duration: 5, Nodes: 3}}}}) // the site ranks it before an older job
	state.Submit(10, core.Job{ID: 2, Submit: 1, Choices: []core.EP{{{Duration: 5, Nodes: 3}}}})
	if jobs := state.Plan(10).Jobs; len(jobs) != 1 || jobs[0].Job != 1 || jobs[0].Start != 20 {
		t.Errorf("the reservations are %+v", jobs)
	}
}
