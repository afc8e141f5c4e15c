package adaptive

import (
	"cmp"
	"math"
	"slices"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// modified describes how Figure 2 of the paper sizes jobs when they start: means over the moldable jobs of each class. It is computed after
// the run with each job's own modifier. During the run a back-filled job had the modifier of the queue's head instead.
type modified struct {
	modifier [classes]float64
	trials   [classes]float64 // number of modifiers that were tried
}

// event is the submission, the start or the end of a job. At the same time, submissions come before ends, and ends before starts.
type event struct {
	at   core.Time
	what uint8
	job  int
}

const (
	submits uint8 = iota
	ends
	starts
)

// modify repeats the events of a run.
func modify(w workload.Workload, refs []*sizing.Sizes, outcomes []replay.Outcome, load sizing.Load) modified {
	var (
		events = make([]event, 0, 3*len(outcomes))
		all    = sched.NewSystemLoad(w.Machine, load, sizing.AsListed)
		m      modified
		count  [classes]float64
	)
	for i, o := range outcomes {
		events = append(events, event{w.Jobs[i].Submit, submits, i}, event{o.Start, starts, i}, event{o.End, ends, i})
	}
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what), cmp.Compare(a.job, b.job))
	})
	from, to := len(w.Jobs)*5/100, len(w.Jobs)*95/100
	for _, e := range events {
		id := core.JobID(e.job)
		switch e.what {
		case submits:
			all.Enter(e.at, core.Job{ID: id, Submit: e.at}, refs[e.job])
		case ends:
			all.Leave(id)
		case starts:
			sizes := refs[e.job]
			if e.job >= from && e.job < to && len(sizes.Steps) > 1 {
				modifier, trials := math.NaN(), 0.0
				load.Search(all.World(e.at), sizes, func(t sizing.Trial) {
					if trials++; t.Better {
						modifier = t.Factor
					}
				})
				for _, c := range []int{0, short + int(sizes.Class())} {
					count[c]++
					m.modifier[c] += modifier
					m.trials[c] += trials
				}
			}
			o := outcomes[e.job]
			all.Begin(e.at, id, o.Nodes(&w.Jobs[e.job]), o.Start+requested(&w.Jobs[e.job], o))
		}
	}
	for c := range count {
		m.modifier[c] /= max(count[c], 1)
		m.trials[c] /= max(count[c], 1)
	}
	return m
}

// requested returns the requested time on the size that a job got.
func requested(j *workload.Job, o replay.Outcome) core.Time {
	if len(j.Choices) == 0 || o.Choice < 0 {
		return j.Request
	}
	return j.Choices[o.Choice].Total()
}
