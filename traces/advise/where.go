package advise

import "accordion/core"

// Where is a place in a script: after the step that was over last, and before the one that begins next. Either may be "", where there is
// none; both may, where the boundary is not at a step.
type Where struct {
	After, Before string // names of steps
	AfterStep     int    // which of the run's steps that is, from 0; −1: none
	BeforeStep    int
	At            core.Time // seconds after the job's start
}

// where finds the place of the second at in the script of a run.
func where(r *Run, at core.Time) Where {
	w := Where{AfterStep: -1, BeforeStep: -1, At: at - r.Start}
	var ended, begins core.Time
	for i := range r.Steps {
		from, to := r.within(&r.Steps[i])
		if to <= at && (w.AfterStep < 0 || to >= ended) {
			w.AfterStep, ended = i, to
		}
		if from >= at && (w.BeforeStep < 0 || from < begins) {
			w.BeforeStep, begins = i, from
		}
	}
	if w.AfterStep >= 0 {
		w.After = r.Steps[w.AfterStep].Name
	}
	if w.BeforeStep >= 0 {
		w.Before = r.Steps[w.BeforeStep].Name
	}
	return w
}
