package resize

import (
	"slices"
	"testing"
	"time"

	"accordion/slurm/client/clienttest"
	"accordion/slurm/growth"
)

// A merge, a shrink, a merge and its undoing follow each other at once, as in a growth that goes wrong.
func TestMergesAndShrinksOfAJobHaveSecondsOfTheirOwn(t *testing.T) {
	for release, shrink := range map[string]string{"20.11": "NodeList=n1", "24.11": "NodeList=n1 NumNodes=1"} {
		onSlurm(t, release, nil, func(b *bench) {
			var seconds []int64
			b.slurm.Rule(clienttest.Rule{At: "^scontrol update", Before: func() { seconds = append(seconds, time.Now().Unix()) }})
			b.expander(nil)
			b.slurm.Add(clienttest.Job{ID: 48, Name: "accordion-over-46", Nodes: []string{"n4"}, Expands: 46, Reservation: "accordion-46-1"})
			ctx, parent := b.Context(), b.record(46)
			b.ok(b.merge(ctx, growth.Site{}, parent, b.record(48)))
			b.ok(b.keep(ctx, parent, []string{"n1"}))
			b.ok(b.merge(ctx, growth.Site{}, parent, b.record(47)))
			b.ok(b.Undo(ctx, parent.Key, []string{"n3"}))
			b.did("scontrol update JobId=48 NumNodes=0", "scontrol update JobId=46 "+shrink, "scontrol update JobId=47 NumNodes=0", "scontrol update JobId=46 "+shrink)
			if len(slices.Compact(slices.Clone(seconds))) != 4 || !slices.IsSorted(seconds) {
				t.Errorf("%s: changes in the seconds %v, want four of them", release, seconds)
			}
		})
	}
}
