package replay_test

import (
	"testing"

	"accordion/core/policy"
	"accordion/core/queue"
	"accordion/traces/replay"
)

// BenchmarkReplay is what scripts/bench replay measures, for profiles and allocations. The bounds and figures are in
// docs/performance.md.
func BenchmarkReplay(b *testing.B) {
	for _, m := range measures {
		for _, name := range m.policies {
			b.Run(m.name+"/"+name, func(b *testing.B) {
				w, err := m.workload()
				if err != nil {
					b.Skip(err)
				}
				p, err := policy.Named(name, queue.FirstCome)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					replay.Run(w, p)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(w.Jobs)), "ns/job")
			})
		}
	}
}
