package audit

import (
	"fmt"
	"testing"

	"accordion/adapter"
	"accordion/core"
)

// BenchmarkJudgeMonth judges a month of a large site: 300,000 ordinary jobs, and 3,000 managed jobs
// with three sizes each.
func BenchmarkJudgeMonth(b *testing.B) {
	one := clean(b)
	in := Input{From: zero, Now: zero + 3_000_000, Alive: true, Accounting: &adapter.Accounting{Grain: 1}}
	for i := range 1000 {
		shift, later := core.JobID(1000*(i+1)), core.Time(2500*i)
		for _, e := range one.Entries {
			if e.Job == 0 {
				continue
			}
			e.ID, e.Job, e.Submitted = int64(len(in.Entries)+1), e.Job+int64(shift), e.Submitted+int64(later)
			in.Entries = append(in.Entries, e)
		}
		for _, r := range one.Accounting.Jobs {
			r.ID, r.Submitted, r.Holds = r.ID+shift, r.Submitted+later, nil
			if r.Expands != 0 {
				r.Expands += shift
			}
			in.Accounting.Jobs = append(in.Accounting.Jobs, r)
		}
	}
	for i := range 300_000 {
		from := zero + core.Time(9*i)
		in.Accounting.Jobs = append(in.Accounting.Jobs, adapter.AccountedRun{Key: adapter.Key{ID: core.JobID(10_000_000 + i), Submitted: from}, User: "zoe", Partition: "main",
			Holds: []adapter.Hold{{Nodes: []string{fmt.Sprintf("m%d", i%900)}, From: from, To: from + 8000}}})
	}
	b.ResetTimer()
	for b.Loop() {
		if r := Judge(in); r.Managed != 3000 {
			b.Fatalf("%d managed runs are judged", r.Managed)
		}
	}
}
