package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/malleable"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// drawRanges makes some of the rigid jobs malleable.
func drawRanges(t *rapid.T, w *workload.Workload, every, cost core.Time) {
	for i := range w.Jobs {
		if j := &w.Jobs[i]; len(j.Choices) == 0 && rapid.Bool().Draw(t, "malleable") {
			least := rapid.IntRange(1, j.Size).Draw(t, "min")
			most := rapid.IntRange(j.Size, w.Machine.Nodes).Draw(t, "max")
			j.Range = &workload.Range{Range: core.Range{Min: least, Max: most, Every: every, Cost: cost, Speed: rapid.SampledFrom([]core.Speed{nil, piecewise}).Draw(t, "speed")}}
			j.Range.Real = j.Range.Speed
		}
	}
}

var piecewise = core.Speed{{Size: .5, Speed: .4}, {Size: 1, Speed: .65}, {Size: 2, Speed: .8}}

func TestMalleableJobsAreWhereThePlainRuleHasThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkload(t)
		for i := range w.Jobs { // jobs long enough for several resize points
			w.Jobs[i].Run *= 3
			w.Jobs[i].Request *= 4
		}
		every := rapid.Int64Range(2, 9).Draw(t, "every")
		cost := rapid.Int64Range(1, every).Draw(t, "cost")
		drawRanges(t, &w, every, cost)
		plain := plainMalleable{w: w, points: every, cost: cost, wait: 20, factor: 2}
		plain.run()
		got := replay.Run(w, malleable.Policy{Patient: sched.Patient{Factor: 2, Most: 20}})
		for i, want := range plain.outcomes {
			o := got.Outcomes[i]
			if o.Start != want.start || o.End != want.end {
				t.Fatalf("job %d runs from %d to %d, by the plain rule from %d to %d; %d nodes, a point each %d s, cost %d s\n%s", i+1, o.Start, o.End, want.start, want.end,
					w.Machine.Nodes, every, cost, told(w, plain, got))
			}
			if w.Jobs[i].Range == nil {
				continue
			}
			sizes := core.EP{}
			for k, s := range want.sizes {
				to := want.end
				if k+1 < len(want.sizes) {
					to = min(to, want.sizes[k+1].Duration)
				}
				if to > s.Duration {
					sizes = append(sizes, core.Step{Duration: to - s.Duration, Nodes: s.Nodes})
				}
			}
			if d := cmp.Diff(sizes, o.Held); d != "" {
				t.Fatalf("job %d holds (-plain +got)\n%s", i+1, d)
			}
		}
	})
}

// told returns the jobs with both outcomes as text, for a failure message.
func told(w workload.Workload, plain plainMalleable, got replay.Result) string {
	var b strings.Builder
	for i, j := range w.Jobs {
		fmt.Fprintf(&b, "%d: submitted %d, %d nodes, %d of %d s", i+1, j.Submit, j.Size, j.Run, j.Request)
		if j.Range != nil {
			fmt.Fprintf(&b, ", %d-%d nodes %v", j.Range.Min, j.Range.Max, j.Range.Speed)
		}
		fmt.Fprintf(&b, "; plain %v, got %d to %d %v\n", plain.outcomes[i], got.Outcomes[i].Start, got.Outcomes[i].End, got.Outcomes[i].Held)
	}
	return b.String()
}
