package sched

import (
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// Remainder is the rest of a running evolving job whose promise cannot be kept: nodes were lost, another job keeps
// nodes past its limit, or the job itself is late.
type Remainder struct {
	Job   core.JobID
	Nodes int       // nodes that the job holds now, and until its next step begins
	Left  core.Time // seconds that the current step still needs; at least 1
	Next  core.EP   // the later steps, as requested; nil in the last step
}

// Refit makes new promises, from now on, for running jobs whose promises cannot be kept. It is the scheduling
// algorithm "re-run with updated information" (Klein & Pérez, CoreGRID 2011, section 6) under the rules of its
// section 4.2 for what an application can do. The current step keeps its nodes, because a job never migrates. All
// steps may be expanded without limit, because for a running application waiting is better than ending. Each step starts at
// the earliest time at which it fits. `fixed` has the promises of other jobs and whatever else occupies the machine. These do
// not change.
//
// The result has one allocation for each remainder, in the same order. It starts now, and its EP has the
// current step and then the later steps, each with its new length. It may be that a remainder can never
// continue, because its next steps exceed the machine or because jobs wait for each other's nodes. It then
// keeps its nodes without end: its EP is one step to core.Forever. This changes only when the job ends or the
// machine gets more nodes.
//
// Earlier remainders in the list have priority. No remainder is promised nodes that another may still have to
// hold. Refit first fits the remainders that can continue while all others keep their nodes forever, then the
// others around these, as in the banker's algorithm. Finally each remainder, in list order, is fitted again
// with the final promises of all others. So whenever `fixed` and all present holdings fit the machine, the new
// promises fit it too.
func Refit(now core.Time, m core.Machine, fixed []core.Allocation, broken []Remainder) []core.Allocation {
	r := newRefitting(now, m, fixed, broken)
	for r.grant(r.strict, len(broken)) || r.grant(r.squeezed, 1) {
	}
	for i := range broken {
		if r.done[i] {
			r.improve(i)
		}
	}
	return r.promised
}

// refitting is the state of a call of Refit. Invariant: view is the occupation by fixed and by everything in
// promised.
type refitting struct {
	now      core.Time
	view     *profile.Profile
	wanted   []core.EP         // for each remainder: its current step, then the later steps
	promised []core.Allocation // one step without end until the remainder is done
	done     []bool
	fitter   ep.Fitter
}

func newRefitting(now core.Time, m core.Machine, fixed []core.Allocation, broken []Remainder) *refitting {
	r := &refitting{
		now:      now,
		view:     profile.New(m.Nodes),
		wanted:   make([]core.EP, len(broken)),
		promised: make([]core.Allocation, len(broken)),
		done:     make([]bool, len(broken)),
	}
	for _, a := range fixed {
		r.view.Add(a.Start, a.EP)
	}
	for i, b := range broken {
		held := core.Step{Duration: min(max(b.Left, 1), core.Forever), Nodes: max(b.Nodes, 0)}
		r.wanted[i] = append(core.EP{held}, b.Next...)
		held.Duration = core.Forever
		if len(b.Next) == 0 { // the last step always ends
			held.Duration, r.done[i] = r.wanted[i][0].Duration, true
		}
		r.promised[i] = core.Allocation{Job: b.Job, Start: now, EP: core.EP{held}}
		r.view.Add(now, r.promised[i].EP)
	}
	return r
}

// grant fits up to `most` remainders, in order, that can continue with the present promises of all others. It reports whether
// there were any.
func (r *refitting) grant(fit func(i int) (core.EP, bool), most int) bool {
	granted := 0
	for i := 0; i < len(r.wanted) && granted < most; i++ {
		if !r.done[i] && r.try(i, fit) {
			r.done[i] = true
			granted++
		}
	}
	return granted > 0
}

// improve fits a remainder again, with the final promises of all others. The result is never worse, because the remainder's
// present place is still free, and an earlier place may be free now. A place that exceeds the machine (squeezed) is replaced by
// a free place.
func (r *refitting) improve(i int) { r.try(i, r.strict) }

// try removes a remainder's promise from the view and adds a new one, or the old one if it fits nowhere.
func (r *refitting) try(i int, fit func(i int) (core.EP, bool)) bool {
	p := &r.promised[i]
	r.view.Remove(p.Start, p.EP)
	ep, ok := fit(i)
	if ok {
		p.EP = ep
	}
	r.view.Add(p.Start, p.EP)
	return ok
}

// strict fits a remainder on nodes that are free of other jobs.
func (r *refitting) strict(i int) (core.EP, bool) {
	return r.fitter.Resume(r.wanted[i], r.view, ep.Unlimited, r.now)
}

// squeezed fits a remainder although its nodes and fixed together exceed the machine. The job cannot release nodes. So it keeps
// the nodes that it holds in any case, and only a growth beyond these must fit the machine.
func (r *refitting) squeezed(i int) (core.EP, bool) {
	view := profile.New(r.view.Nodes())
	most := max(0, view.Nodes()-r.wanted[i][0].Nodes)
	t := r.now
	for _, s := range r.view.Steps(r.now) {
		s.Nodes = min(s.Nodes, most)
		view.Add(t, core.EP{s})
		t += s.Duration
	}
	return r.fitter.Resume(r.wanted[i], view, ep.Unlimited, r.now)
}
