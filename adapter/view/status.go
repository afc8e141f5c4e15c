// Package view defines the documents that the sidecar writes to its journal. `accordion status`, `accordion queue` and `accordion
// explain` print them. The documents are plain data. Package status writes, reads and prints them.
package view

import (
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// Status is what `accordion status` shows: every managed job as the sidecar sees it. The loop writes the status to the journal when it
// has changed.
type Status struct {
	At      core.Time `json:"at"` // Unix second of the reading from which the status was made
	Cluster string    `json:"cluster"`
	Soft    string    `json:"soft,omitempty"`    // why promises may be broken by other jobs; "" if they cannot
	Manage  string    `json:"manage,omitempty"`  // "all" if every job of the partition is planned; "" if only jobs with a request are
	Outages []Outage  `json:"outages,omitempty"` // outages of the batch system, the newest last
	Booted  core.Time `json:"booted,omitempty"`  // Unix second in which the batch system's controller started; absent if not known
	Jobs    []Job     `json:"jobs"`              // must be the last field, because package readers replaces it with the jobs that a user may see
}

// Outage is a time in which the batch system did not answer, or was restarted.
type Outage struct {
	From core.Time `json:"from"`         // Unix second
	To   core.Time `json:"to,omitempty"` // Unix second; absent while the outage lasts
}

// Delegated is the kind of a batch job that is a part of an application. The application's launcher chooses the job's size and time limit.
const Delegated = "delegated"

// Job is one managed job.
type Job struct {
	ID        core.JobID         `json:"id"`
	Submitted core.Time          `json:"submitted"` // Unix seconds
	User      string             `json:"user"`
	Name      string             `json:"name"`
	Kind      string             `json:"kind"`    // evolving, moldable, rigid, delegated
	Phase     string             `json:"phase"`   // waiting, starting, running, growing, shrinking, late, ending
	Request   string             `json:"request"` // the accepted request, such as ep=2x20s,5x20s
	Step      int                `json:"step"`    // the current step, from 1; 0 while the job waits
	Steps     int                `json:"steps"`
	Nodes     string             `json:"nodes"`              // host list of the nodes that the job holds
	Size      int                `json:"size"`               // number of these nodes
	Start     core.Time          `json:"start"`              // actual or planned start, Unix seconds; 0 if there is none
	Plan      core.EP            `json:"plan"`               // scheduled profile, from Start on
	Promised  core.Time          `json:"promised"`           // Unix second of the promised end; 0 while the job waits
	Why       string             `json:"why"`                // why the job waits, or what a running job waits for
	Grows     string             `json:"grows,omitempty"`    // the way in which the job grows, and why that way was chosen; absent if the batch system has only one way, or the job never grows
	Limit     *Limit             `json:"limit,omitempty"`    // the site's limit on the job's size; absent if the limit allows every step
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

// Same reports whether all fields except At are equal. Comparing the documents as JSON would take longer than making the whole plan.
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

// Limit is the largest number of nodes that the site allows a job, with the name of the limit.
type Limit struct {
	Nodes int    `json:"nodes"`
	Why   string `json:"why"`
}

// Same reports whether both are nil or equal.
func (l *Limit) Same(o *Limit) bool { return l == o || l != nil && o != nil && *l == *o }
