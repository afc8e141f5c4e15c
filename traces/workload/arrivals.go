package workload

import (
	"errors"
	"slices"

	"accordion/core"
	"accordion/core/sizing"
)

// ErrShort is the error for a log that is too short for statistics of arrivals.
var ErrShort = errors.New("its jobs are submitted within less than a day; statistics need at least a whole day")

// Arrivals counts the arriving jobs per half hour of the day, by their reference sizes (sizing.New). The reference of a rigid job is its only
// size. The day begins `before` seconds before second 0 of the log.
func (w *Workload) Arrivals(before core.Time) (sizing.File, error) {
	var t sizing.Tally
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if s := sizing.New(j.planned(), sizing.HalfReference); s != nil {
			t.Arrives(j.Submit+before, s)
			t.Ends(s, float64(j.on(s.Nodes)))
		}
	}
	s, ok := t.Statistics(-core.Forever)
	if !ok {
		return sizing.File{}, ErrShort
	}
	span := w.Jobs[len(w.Jobs)-1].Submit - w.Jobs[0].Submit
	return sizing.File{Log: w.Name, Jobs: len(w.Jobs), Days: float64(span) / float64(sizing.Day), Statistics: s}, nil
}

// planned returns the job as a planner sees it.
func (j *Job) planned() core.Job {
	if len(j.Choices) > 0 {
		return core.Job{Choices: j.Choices}
	}
	return core.Job{Choices: []core.EP{{{Duration: j.Request, Nodes: j.Size}}}}
}

// on returns the job's run time on one of its sizes.
func (j *Job) on(nodes int) core.Time {
	at := slices.IndexFunc(j.Choices, func(ep core.EP) bool { return ep.Peak() == nodes })
	if at < 0 {
		return j.Run
	}
	return j.work(at)
}
