// Package mailbox connects the loop of applications (adapter/delegated/loop) with the sidecar of each cluster, and defines what they
// send each other. The sidecar sends a ClusterState: what its cluster has. The loop sends Orders: what is to happen with each part of an
// application on that cluster. Each message is complete and replaces the previous one. A Mailbox holds the newest message in
// each direction, and neither side waits for the other.
//
// The package decides nothing. The loop decides which application starts. The sidecar decides how its batch system starts a part.
//
//	box := mailbox.New()
//	box.Show(mailbox.ClusterState{Read: now, Hosts: 16}) // the sidecar
//	box.Order([]mailbox.Order{{Application: 1, Job: 42, Want: mailbox.Prepare, Hosts: 4}}) // the loop
package mailbox

import (
	"accordion/adapter"
	"accordion/core"
	"accordion/core/sched"
)

// ClusterState is what a cluster has at one reading.
type ClusterState struct {
	Read  core.Time // the second of the reading, by the sidecar's clock (Unix seconds); never before that of the state before, unless the clock was set
	Hosts int       // nodes that an application may ask for: of the pool, and not out of service for long
	// Local is what the cluster has of its own, without the parts of applications: what runs there with its promises, guards, reservations and
	// closures, and the jobs that wait, ranked by the second of their submission. It is the reader's own.
	Local sched.Local
	Jobs  []Job      // all batch jobs that are parts (adapter.IsPart), also those that no application names
	Parts []Standing // how far each order has come

	adapter.Strength // of the weakest host; what is not known of one is not known, and nor is an architecture where hosts differ
}

// Job is a batch job that carries launch=.
type Job struct {
	Key         adapter.Key
	ID          core.JobID
	Application int64
	User        string
	State       adapter.State
	Submitted   core.Time
}

// Want is what the loop wants of a part.
type Want int

// What may be wanted of a part. Each is asked for again until it is seen to hold, so that each may be repeated without harm.
const (
	Wait    Want = iota // held; planned as a rigid job that begins at the estimate; it does not start
	Prepare             // idle nodes chosen and reserved for it for a while, its size and limit written; not attached: nothing waits
	Start               // prepared and committed: attached and released. Once it runs it is untied and its reservation goes
	Run                 // all parts were let through: it goes on until it is over
	Drop                // this try is given up: its reservation goes; held again if it waits, ended if it runs
	End                 // ended, whatever its state, with a line for its user
	Ghost               // its own nodes kept for root alone until Until, so that launchers can answer
)

// Order is what the loop wants of one part on this cluster. One that is no longer there wants nothing: what is left of it (a
// reservation) is cleared away, and its job stays as it is.
type Order struct {
	Application int64
	Job         core.JobID // 0: the cluster makes it at the start (adapter.Maker)
	Submitted   core.Time  // the second of that job's submission; 0: not known
	User        string
	Want        Want
	Try         int // which try to start this is, from 1; a standing names the try that it tells of
	Rank        core.Time
	Hosts       int
	Walltime    core.Time // seconds that were asked for
	Limit       core.Time // seconds, of the batch job: walltime, bring-up and guard
	At          core.Time // Wait: the estimate; core.Forever: none
	By          core.Time // Start, Run: the latest end that is promised
	Until       core.Time // Ghost: its end
	On          string    // Start: the nodes that were prepared, with blanks between, as the launcher knows them; "": not known
	Why         string    // Drop, End: a line for its user
}

// Stand is how far a part has come.
type Stand int

// Where a part may stand.
const (
	Waiting  Stand = iota // held, nothing reserved
	Prepared              // Nodes are reserved, size and limit written
	Refused               // the try cannot be prepared, or not started: Why; nothing is left of it
	Starting              // released; not seen running
	Running               // on Nodes
	Over                  // its job is gone; Failed tells whether it ended by itself or not
	Ghosted               // it runs on, and its nodes are kept until the order's end, also when it is Over
)

// Standing is how far one order has come, as last read.
type Standing struct {
	Application int64
	Job         core.JobID
	Try         int
	Stand       Stand
	Nodes       []string
	Since       core.Time // Running: the second of its start; Over: of its end
	Failed      bool
	Why         string
}
