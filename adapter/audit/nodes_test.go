package audit

import (
	"testing"

	"pgregory.net/rapid"

	"accordion/adapter"
	"accordion/core"
)

// twoJobs sorts the holdings of a node and goes through them once. The test compares its result with a check of every pair of jobs.
func TestSweepFindsTheSameAsCheckingEveryPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) adapter.AccountedRun {
			from := core.Time(rapid.Int64Range(100, 120).Draw(t, "from"))
			id := core.JobID(rapid.Int64Range(1, 1000).Draw(t, "job"))
			return adapter.AccountedRun{Key: adapter.Key{ID: id, Submitted: 1}, Alone: rapid.Bool().Draw(t, "alone"), Holds: []adapter.Hold{{
				Nodes: []string{rapid.SampledFrom([]string{"n1", "n2"}).Draw(t, "node")}, From: from, To: from + core.Time(rapid.Int64Range(1, 6).Draw(t, "length"))}}}
		}), 0, 12, func(b adapter.AccountedRun) adapter.Key { return b.Key }).Draw(t, "jobs")
		want := 0
		for i, a := range all {
			for _, b := range all[:i] {
				x, y := a.Holds[0], b.Holds[0]
				if x.Nodes[0] == y.Nodes[0] && a.Key != b.Key && (a.Alone || b.Alone) && x.From < y.To && y.From < x.To {
					want++
				}
			}
		}
		if found := Judge(Input{From: 1, Now: 200, Accounting: &adapter.Accounting{Jobs: all}}).Findings; len(found) != want {
			t.Fatalf("found %d, want %d: %v", len(found), want, found)
		}
	})
}
