package plan

import (
	"fmt"
	"strings"
	"testing"

	"accordion/core/sizing"
)

// BenchmarkCycle plans 2,000 waiting moldable jobs of 128 sizes each on 1,024 nodes, half of them
// held by ordinary jobs.
func BenchmarkCycle(b *testing.B) {
	for _, rule := range []struct {
		name string
		sizing.Sizing
	}{{"earliest", nil}, {"share", sizing.Share{}}, {"reference", sizing.Reference{}}, {"load", sizing.Scojo()}} {
		b.Run(rule.name, func(b *testing.B) {
			s := newSituation(1024, rule.Sizing)
			for i := range 64 {
				s.runsOrdinary(8, int64(600+100*i))
			}
			for i := range 2000 {
				var sizes []string
				for n := 1; n <= 128; n++ {
					sizes = append(sizes, fmt.Sprintf("%dx%ds", n, 600+i%7+360_000/n))
				}
				s.waits(strings.Join(sizes, "|"))
			}
			for b.Loop() {
				s.seeJobs()
				Make(s.Input).Apply()
			}
		})
	}
}
