// Package view has the documents that the sidecar writes to its journal and that `accordion status`, queue and explain print, as plain
// data. Package status writes, reads and prints them.
package view

import (
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// Status is what `accordion status` shows: every managed job as the sidecar sees it. The loop writes it to the journal when it changed.
type Status struct {
	At      core.Time `json:"at"` // Unix second of the reading from which the status was made
	Cluster string    `json:"cluster"`
	Soft    string    `json:"soft,omitempty"`    // why others may break promises; "" if they cannot
	Manage  string    `json:"manage,omitempty"`  // "all" if every job of the partition is planned; "" if only jobs with a request are
	Outages []Outage  `json:"outages,omitempty"` // outages of the batch system, the newest last
	Booted  core.Time `json:"booted,omitempty"`  // Unix second in which the batch system's controller started; absent if not known
	Jobs    []Job     `json:"jobs"`              // the last field, because users may see only some of them
}

// Outage is a time in which the batch system did not answer, or was restarted.
type Outage struct {
	From core.Time `json:"from"`         // Unix second
	To   core.Time `json:"to,omitempty"` // Unix second; absent while it lasts
}

// Delegated is the kind of a batch job that is a part of an application. The application's launcher chooses its size and time.
const Delegated = "delegated"

// Job is one managed job.
type Job struct {
	ID        core.JobID         `json:"id"`
	Submitted core.Time          `json:"submitted"` // Unix seconds
	User      string             `json:"user"`
	Name      string             `json:"name"`
	Kind      string             `json:"kind"`    // evolving, moldable, rigid, delegated
	Phase     string             `json:"phase"`   // waiting, starting, running, growing, shrinking, late, ending
	Request   string             `json:"request"` // the accepted request: ep=2x20s,5x20s
	Step      int                `json:"step"`    // the current step, from 1; 0 while it waits
	Steps     int                `json:"steps"`
	Nodes     string             `json:"nodes"`              // host list of the nodes that it holds
	Size      int                `json:"size"`               // number of these nodes
	Start     core.Time          `json:"start"`              // actual or planned start, Unix seconds; 0 if it has no planned start
	Plan      core.EP            `json:"plan"`               // scheduled profile from Start
	Promised  core.Time          `json:"promised"`           // Unix second of its promised end; 0 while it waits
	Why       string             `json:"why"`                // why the job waits, or what a running job waits for
	Grows     string             `json:"grows,omitempty"`    // how the job grows, and why in this way; absent if the batch system has only one way, or the job never grows
	Limit     *Limit             `json:"limit,omitempty"`    // the site's limit on the job's size; absent if no step exceeds the limit
	Priority  int64              `json:"priority,omitempty"` // the batch system's priority of a waiting job, higher first; absent if there is none
	Rank      []adapter.RankPart `json:"parts,omitempty"`    // the parts of the priority
	// Deadline is the Unix second by which a waiting job must have ended. Latest is the last second
	// at which the batch system starts the job. Both are absent without a deadline.
	Deadline core.Time `json:"deadline,omitempty"`
	Latest   core.Time `json:"latest,omitempty"`
	// Unreserved means that no nodes are reserved ahead for the job's later steps, because of
	// [limits] unused.
	Unreserved bool `json:"unreserved,omitempty"`
}

// Same reports whether all fields except At are equal. Comparing encoded documents would cost more than making the whole plan.
func (s *Status) Same(o *Status) bool {
	return s.Cluster == o.Cluster && s.Soft == o.Soft && s.Manage == o.Manage && s.Booted == o.Booted && slices.Equal(s.Outages, o.Outages) &&
		slices.EqualFunc(s.Jobs, o.Jobs, func(a, b Job) bool { return a.Same(&b) })
}

// Same reports whether all fields are equal.
func (j *Job) Same(o *Job) bool {
	return j.ID == o.ID && j.Submitted == o.Submitted && j.User == o.User && j.Name == o.Name && j.Kind == o.Kind && j.Phase == o.Phase &&
		j.Request == o.Request && j.Step == o.Step && j.Steps == o.Steps && j.Nodes == o.Nodes && j.Size == o.Size &&
		j.Start == o.Start && j.Promised == o.Promised && j.Why == o.Why && j.Grows == o.Grows && j.Limit.Same(o.Limit) &&
		j.Deadline == o.Deadline && j.Latest == o.Latest && j.Unreserved == o.Unreserved && j.Priority == o.Priority &&
		slices.Equal(j.Plan, o.Plan) && slices.Equal(j.Rank, o.Rank)
}

// Limit tells how many nodes a limit of the site allows a job, and which limit that is.
type Limit struct {
	Nodes int    `json:"nodes"`
	Why   string `json:"why"`
}

// Same reports whether both are nil or equal.
func (l *Limit) Same(o *Limit) bool { return l == o || l != nil && o != nil && *l == *o }
