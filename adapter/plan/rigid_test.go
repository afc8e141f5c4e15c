package plan

import (
	"fmt"
	"testing"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/sched"
)

// gated returns eight nodes, of which an ordinary job holds six until second 1100, and waiting
// rigid jobs of the given sizes. A negative size stands for a job that is already admitted.
func gated(sizes ...int) Input {
	s := newSituation(8, nil)
	s.Settings = managed.Settings{Policy: sched.Repeated{}, StartLead: 4, Guard: 65, Round: 45}
	s.runsOrdinary(6, 100)
	for _, n := range sizes {
		s.job(adapter.Job{Key: adapter.Key{Submitted: 900}, State: adapter.Pending, Rigid: true, Held: n > 0, Priority: 1, Want: max(n, -n), Limit: 60})
	}
	for i := range s.Snapshot.Jobs {
		if j := &s.Snapshot.Jobs[i]; j.Rigid {
			request := adapter.RequestOfRigid(j)
			choices, err := adapter.ParseRequest(request)
			if err != nil {
				panic(err)
			}
			s.Jobs = append(s.Jobs, managed.New(j, request, choices))
		}
	}
	return s.Input
}

func TestRigidJobsAreAdmittedWhenTheyStartAndAFewAhead(t *testing.T) {
	for _, c := range []struct {
		name   string
		sizes  []int
		change func(Input)
		want   string // for each job, whether it is admitted
	}{
		{"the job that fits, and the next one", []int{2, 4}, nil, "[true true]"},
		{"the next one however large it is, and no more", []int{8, 8}, nil, "[true false]"},
		{"as many of the next ones as a quarter of the machine holds", []int{8, 1, 1, 1}, nil, "[true true true false]"},
		{"an admitted job counts", []int{-8, 8}, nil, "[true false]"},
		{"no job behind one that is not rigid", []int{8, 8}, func(in Input) {
			in.Jobs[0].Request, in.Jobs[0].Choices = "ep=8x1m", []core.EP{{{Nodes: 8, Duration: 60}}}
			in.Jobs[0].Seen.Rigid = false
		}, "[false false]"},
		{"no job that its owner or an operator holds", []int{1, 1}, func(in Input) { in.Jobs[0].Seen.HeldByUser, in.Jobs[1].Seen.Priority = true, 0 }, "[false false]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := gated(c.sizes...)
			if c.change != nil {
				c.change(in)
			}
			v := makePlan(in)
			var lets []bool
			for _, r := range in.Jobs {
				lets = append(lets, v.Admits(r))
			}
			if got := fmt.Sprint(lets); got != c.want {
				t.Errorf("admitted: %s, want %s", got, c.want)
			}
			if wants, _ := v.Wanted(); c.change == nil && len(wants) > 0 {
				t.Errorf("reservations for rigid jobs: %v", wants)
			}
		})
	}
}

func TestJobsPassWhileNoneWaitsAndNodesAreFree(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		want  bool
	}{
		{nil, true}, {[]int{1}, true}, {[]int{-1}, true}, {[]int{2}, false}, {[]int{1, 1}, false}, {[]int{4}, false},
	} {
		if got := makePlan(gated(c.sizes...)).StartsAtOnce(); got != c.want {
			t.Errorf("with two free nodes and %v that wait they pass: %v", c.sizes, got)
		}
	}
}
