package advise

import "accordion/core"

// Boundary is a place in a script: after the step that ended last, and before the step that begins next. A name is "" if
// no such step exists.
type Boundary struct {
	After, Before string // names of steps
	AfterStep     int    // index of the step After in the run; −1 if there is none
	BeforeStep    int
	At            core.Time // seconds since the job's start
}

// boundaryAt returns the boundary in the script of a run at second `at` of the run.
func boundaryAt(r *Run, at core.Time) Boundary {
	w := Boundary{AfterStep: -1, BeforeStep: -1, At: at - r.Start}
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
