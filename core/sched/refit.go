package sched

import (
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// Remainder is what is left of a running evolving job whose promise cannot be kept: nodes were lost, somebody holds on to
// nodes past his time, or the job itself is late.
type Remainder struct {
	Job   core.JobID
	Nodes int       // that it holds now, and in its current step until the next begins
	Left  core.Time // seconds that the current step still needs; what is over, or nearly, counts as 1
	Next  core.EP   // the steps to come, as requested; nil in the last one
}

// Refit makes new promises for the running jobs whose old ones cannot be kept, from now on: the scheduling algorithm
// "re-run with updated information" (Klein & Pérez, CoreGRID 2011, section 6), with the rules of its section 4.2 for what
// an application can do. The current step holds its nodes, for a job never migrates, and may be expanded without limit;
// so may those that follow, for an application that runs would rather wait than be ended. Each step begins at the earliest
// instant at which it fits. fixed are the promises of others, and whatever else occupies the machine: they stay as they
// are.
//
// The answer has one allocation for each remainder, in the same order, that starts now; its EP has the current step, then
// those to come, each with the length it gets. A remainder that can never go on, because its next steps exceed the
// machine or because it and others wait for each other's nodes, holds what it has without end: its EP is one step to
// core.Forever, and only its end or more nodes help.
//
// Remainders earlier in the list choose first. None is promised nodes that another may still have to hold: first those
// are fitted that can go on while all others hold on for ever, then, beside these, the others, as the banker grants
// loans; then each, in the order of the list, takes what the others turned out to leave. So at every instant at which
// what is fixed and what all of them hold now fit the machine, the new promises fit it too.
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

// refitting is a Refit under way. Invariant: view is what is fixed and everything in promised.
type refitting struct {
	now      core.Time
	view     *profile.Profile
	wanted   []core.EP         // of each remainder: its current step, then those to come
	promised []core.Allocation // holds without end until it is done
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
		if len(b.Next) == 0 { // the last step ends whatever happens
			held.Duration, r.done[i] = r.wanted[i][0].Duration, true
		}
		r.promised[i] = core.Allocation{Job: b.Job, Start: now, EP: core.EP{held}}
		r.view.Add(now, r.promised[i].EP)
	}
	return r
}

// grant fits those remainders, in order and at most so many, that can go on beside all others as these are promised now.
// It says whether there were any.
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

// improve fits a remainder once more, beside all others as these are promised at last. It is never worse off, for the
// place that it has is still free, and perhaps an earlier one; only a place that it was squeezed into, where the machine
// is exceeded, is given up for one that is free.
func (r *refitting) improve(i int) { r.try(i, r.strict) }

// try lifts a remainder's promise out of the view, and puts back a new one, or else the old.
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

// strict fits a remainder whose nodes are free of others for as long as it holds them.
func (r *refitting) strict(i int) (core.EP, bool) {
	return r.fitter.Resume(r.wanted[i], r.view, ep.Unlimited, r.now)
}

// squeezed fits a remainder though what is fixed exceeds the machine together with what it holds. It cannot be made to
// let go: as many nodes as it holds count as its own, and only a growth beyond them has to fit beside the others.
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
