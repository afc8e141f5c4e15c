package sched_test

import (
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"

	"github.com/google/go-cmp/cmp"
)

func TestWhatASweepMovesIsCompacted(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		start     core.Time
		want      core.EP
	}{
		{"noX", 10, epOf("3x2 2x2 4x3")},
		{"infX", 1, epOf("3x2 2x11 4x3")},
		{"infX+c", 10, epOf("3x2 2x2 4x3")},
		{"infX+opt", 10, epOf("3x2 2x2 4x3")},
	} {
		t.Run(c.algorithm, func(t *testing.T) {
			a, err := ep.ParseAlgorithm(c.algorithm)
			if err != nil {
				t.Fatal(err)
			}
			s := sched.Conservative{Algorithm: a}.New(core.Machine{Nodes: 4})
			s.Running(0, core.Allocation{Job: 1, EP: epOf("1x14")})
			s.Running(0, core.Allocation{Job: 2, EP: epOf("3x30")})
			s.Submit(0, core.Job{ID: 3, Choices: []core.EP{epOf("3x2 2x2 4x3")}})
			if p := s.Plan(0).Jobs; len(p) != 1 || p[0].Start != 30 {
				t.Fatalf("beside both it is planned %v", p)
			}
			s.End(1, 2)
			p := s.Plan(1).Jobs
			if len(p) != 1 || p[0].Start != c.start || !cmp.Equal(p[0].EP, c.want) {
				t.Errorf("when one is over it is planned %v, want %v at %d", p, c.want, c.start)
			}
		})
	}
}
