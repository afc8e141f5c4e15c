// Package easy implements EASY back-filling of moldable jobs. It decides when each job starts, and on which of the
// sizes that a rule permits (package sizing).
//
//	state := easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work}}.New(core.Machine{Nodes: 128})
//	state.Submit(now, core.Job{ID: 1, Choices: choices})
//	starts := state.Starts(now, nil) // starts[i].Choice is the choice with which the job starts
//
// As in core/sched's EASY, a job counts as its peak for its total duration. The nodes of a job whose requested
// time has ended count as free. Only the head of the queue has a reservation. These policies add sizes, and
// orders in which jobs age. Repeated back-filling with sizes is in core/sched.
//
// order.go ranks jobs. state.go receives events. pass.go starts jobs. view.go starts jobs while running jobs change
// their size, and makes plans. simulation.go chooses the sizes of Cirne and Berman.
package easy

import (
	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// EASY chooses sizes when jobs start (Barsanti and Sodan, "Adaptive Job Scheduling Via Predictive Job Resource Allocation", JSSPP
// 2006, Figure 3). For the head of the queue it takes the size, from the head's floor to its target, that completes earliest, now
// or later. As long as the head can start now on this size, it starts, and the next job is the head. The first head that must wait
// gets a reservation on this size. Later jobs start if they do not delay the head, on the sizes at which the sizing rule
// back-fills.
type EASY struct {
	Sizing sizing.Sizing
	Floor  sizing.Floor
	Order  Order

	// Remembers means that a head that waits for a size gets no smaller size later (the end of Figure 3).
	Remembers bool
	// Rounding is how targets become whole nodes.
	Rounding sizing.Rounding
}

// Traditional gives every job its reference: EASY without adaptation, the paper's baseline. If the machine has fewer
// nodes when the job is submitted, the job gets the largest listed size that fits, or the smallest of all.
type Traditional struct{ Order Order }

// CirneBerman fixes the size of a job when it is submitted (Cirne and Berman, "When the Herd Is Smart", IEEE
// Trans. on Parallel and Distributed Systems 14(2), 2003, in the form that the JSSPP paper uses). It simulates
// the running and waiting jobs, by requested times and without further arrivals, for each of the job's sizes.
// The job gets the size on which it ends first. If there are several, it gets the smallest of them.
type CirneBerman struct {
	Order Order
	Top   Top
}

// Top limits the sizes that are tried.
type Top uint8

// The largest sizes.
const (
	Listed      Top = iota // all sizes that the job lists
	ToReference            // sizes up to its reference
)

var (
	_, _, _ sched.Policy    = EASY{}, Traditional{}, CirneBerman{}
	_       sched.Promiser  = (*state)(nil)
	_       sched.Explainer = (*state)(nil)
)

// New returns the state of a machine without jobs.
func (p EASY) New(m core.Machine) sched.State {
	s := newState(m, p.Sizing, p.Floor, p.Order)
	s.remembers, s.rounding = p.Remembers, p.Rounding
	return s
}

// New returns the state of a machine without jobs.
func (p Traditional) New(m core.Machine) sched.State {
	s := newState(m, sizing.Reference{}, sizing.AsListed, p.Order)
	s.fixing = atReference
	return s
}

// New returns the state of a machine without jobs. The simulation treats jobs with profiles that were added by
// State.Running as their peak.
func (p CirneBerman) New(m core.Machine) sched.State {
	s := newState(m, sizing.Reference{}, sizing.AsListed, p.Order)
	s.fixing = bySimulation
	s.top = p.Top
	return s
}
