package replay_test

import (
	"testing"

	"accordion/core/queue"
	"accordion/traces/replay"
)

func BenchmarkReplay(b *testing.B) {
	for _, m := range measures {
		b.Run(m.log+"/"+m.policy, func(b *testing.B) {
			w := logOf(b, m.log)
			p, err := replay.ParsePolicy(m.policy, queue.FirstCome)
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
