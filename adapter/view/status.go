// Package view has the documents that the sidecar writes to its journal and that `accordion status`, queue and explain print, as plain
// data. Package status writes, reads and prints them.
package view

import (
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// Status is what `accordion status` shows: every managed job as the sidecar sees it. The loop writes it to the journal
// whenever it changed.
type Status struct {
	At      core.Time `json:"at"` // Unix seconds of the snapshot it was made from
	Cluster string    `json:"cluster"`
	Soft    string    `json:"soft,omitempty"`    // why promises may be broken by others; "": they hold
	Manage  string    `json:"manage,omitempty"`  // "all": every job of the partition is planned; "": those that say that they are evolving or moldable
	Outages []Outage  `json:"outages,omitempty"` // of the batch system, the newest last; absent where none is known
	Booted  core.Time `json:"booted,omitempty"`  // Unix second in which its controller started; absent where that is not known
	Jobs    []Job     `json:"jobs"`              // the last field: users are shown a part of it
}

// Outage is a time in which the batch system did not answer, or was started again.
type Outage struct {
	From core.Time `json:"from"`         // Unix second
	To   core.Time `json:"to,omitempty"` // Unix second; absent while it lasts
}

// Delegated is the kind of a batch job that is a part of an application: its launcher chooses its size and time.
const Delegated = "delegated"

// Job is one managed job.
type Job struct {
	ID        core.JobID         `json:"id"`
	Submitted core.Time          `json:"submitted"` // Unix seconds
	User      string             `json:"user"`
	Name      string             `json:"name"`
	Kind      string             `json:"kind"`    // evolving, moldable, rigid, delegated
	Phase     string             `json:"phase"`   // waiting, starting, running, growing, shrinking, late, ending
	Request   string             `json:"request"` // as accepted: ep=2x20s,5x20s
	Step      int                `json:"step"`    // the step it is in, from 1; 0 while it waits
	Steps     int                `json:"steps"`
	Nodes     string             `json:"nodes"`              // host list of what it holds
	Size      int                `json:"size"`               // how many those are
	Start     core.Time          `json:"start"`              // Unix seconds: began, or will begin as planned; 0 when it has no place in the plan
	Plan      core.EP            `json:"plan"`               // scheduled profile from Start
	Promised  core.Time          `json:"promised"`           // Unix second of its end as promised at its start; 0 while it waits
	Why       string             `json:"why"`                // why it waits, or what it waits for
	Grows     string             `json:"grows,omitempty"`    // how it grows and why so; absent where the batch system has one way, or it never does
	Limit     *Limit             `json:"limit,omitempty"`    // what the site allows it to have; absent where that is in the way of none of its steps
	Priority  int64              `json:"priority,omitempty"` // the batch system's rank while it waits, higher first; absent where it has none
	Rank      []adapter.RankPart `json:"parts,omitempty"`    // what the priority is made of
	// Deadline is the Unix second by which a waiting job is to have ended, and Latest the last one at which the
	// batch system starts it; absent without a deadline.
	Deadline core.Time `json:"deadline,omitempty"`
	Latest   core.Time `json:"latest,omitempty"`
	// Unreserved: no nodes are reserved ahead for its later steps, by [limits] unused.
	Unreserved bool `json:"unreserved,omitempty"`
}

// Same compares every field but At. (Writing both down to compare them would cost more than the whole plan.)
func (s *Status) Same(o *Status) bool {
	return s.Cluster == o.Cluster && s.Soft == o.Soft && s.Manage == o.Manage && s.Booted == o.Booted && slices.Equal(s.Outages, o.Outages) &&
		slices.EqualFunc(s.Jobs, o.Jobs, func(a, b Job) bool { return a.Same(&b) })
}

// Same compares every field.
func (j *Job) Same(o *Job) bool {
	return j.ID == o.ID && j.Submitted == o.Submitted && j.User == o.User && j.Name == o.Name && j.Kind == o.Kind && j.Phase == o.Phase &&
		j.Request == o.Request && j.Step == o.Step && j.Steps == o.Steps && j.Nodes == o.Nodes && j.Size == o.Size && j.Start == o.Start &&
		j.Promised == o.Promised && j.Why == o.Why && j.Grows == o.Grows && j.Unreserved == o.Unreserved && j.Deadline == o.Deadline && j.Latest == o.Latest && j.Priority == o.Priority &&
		(j.Limit == o.Limit || j.Limit != nil && o.Limit != nil && *j.Limit == *o.Limit) && slices.Equal(j.Plan, o.Plan) && slices.Equal(j.Rank, o.Rank)
}

// Limit is what a limit of the site allows a job to have, and which one that is.
type Limit struct {
	Nodes int    `json:"nodes"`
	Why   string `json:"why"`
}
