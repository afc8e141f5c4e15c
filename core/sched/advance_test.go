package sched_test

import (
	"testing"

	"accordion/core"
	"accordion/core/sched"
)

func TestMayAdvanceOnlyIfNoJobIsDelayed(t *testing.T) {
	m := core.Machine{Nodes: 10}
	early := core.Allocation{Job: 1, Start: 0, EP: core.EP{{Duration: 100, Nodes: 2}, {Duration: 50, Nodes: 6}}} // as promised
	better := core.Allocation{Job: 1, Start: 0, EP: core.EP{{Duration: 50, Nodes: 6}}}                           // the next step begins now
	for _, c := range []struct {
		name    string
		others  []core.Allocation
		waiting []core.Job
		want    bool
	}{
		{"nobody else", nil, nil, true},
		{"another runs beside it", []core.Allocation{{Job: 2, EP: core.EP{{Duration: 80, Nodes: 4}}}}, nil, true},
		{"another holds what it needs", []core.Allocation{{Job: 2, EP: core.EP{{Duration: 80, Nodes: 5}}}}, nil, false},
		{"another will grow into it", []core.Allocation{{Job: 2, EP: core.EP{{Duration: 40, Nodes: 4}, {Duration: 40, Nodes: 5}}}}, nil, false},
		{"a waiting job would start now", nil, []core.Job{{ID: 3, Choices: []core.EP{{{Duration: 30, Nodes: 8}}}}}, false},
		{"a waiting job still starts now", nil, []core.Job{{ID: 3, Choices: []core.EP{{{Duration: 30, Nodes: 4}}}}}, true},
		{"a waiting job gains", nil, []core.Job{{ID: 3, Choices: []core.EP{{{Duration: 200, Nodes: 9}}}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			running := append([]core.Allocation{early}, c.others...)
			state := sched.Repeated{}.New(m)
			for _, a := range running {
				state.Running(0, a)
			}
			for _, j := range c.waiting {
				state.Submit(0, j)
			}
			if got := sched.MayAdvance(sched.Repeated{}, 0, m, running, 0, better, c.waiting, state.Plan(0)); got != c.want {
				t.Errorf("Sooner is %v, want %v", got, c.want)
			}
		})
	}
}
