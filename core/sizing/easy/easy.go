// Package easy is EASY back-filling of moldable jobs. It decides which job starts when, and on which of the sizes that a rule allows
// (package sizing).
//
//	state := easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work}}.New(core.Machine{Nodes: 128})
//	state.Submit(now, core.Job{ID: 1, Choices: choices})
//	starts := state.Starts(now, nil) // of them, starts[i].Choice says on which choice
//
// As in core/sched's EASY a job is its peak for its total, nodes of a job whose requested time is over count as free, and only
// the head of the queue has a reservation. What the policies here have beside it: sizes, and orders in which jobs age. Repeated
// back-filling with sizes is core/sched's.
//
// Files: order.go ranks; state.go is told what happens; pass.go starts jobs; beside.go does so where others run whose profile
// changes, and plans; rehearsal.go finds the sizes of Cirne and Berman.
package easy

import (
	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// EASY sizes jobs when they start. The heads of the queue have their earliest completion over the sizes from their floor to
// their target, now or later (Barsanti and Sodan, "Adaptive Job Scheduling Via Predictive Job Resource Allocation", JSSPP 2006,
// Figure 3): while that is now they start. The first that does not has a reservation on that size; and behind it those start
// that do not delay it, on the sizes at which the sizing back-fills.
type EASY struct {
	Sizing sizing.Sizing
	Floor  sizing.Floor
	Order  Order

	// Remembers: a head that waits for a size gets no smaller one later (the end of Figure 3).
	Remembers bool
	// Rounding makes targets whole nodes.
	Rounding sizing.Rounding
}

// Traditional gives every job its reference: EASY without adaptation, as the paper compares with. Where the machine does not
// have as many nodes when the job is submitted, it is the largest listed size that it has, or the least of all.
type Traditional struct{ Order Order }

// CirneBerman fixes the size of a job when it is submitted (Cirne and Berman, "When the Herd Is Smart", IEEE Trans. on Parallel
// and Distributed Systems 14(2), 2003, as the paper does it): each of its sizes is tried in a simulation of what runs and
// waits, by requested times and without further arrivals, and the one that ends first is kept; of equals the smallest.
type CirneBerman struct {
	Order Order
	Top   Top
}

// Top is the largest size that is tried.
type Top uint8

// The largest sizes.
const (
	Listed      Top = iota // all that the job lists
	ToReference            // no more than its reference
)

var (
	_, _, _ sched.Policy    = EASY{}, Traditional{}, CirneBerman{}
	_       sched.Promiser  = (*state)(nil)
	_       sched.Explainer = (*state)(nil)
)

// New is the state of a machine without jobs.
func (p EASY) New(m core.Machine) sched.State {
	s := newState(m, p.Sizing, p.Floor, p.Order)
	s.remembers, s.rounding = p.Remembers, p.Rounding
	return s
}

// New is the state of a machine without jobs.
func (p Traditional) New(m core.Machine) sched.State {
	s := newState(m, sizing.Reference{}, sizing.AsListed, p.Order)
	s.fixing = atReference
	return s
}

// New is the state of a machine without jobs. Jobs with profiles that others told of (State.Running) are rehearsed as their
// peak.
func (p CirneBerman) New(m core.Machine) sched.State {
	s := newState(m, sizing.Reference{}, sizing.AsListed, p.Order)
	s.fixing = rehearsed
	s.top = p.Top
	return s
}
