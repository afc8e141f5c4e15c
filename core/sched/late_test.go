package sched_test

import (
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/sched"
)

func TestAJobThatWouldStartTooLateHasNoReservation(t *testing.T) {
	rigid := func(id core.JobID, nodes int, seconds core.Time) core.Job {
		return core.Job{ID: id, Choices: []core.EP{{{Duration: seconds, Nodes: nodes}}}}
	}
	jobs := []core.Job{rigid(1, 10, 100), rigid(2, 10, 50), rigid(3, 10, 50), rigid(4, 4, 80)}
	for name, test := range map[string]struct {
		latest map[core.JobID]core.Time
		late   []core.JobID
		starts map[core.JobID]core.Time
	}{
		"no deadlines":             {nil, nil, map[core.JobID]core.Time{1: 60, 2: 160, 3: 210, 4: 260}},
		"in time, to the second":   {map[core.JobID]core.Time{2: 160}, nil, map[core.JobID]core.Time{1: 60, 2: 160, 3: 210, 4: 260}},
		"too late by a second":     {map[core.JobID]core.Time{2: 159}, []core.JobID{2}, map[core.JobID]core.Time{1: 60, 3: 160, 4: 210}},
		"one makes room for one":   {map[core.JobID]core.Time{2: 159, 3: 160}, []core.JobID{2}, map[core.JobID]core.Time{1: 60, 3: 160, 4: 210}},
		"all but one are too late": {map[core.JobID]core.Time{1: 59, 2: 59, 3: 59}, []core.JobID{1, 2, 3}, map[core.JobID]core.Time{4: 0}},
		"of another job":           {map[core.JobID]core.Time{9: 1}, nil, map[core.JobID]core.Time{1: 60, 2: 160, 3: 210, 4: 260}},
	} {
		s := sched.Repeated{}.New(core.Machine{Nodes: 10})
		s.Running(0, core.Allocation{Job: 100, EP: core.EP{{Duration: 60, Nodes: 6}}})
		for _, j := range jobs {
			s.Submit(0, j)
		}
		plan, late := sched.PlanWithoutLate(s, 0, test.latest)
		slices.Sort(late)
		if !slices.Equal(late, test.late) {
			t.Errorf("%s: too late are %v, want %v", name, late, test.late)
		}
		for _, p := range plan.Jobs {
			if want, there := test.starts[p.Job]; !there || p.Start != want {
				t.Errorf("%s: job %d starts at %d, want %d", name, p.Job, p.Start, want)
			}
		}
		if len(plan.Jobs) != len(test.starts) {
			t.Errorf("%s: %d jobs have a place, want %d", name, len(plan.Jobs), len(test.starts))
		}
	}
}

// counted counts the calls of Plan.
type counted struct {
	sched.State
	plans int
}

func (c *counted) Plan(now core.Time) core.Plan { c.plans++; return c.State.Plan(now) }

func TestManyJobsThatAreTooLateCostFewPlans(t *testing.T) {
	s := &counted{State: sched.Repeated{}.New(core.Machine{Nodes: 1})}
	latest := map[core.JobID]core.Time{}
	s.Running(0, core.Allocation{Job: 5000, EP: core.EP{{Duration: 60, Nodes: 1}}})
	for id := core.JobID(1); id <= 1000; id++ {
		s.Submit(0, core.Job{ID: id, Choices: []core.EP{{{Duration: 60, Nodes: 1}}}})
		latest[id] = 30
	}
	plan, late := sched.PlanWithoutLate(s, 0, latest)
	if len(plan.Jobs) != 0 || len(late) != 1000 || s.plans > 11 {
		t.Errorf("%d jobs have a place, %d are too late, after %d plans", len(plan.Jobs), len(late), s.plans)
	}
}
