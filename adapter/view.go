package adapter

import "accordion/core"

// View is what `accordion status` shows: every managed job as the sidecar sees it. The loop writes it to the journal
// whenever it changed.
type View struct {
	At      core.Time // Unix seconds of the snapshot it was made from
	Cluster string
	Jobs    []JobView
}

// JobView is one managed job.
type JobView struct {
	ID        core.JobID
	Submitted core.Time // Unix seconds
	User      string
	Name      string
	Kind      string // evolving, moldable
	Phase     string // waiting, starting, running, growing, shrinking, late, ending
	Request   string // as accepted: ep=2x20s,5x20s
	Step      int    // the step it is in, from 1; 0 while it waits
	Steps     int
	Nodes     string    // host list of what it holds
	Start     core.Time // Unix seconds: began, or will begin as planned; 0 when it has no place in the plan
	Plan      core.EP   // scheduled profile from Start
	Promised  core.Time // Unix second of its end as promised at its start; 0 while it waits
	Why       string    // why it waits, or what it waits for
}
