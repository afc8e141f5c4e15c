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
	// Local has the cluster's own running jobs, guards, reservations and closures, and its waiting jobs by the time of their submission. It
	// has no parts of applications. The receiver of the state may change Local.
	Local sched.Local
	Jobs  []Job      // all batch jobs that are parts (adapter.IsPart), including those that no application names
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

// The loop repeats each of these orders until the cluster's state shows that the order is carried out. So carrying out an order twice does
// no harm.
const (
	Wait    Want = iota // the part's job is held, and planned as a rigid job that begins at the estimate; it does not start
	Prepare             // idle nodes are reserved for the part for a while, and its size and time limit are set; it is not tied to the reservation
	Start               // the job is tied to its reservation and released; once the job runs it is untied, and the reservation is deleted
	Run                 // the job continues until it ends
	Drop                // the try is given up: its reservation is deleted; a waiting job is held again, and a running job ends
	End                 // the job ends, in any state, with a line for its user
	Ghost               // the part's nodes are reserved for root until Until, so that launchers have time to answer their views
)

// Order is what the loop wants of one part on this cluster. If the next message has no order for the part, the part's reservation is
// deleted, and its job stays as it is.
type Order struct {
	Application int64
	Job         core.JobID // 0 if the cluster makes it at the start (adapter.JobSubmitter)
	Submitted   core.Time  // when that job was submitted; 0 if unknown
	User        string
	Want        Want
	Try         int // number of the try to start, counted from 1; a Standing has the number of the try that it describes
	Rank        core.Time
	Hosts       int
	Walltime    core.Time // seconds, as requested
	Limit       core.Time // time limit of the batch job in seconds: walltime, bring-up and guard
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
	Waiting  Stand = iota // the job is held, and nothing is reserved
	Prepared              // Nodes are reserved, size and time limit are set
	Refused               // the try cannot be prepared or cannot be started, because of Why; nothing is left of the try
	Starting              // the job is released, and no reading shows it running yet
	Running               // runs on Nodes
	Over                  // its job has ended; Failed is set if it was ended, or failed
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
