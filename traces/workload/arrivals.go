package workload

import (
	"errors"
	"slices"

	"accordion/core"
	"accordion/core/adapt"
	"accordion/core/arrivals"
)

// ErrShort says that a log is too short for statistics of arrivals.
var ErrShort = errors.New("its jobs are submitted within less than a day, which says nothing of the other hours")

// Arrivals counts which jobs arrive when, by their references (adapt.New): a rigid job's only size. The day begins so many
// seconds before second 0 of the log.
func (w *Workload) Arrivals(before core.Time) (arrivals.File, error) {
	var t adapt.Tally
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if s := adapt.New(j.planned(), adapt.HalfReference); s != nil {
			t.Arrives(j.Submit+before, s)
			t.Ends(s, float64(j.on(s.Nodes)))
		}
	}
	s, ok := t.Statistics(-core.Forever)
	if !ok {
		return arrivals.File{}, ErrShort
	}
	span := w.Jobs[len(w.Jobs)-1].Submit - w.Jobs[0].Submit
	return arrivals.File{Log: w.Name, Jobs: len(w.Jobs), Days: float64(span) / float64(adapt.Day), Statistics: s}, nil
}

// planned is the job as a planner sees it.
func (j *Job) planned() core.Job {
	if len(j.Choices) > 0 {
		return core.Job{Choices: j.Choices}
	}
	return core.Job{Choices: []core.EP{{{Duration: j.Request, Nodes: j.Size}}}}
}

// on is how long the job works on so many nodes, one of its sizes.
func (j *Job) on(nodes int) core.Time {
	at := slices.IndexFunc(j.Choices, func(ep core.EP) bool { return ep.Peak() == nodes })
	if at < 0 {
		return j.Run
	}
	return j.work(at)
}
