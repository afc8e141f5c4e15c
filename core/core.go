// Package core is the vocabulary of Accordion: time, evolution profiles, jobs, machines, allocations and plans.
//
// The package is pure: no input or output, no wall clock, no goroutines, no logging, no globals. It imports nothing
// of the project. The algorithms are in its folders (ep, place, moldable, sched…) and use these types.
//
//	ep := core.EP{{Duration: 500, Nodes: 5}, {Duration: 3600, Nodes: 10}} // 5 nodes for 500 s, then 10 for an hour
//	_ = ep.Total()                                                      // 4100 seconds
package core

import (
	"fmt"
	"strings"
)

// Time is a point in time or a duration, in whole seconds. On a real cluster, points count from the Unix epoch. In
// the replay and in `accordion schedule` they count from 0.
type Time = int64

// Forever is later than every other time. It stands for "no end known". The sum of two Forever does not overflow.
const Forever Time = 1 << 60

// JobID identifies a job in one schedule.
type JobID int64

// Step is a time of constant size: Nodes nodes for Duration seconds.
type Step struct {
	Duration Time
	Nodes    int
}

// EP is an evolution profile: a sequence of steps (Klein & Pérez, CoreGRID 2011, section 3.1). A requested profile
// has positive durations and node counts. A scheduled profile may have steps of 0 nodes.
type EP []Step

// Total returns the sum of the durations, in seconds.
func (ep EP) Total() Time {
	var sum Time
	for _, s := range ep {
		sum += s.Duration
	}
	return sum
}

// Peak returns the largest node count of any step, or 0 for an empty profile.
func (ep EP) Peak() int {
	peak := 0
	for _, s := range ep {
		peak = max(peak, s.Nodes)
	}
	return peak
}

// Area returns the requested area in node-seconds.
func (ep EP) Area() int64 {
	var sum int64
	for _, s := range ep {
		sum += s.Duration * int64(s.Nodes)
	}
	return sum
}

// At returns the node count t seconds after the profile begins: ep(t) in the papers. It returns 0 before the profile
// begins and after it ends.
func (ep EP) At(t Time) int {
	if t < 0 {
		return 0
	}
	for _, s := range ep {
		if t < s.Duration {
			return s.Nodes
		}
		t -= s.Duration
	}
	return 0
}

// String returns the profile in seconds, in the form that users write: "5x500s,10x3600s".
func (ep EP) String() string {
	var b strings.Builder
	for i, s := range ep {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%dx%ds", s.Nodes, s.Duration)
	}
	return b.String()
}

// Job is a user's request.
type Job struct {
	ID     JobID
	Submit Time // submission, in seconds; jobs of equal priority rank by it
	Begin  Time // earliest start; 0 means at any time
	Latest Time // latest start; 0 means no limit. Policies ignore it: see sched.PlanWithoutLate

	// Choices are the profiles from which the planner picks one. A rigid job has one choice of one step. A
	// moldable job has several choices of one step each. An evolving job has one choice of several steps.
	// Choices is never empty, and no choice is empty.
	Choices []EP

	// Range makes the job malleable: the planner may change its size while it runs. Such a job has one choice
	// with one step: its reference size and duration. Range is nil for all other jobs.
	Range *Range

	// Pause is the number of seconds at the end of each choice in which the job does not run and its nodes stay idle.
	// Code that depends on how long a job runs, such as sizing.ClassOf, subtracts it.
	Pause Time

	// Guard is the overrun allowance of an ordinary job: the number of seconds at the end of its only choice
	// that the job may not need. If it ends earlier, later jobs may start that much earlier. Guard is 0 for a
	// managed job.
	Guard Time

	// Foreign marks a job that the batch system starts by its own plan, in which every waiting job has a place. A foreign
	// job therefore has a place in every plan of this package too, and no later job delays it.
	Foreign bool

	// Margin is the number of seconds by which a managed job's time limit exceeds its profile. A batch system
	// that back-fills by limits considers all of the job's nodes as taken until the time limit. So the job
	// starts only where its nodes, held until that limit, delay no earlier job that has a guard. Margin is 0
	// for an ordinary job.
	Margin Time
}

// Range describes the sizes on which a malleable job can run, and how it changes from one to another.
type Range struct {
	Min, Max int   // nodes; the reference size is between them
	Every    Time  // seconds from one resize point to the next, counted from the job's start
	Cost     Time  // seconds without progress that a resize takes
	Speed    Speed // speed on each size; nil if unknown
}

// Speed is how fast a job runs on each size: a piecewise linear curve through these points, which are ordered
// by size. The curve starts at (0, 0) and continues in a straight line after the last point. If the speed is
// unknown, Speed is nil: linear up to the reference size and constant above it.
type Speed []SpeedPoint

// SpeedPoint is the speed on one size. The size is a multiple of the reference size. The speed may have any
// unit.
type SpeedPoint struct{ Size, Speed float64 }

// Stretch returns the run time on a number of nodes, as a multiple of the run time on the reference.
func (s Speed) Stretch(nodes, reference int) float64 {
	if nodes == reference {
		return 1
	}
	size := float64(nodes) / float64(reference)
	if len(s) == 0 {
		return max(1, 1/size)
	}
	return s.at(1) / s.at(size)
}

// at returns the speed on a size.
func (s Speed) at(size float64) float64 {
	var from SpeedPoint
	for i, to := range s {
		if size <= to.Size || i == len(s)-1 {
			return from.Speed + (size-from.Size)/(to.Size-from.Size)*(to.Speed-from.Speed)
		}
		from = to
	}
	return 0
}

// Machine is what the planner schedules on: a number of identical nodes.
type Machine struct{ Nodes int }

// Allocation is what a job occupies from Start on: a scheduled EP. For a managed job it is a promise: a later plan
// may improve it and never worsens it.
type Allocation struct {
	Job   JobID
	Start Time
	EP    EP
	Guard Time // seconds at its end that the job perhaps does not use (Job.Guard)
}

// End returns the second at which the allocation's last step ends.
func (a Allocation) End() Time { return a.Start + a.EP.Total() }

// Planned is one job's place in a plan.
type Planned struct {
	Allocation     // when it would start, and its scheduled EP from then on
	Choice     int // index in the job's choices

	// Early is the earliest start of a job that has a guard: it starts then if no earlier job uses its own
	// guard. Start is the latest start.
	Early Time
}

// Plan gives each planned job its scheduled EP, in queue order. A job that never fits the machine is not in it.
type Plan struct{ Jobs []Planned }

// Start is a change at one instant: a job starts, grows or shrinks to Nodes nodes.
type Start struct {
	Job    JobID
	Choice int  // index in the job's choices, if the job starts
	Nodes  int  // the job's size from now on
	Begins bool // the job starts; otherwise it is resized
}
