package sched_test

import (
	"math/rand/v2"
	"testing"

	"accordion/core"
	"accordion/core/sched"
)

// BenchmarkRefit makes new promises for 500 running evolving jobs after nodes were lost.
func BenchmarkRefit(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	broken := make([]sched.Remainder, 500)
	for i := range broken {
		broken[i] = sched.Remainder{Job: core.JobID(i), Nodes: 1 + r.IntN(2), Left: r.Int64N(3600)}
		for range 1 + r.IntN(5) {
			broken[i].Next = append(broken[i].Next, core.Step{Duration: 60 + r.Int64N(3600), Nodes: 1 + r.IntN(16)})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		sched.Refit(0, core.Machine{Nodes: 990}, nil, broken)
	}
}
