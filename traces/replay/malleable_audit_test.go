package replay_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/malleable"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// drawMixed draws rigid, moldable, evolving and malleable jobs that last for several resize points.
func drawMixed(t *rapid.T) workload.Workload {
	w := drawWorkload(t)
	drawChoices(t, &w)
	for i := range w.Jobs {
		j := &w.Jobs[i]
		j.Run, j.Request = j.Run*3, j.Request*3
		for c := range j.Choices {
			for k := range j.Choices[c] {
				j.Choices[c][k].Duration *= 3
			}
		}
		for k := range j.Runs {
			j.Runs[k] *= 3
		}
	}
	every := rapid.Int64Range(2, 9).Draw(t, "every")
	drawRanges(t, &w, every, rapid.Int64Range(1, every).Draw(t, "cost"))
	return w
}

func TestMalleableJobsHoldNoNodeTwiceKeepTheirBoundsAndDoTheirWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawMixed(t)
		used := map[core.Time]int{}
		all := replay.Run(w, malleable.Policy{Patient: sched.Patient{Factor: 2, Most: 20}}).Outcomes
		for i, o := range all {
			j := &w.Jobs[i]
			held := o.Held
			if held == nil {
				held = core.EP{{Duration: o.End - o.Start, Nodes: o.Nodes(j)}}
			}
			if o.Start < j.Submit || held.Total() != o.End-o.Start {
				t.Fatalf("job %d, submitted at %d, runs from %d to %d and holds %v", i+1, j.Submit, o.Start, o.End, held)
			}
			for s := o.Start; s < o.End; s++ {
				if used[s] += held.At(s - o.Start); used[s] > w.Machine.Nodes {
					t.Fatalf("%d of %d nodes are used at %d\n%s", used[s], w.Machine.Nodes, s, heldBy(w, all))
				}
			}
			if j.Range == nil {
				continue
			}
			lowest := j.Size
			for _, s := range held {
				if s.Nodes > max(j.Range.Max, j.Size) {
					t.Fatalf("job %d holds %d nodes of %d at most", i+1, s.Nodes, j.Range.Max)
				}
				lowest = min(lowest, s.Nodes)
			}
			if lowest < j.Range.Min {
				t.Fatalf("job %d holds %d nodes of %d at least", i+1, lowest, j.Range.Min)
			}
			if work := workOf(j, held); math.Abs(work-float64(j.Run)) > 1+float64(len(held)) {
				t.Fatalf("job %d does the work of %.1f s of its reference, not of %d: %v", i+1, work, j.Run, held)
			}
		}
	})
}

// workOf returns the seconds of its reference that a malleable job works with these sizes. Progress stops for a resize's cost: from a
// growth on, and before a shrink. Between two steps of the same size the job shrank and grew at once.
func workOf(j *workload.Job, held core.EP) (work float64) {
	for i, s := range held {
		d := s.Duration
		if i > 0 && s.Nodes >= held[i-1].Nodes {
			d -= j.Range.Cost
		}
		if i+1 < len(held) && held[i+1].Nodes <= s.Nodes {
			d -= j.Range.Cost
		}
		work += float64(max(d, 0)) / j.Range.Real.Stretch(s.Nodes, j.Size)
	}
	return work
}

func TestWithoutMalleableJobsItIsPatient(t *testing.T) {
	for _, patient := range []sched.Patient{{}, {Factor: 2, Most: 20}} {
		rapid.Check(t, func(t *rapid.T) {
			w := drawMixed(t)
			// The last job makes the policy plan by itself. It has one size, and never comes to a resize point.
			for i := range w.Jobs {
				w.Jobs[i].Range = nil
			}
			want := replay.Run(w, patient)
			one := rapid.IntRange(0, len(w.Jobs)).Draw(t, "the malleable one")
			if one < len(w.Jobs) && len(w.Jobs[one].Choices) == 0 {
				j := &w.Jobs[one]
				j.Range = &workload.Range{Range: core.Range{Min: j.Size, Max: j.Size, Every: core.Forever}}
			}
			got := replay.Run(w, malleable.Policy{Patient: patient})
			for i := range w.Jobs {
				if got.Outcomes[i].Start != want.Outcomes[i].Start {
					t.Fatalf("job %d starts at %d, and under patient at %d\n%+v", i+1, got.Outcomes[i].Start, want.Outcomes[i].Start, w.Jobs)
				}
			}
		})
	}
}

// heldBy writes which job held how many nodes when.
func heldBy(w workload.Workload, all []replay.Outcome) string {
	var b strings.Builder
	for i, o := range all {
		j := &w.Jobs[i]
		fmt.Fprintf(&b, "%d: submitted %d, %d of %d s, %d nodes %v", i+1, j.Submit, j.Run, j.Request, j.Size, j.Choices)
		if j.Range != nil {
			fmt.Fprintf(&b, " or %d-%d, a point each %d s, %d s lost", j.Range.Min, j.Range.Max, j.Range.Every, j.Range.Cost)
		}
		fmt.Fprintf(&b, "; from %d to %d on %d %v\n", o.Start, o.End, o.Nodes(j), o.Held)
	}
	return b.String()
}
