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

// ClusterState is what a cluster has, by one reading.
type ClusterState struct {
	Read  core.Time // the second of the reading, by the sidecar's clock (Unix seconds); it does not fall unless the clock is set
	Hosts int       // nodes that an application may request: nodes of the pool that are not out of service for long
	// Local is what the cluster has of its own: running jobs, guards, reservations and closures, and waiting jobs by the second of their
	// submission. It has no parts of applications. Its receiver owns it.
	Local sched.Local
	Jobs  []Job      // all batch jobs that are parts (adapter.IsPart), also those that no application names
	Parts []Standing // how far each order has been carried out

	adapter.HostResources // of the weakest host; a value is 0 or "" if it is not known of one host, or if architectures differ
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

// Each of these is ordered until the cluster's state shows it as done. So each may be carried out again without harm.
const (
	Wait    Want = iota // held; planned as a rigid job that begins at the estimate; does not start
	Prepare             // idle nodes are reserved for it for a while, and its size and time limit are set; it is not tied to the reservation
	Start               // tied to its reservation and released; once it runs it is untied, and the reservation is deleted
	Run                 // continues until it ends
	Drop                // the try is given up: its reservation is deleted; the job is held again if it waits, and ends if it runs
	End                 // ends in any state, with a line for its user
	Ghost               // its nodes are kept for root alone until Until, so that launchers can answer
)

// Order is what the loop wants of one part on this cluster. If an order is missing in the next message, its reservation is deleted, and its
// job stays as it is.
type Order struct {
	Application int64
	Job         core.JobID // 0 if the cluster makes it at the start (adapter.JobSubmitter)
	Submitted   core.Time  // when that job was submitted; 0 if unknown
	User        string
	Want        Want
	Try         int // number of the try to start, from 1; a Standing names the try that it describes
	Rank        core.Time
	Hosts       int
	Walltime    core.Time // seconds, as requested
	Limit       core.Time // seconds, of the batch job: walltime, bring-up and guard
	At          core.Time // Wait: the estimated start; core.Forever if there is none
	By          core.Time // Start, Run: the latest end
	Until       core.Time // Ghost: its end
	On          string    // Start: the prepared nodes as the launcher knows them, separated by blanks; "" if unknown
	Why         string    // Drop, End: a line for the part's user
}

// Stand is how far a part has come.
type Stand int

// The values of Stand.
const (
	Waiting  Stand = iota // held, nothing is reserved
	Prepared              // Nodes are reserved, size and time limit are set
	Refused               // the try cannot be prepared, or not be started, because of Why; nothing is left of it
	Starting              // released; not seen running yet
	Running               // runs on Nodes
	Over                  // its job has ended; Failed if not by itself, or not well
	Ghosted               // its nodes are kept until the order's end; the job may have ended
)

// Standing is how far one order has been carried out, by the newest reading.
type Standing struct {
	Application int64
	Job         core.JobID
	Try         int
	Stand       Stand
	Nodes       []string
	Since       core.Time // Running: when it started; Over: when it ended
	Failed      bool
	Why         string
}
