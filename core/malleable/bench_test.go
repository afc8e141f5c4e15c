package malleable

import (
	"fmt"
	"testing"

	"accordion/core"
	"accordion/core/sched"
)

// BenchmarkPass measures one pass over 10,000 waiting jobs while 2,000 malleable jobs run, each of which can
// release nodes. The bound is 250 ms of processor time. Half of the waiting jobs are malleable. With evolving
// jobs the promises have to be kept, too.
func BenchmarkPass(b *testing.B) {
	for _, evolving := range []int{0, 100} {
		b.Run(fmt.Sprintf("%d evolving", evolving), func(b *testing.B) {
			s := Policy{}.New(core.Machine{Nodes: 17_000}).(sched.Resizer)
			r := core.Range{Min: 2, Max: 16, Every: 300, Cost: 30}
			id := core.JobID(1)
			for range 2000 {
				s.Submit(0, core.Job{ID: id, Choices: []core.EP{{{Duration: 36_000 + core.Time(id), Nodes: 8}}}, Range: &r})
				id++
			}
			for range evolving {
				s.Submit(0, core.Job{ID: id, Choices: []core.EP{{{Duration: 3600 + core.Time(id), Nodes: 2}, {Duration: 3600, Nodes: 20}}}})
				id++
			}
			s.Starts(0, nil)
			for running := core.JobID(1); running <= 2000; running++ {
				s.Point(300, running, 600)
			}
			for range 10_000 {
				j := core.Job{ID: id, Submit: 301, Choices: []core.EP{{{Duration: 600 + core.Time(id%7)*600, Nodes: 1 + int(id)%64}}}}
				if id%2 == 0 {
					j.Range = &core.Range{Min: 1 + int(id)%64/4, Max: 128, Every: 300, Cost: 30}
				}
				s.Submit(301, j)
				id++
			}
			b.ResetTimer()
			for b.Loop() {
				s.Clone().Starts(599, nil) // without patience all waiting jobs are due
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/pass")
		})
	}
}
