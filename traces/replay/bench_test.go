package replay_test

import (
	"strings"
	"testing"
	"time"

	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/replay"
)

// BenchmarkReplay runs what scripts/bench replay measures, for profiles and allocations. Bounds and figures are in docs/performance.md.
func BenchmarkReplay(b *testing.B) {
	for _, m := range measures {
		for _, name := range m.policies {
			b.Run(m.name+"/"+name, func(b *testing.B) {
				w, err := m.workload()
				if err != nil {
					b.Skip(err)
				}
				p, err := policy.Named(name, sched.FirstCome)
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

// byTurns calls several functions alternately, so that other work on the machine slows all of them down. It returns the least processor time
// of each function.
func byTurns(b *testing.B, all []func()) []time.Duration {
	took := make([]time.Duration, len(all))
	for i := range took {
		took[i] = time.Hour
	}
	for b.Loop() {
		for i, do := range all {
			took[i] = min(took[i], timed(do))
		}
	}
	b.ReportMetric(0, "ns/op") // an operation calls several functions, so its time has no meaning
	return took
}

// BenchmarkEASYOfEvolvingJobs checks the bounds of easy-evolving and patient. Without evolving jobs they must be at least half as fast as
// easy. With 30 % evolving jobs they must replay 500,000 jobs a second of KTH-SP2, CTC-SP2 and SDSC-SP2, and 10,000 of the overloaded Atlas.
func BenchmarkEASYOfEvolvingJobs(b *testing.B) {
	for _, m := range measures {
		if len(m.policies) != len(ours) || m.policies[1] != ours[1] {
			continue
		}
		b.Run(m.name, func(b *testing.B) {
			w, err := m.workload()
			if err != nil {
				b.Skipf("%v; ACCORDION_TRACES is the directory of the logs", err)
			}
			var all []func()
			for _, name := range ours {
				p, err := policy.Named(name, sched.FirstCome)
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, func() { replay.Run(w, p) })
			}
			took := byTurns(b, all)
			for i, name := range ours {
				b.ReportMetric(float64(len(w.Jobs))/took[i].Seconds(), name+"-jobs/s")
				if i > 0 && !strings.Contains(m.name, "%") { // easy ignores profiles
					b.ReportMetric(took[0].Seconds()/took[i].Seconds(), name+"-of-easy")
				}
			}
		})
	}
}
