// Package core is the vocabulary of Accordion: time, evolution profiles, jobs, machines, allocations and plans.
//
// It is pure: no input or output, no wall clock, no goroutines, no logging, no globals; it imports nothing of the
// project. The algorithms live in its folders (evolve, place, mold, queue…) and speak in these words.
//
//	ep := core.EP{{Duration: 500, Nodes: 5}, {Duration: 3600, Nodes: 10}} // 5 nodes for 500 s, then 10 for an hour
//	_ = ep.Total()                                                      // 4100 seconds
package core

import (
	"fmt"
	"strings"
)

// Time is a point in time or a span, in whole seconds. In the real world points count from the Unix epoch; in the
// replay and in `accordion schedule` from 0.
type Time = int64

// Forever is later than everything; it stands for "no end known". Sums of two of them do not overflow.
const Forever Time = 1 << 60

// JobID names a job within one world at one instant.
type JobID int64

// Step is one stretch of constant need: Nodes nodes for Duration seconds.
type Step struct {
	Duration Time
	Nodes    int
}

// EP is an evolution profile: a sequence of steps (Klein & Pérez, CoreGRID 2011, section 3.1). A requested profile has
// positive durations and node counts; a resource occupation may have steps of 0 nodes.
type EP []Step

// Total is the sum of the durations, in seconds.
func (ep EP) Total() Time {
	var sum Time
	for _, s := range ep {
		sum += s.Duration
	}
	return sum
}

// Peak is the largest node count of any step; 0 for an empty profile.
func (ep EP) Peak() int {
	peak := 0
	for _, s := range ep {
		peak = max(peak, s.Nodes)
	}
	return peak
}

// Area is the requested area in node-seconds.
func (ep EP) Area() int64 {
	var sum int64
	for _, s := range ep {
		sum += s.Duration * int64(s.Nodes)
	}
	return sum
}

// At is the node count t seconds after the profile's beginning: ep(t) of the papers. It is 0 before and after.
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

// String writes the profile as users do, in seconds: "5x500s,10x3600s".
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

// Job is what a user asked for.
type Job struct {
	ID     JobID
	Submit Time // seconds; the rank of equal priorities
	Begin  Time // not before this second; 0: no such wish
	Latest Time // not after this second; 0: no such wish. Policies do not look at it: see sched.Timely

	// Choices are the profiles of which the planner picks one: a rigid job has one choice of one step, a moldable job
	// several of one step each, an evolving job one of several steps. Never empty, no choice empty.
	Choices []EP

	// Pause is how many of the last seconds of each choice the job does not run: its nodes are to be idle then. What goes by
	// how long a job runs (sizing.ClassOf) goes by the rest.
	Pause Time

	// Guard is how many of the last seconds of its only choice an ordinary job need not use, nor keep from others, so that
	// those behind it may begin as much sooner. 0 for a managed job.
	Guard Time

	// Foreign: the batch system starts it, by a plan of its own in which everybody who waits has a place. So it has one in every plan
	// here, too, and nobody behind it is in its way.
	Foreign bool

	// Margin is how many seconds longer than its profile a managed job may last by the limit with which it is started. A
	// batch system that back-fills by limits believes until then that every node which the job has is taken. So it begins
	// where that, too, is in the way of no job with a guard before it. 0 for an ordinary job.
	Margin Time
}

// Machine is what the planner schedules on: a number of like nodes.
type Machine struct{ Nodes int }

// Allocation is what a job occupies, from Start on: a scheduled EP. For a managed job it is a promise, which a later
// plan may improve and never worsens.
type Allocation struct {
	Job   JobID
	Start Time
	EP    EP
	Guard Time // its last seconds, which it need not use (Job.Guard)
}

// End is the second at which the allocation's last step ends.
func (a Allocation) End() Time { return a.Start + a.EP.Total() }

// Planned is one job's place in a plan.
type Planned struct {
	Allocation     // when it would start, and its scheduled EP from there
	Choice     int // which of the job's choices

	// Early is the second at which a job with a guard begins when nobody before it uses his; Start is the latest.
	Early Time
}

// Plan gives each planned job its scheduled EP, in queue order. A job without a place (it never fits the machine) is
// absent.
type Plan struct{ Jobs []Planned }

// Start is a change due at one instant: a job starts, grows or shrinks to Nodes nodes.
type Start struct {
	Job    JobID
	Choice int  // of the job's choices, when it starts
	Nodes  int  // from now on
	Begins bool // it starts; otherwise it is resized
}
