package profile

import (
	"fmt"
	"testing"
)

func BenchmarkPack(b *testing.B) {
	for _, n := range []int{10, 30, 60, 100, 200, 400, 1000, 2000, 10000, 100000, 1000000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				pack(New(packNodes), n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/job")
		})
		if n > 10000 {
			continue
		}
		b.Run(fmt.Sprint("plain", n), func(b *testing.B) {
			for b.Loop() {
				pack(newPlain(packNodes), n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/job")
		})
	}
}
