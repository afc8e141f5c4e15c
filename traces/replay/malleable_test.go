package replay_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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
		audit(t, w, replay.Run(w, malleable.Policy{Patient: sched.Patient{Factor: 2, Most: 20}}))
	})
}

// audit checks a replay by the sizes of its jobs: together the jobs never hold more nodes than the machine has, no malleable job leaves its
// bounds, and each malleable job does its work.
func audit(t rapid.TB, w workload.Workload, r replay.Result) {
	t.Helper()
	type change struct {
		at    core.Time
		nodes int
	}
	var changes []change
	for i, o := range r.Outcomes {
		j := &w.Jobs[i]
		held := o.Held
		if held == nil {
			held = core.EP{{Duration: o.End - o.Start, Nodes: o.Nodes(j)}}
		}
		if o.Start < j.Submit || held.Total() != o.End-o.Start {
			t.Fatalf("job %d, submitted at %d, runs from %d to %d and holds %v", i+1, j.Submit, o.Start, o.End, held)
		}
		at := o.Start
		for _, s := range held {
			changes = append(changes, change{at, s.Nodes}, change{at + s.Duration, -s.Nodes})
			at += s.Duration
			if j.Range != nil && (s.Nodes < j.Range.Min || s.Nodes > j.Range.Max) {
				t.Fatalf("job %d holds %d nodes, not %d to %d", i+1, s.Nodes, j.Range.Min, j.Range.Max)
			}
		}
		if j.Range == nil {
			continue
		}
		if work := workOf(j, held); math.Abs(work-float64(j.Run)) > 1+float64(len(held)) { // ends are whole seconds
			t.Fatalf("job %d does the work of %.1f s of its reference, not of %d: %v", i+1, work, j.Run, held)
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.nodes, b.nodes)) })
	used := 0
	for _, c := range changes {
		if used += c.nodes; used > w.Machine.Nodes {
			t.Fatalf("%d of %d nodes are used at %d\n%s", used, w.Machine.Nodes, c.at, heldBy(w, r.Outcomes))
		}
	}
}

// workOf returns the work of a malleable job with these sizes, in seconds on the reference size. Progress stops for the cost of a resize:
// after a growth, and before a shrink. Between two steps of the same size the job shrank and grew at the same time.
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
			// The last job is malleable, so that the policy does not use Patient's state. It has one size, and never reaches a resize point.
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

// heldBy returns as text which job held how many nodes when.
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

// The expected ratios come from an independent program on the same jobs (facts, section 5). They are the mean waits of all jobs and of the
// rigid jobs relative to EASY, as means of two seeds. Both programs make the same decisions. But a job that starts a second later changes
// all later decisions, so that the means of two seeds differ by up to a few hundredths.
func TestThirtyPercentMalleableJobsCutWaitsAsPublished(t *testing.T) {
	for _, c := range []struct {
		log         string
		all, others float64
	}{{"KTH-SP2-1996-2.1-cln", .409, .475}, {"SDSC-SP2-1998-4.2-cln", .311, .360}} {
		t.Run(c.log, func(t *testing.T) {
			s, err := workload.Selection{}.Select(realLog(t, c.log))
			if err != nil {
				t.Fatal(err)
			}
			var all, others, baseAll, baseOthers float64
			for seed := uint64(1); seed <= 2; seed++ {
				w := rigid(s.Workload)
				m := usualShare(.3)
				workload.WhatIf{Malleable: m, Seed: seed}.Apply(&w)
				result := replay.Run(w, malleable.Policy{Patient: sched.Patient{Factor: 2, Most: 24 * 3600}})
				ours, easy := replay.Measure(w, result), replay.Measure(w, replay.Run(w, sched.EASY{}))
				all, baseAll = all+ours.Waiting.Mean, baseAll+easy.Waiting.Mean
				others, baseOthers = others+ours.Of(workload.Rigid).Waiting, baseOthers+easy.Of(workload.Rigid).Waiting
				audit(t, w, result)
				if seed > 1 {
					continue
				}
				plain := plainMalleable{w: w, points: m.Every, cost: m.Cost, wait: 24 * 3600, factor: 2}
				plain.run()
				for i, o := range plain.outcomes {
					if o.start != result.Outcomes[i].Start || o.end != result.Outcomes[i].End {
						t.Fatalf("job %d runs from %d to %d, by the plain rule from %d to %d", w.Jobs[i].Number, result.Outcomes[i].Start, result.Outcomes[i].End, o.start, o.end)
					}
				}
			}
			for _, r := range []struct {
				name      string
				got, want float64
			}{{"all", all / baseAll, c.all}, {"rigid", others / baseOthers, c.others}} {
				if math.Abs(r.got-r.want) > .01 {
					t.Errorf("%s jobs wait %.3f times as long as under EASY, want %.3f", r.name, r.got, r.want)
				}
			}
		})
	}
}
