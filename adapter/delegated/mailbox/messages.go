// Package mailbox connects the loop of applications (adapter/delegated/loop) with the sidecar of each cluster, and defines the messages
// between them. The sidecar sends a ClusterState, which has the nodes and jobs of its cluster. The loop sends a list of Orders, one for
// each part of an application on that cluster. Each message is complete, and replaces the previous one. A Mailbox holds the newest
// message in each direction. Neither side waits for the other.
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

// ClusterState is the state of a cluster, according to one reading.
type ClusterState struct {
	Read  core.Time // Unix second of the reading, by the sidecar's clock; it never decreases, unless the clock is set
	Hosts int       // number of nodes that an application may request: all nodes of the pool, except those that have been out of service for some time
	// Local has what the cluster plans itself: its running jobs, guards, reservations and closures, and its waiting jobs, ordered by the
	// time of their submission. It does not have parts of applications. The receiver of the state may change Local.
	Local sched.Local
	Jobs  []Job      // all batch jobs that are parts (adapter.IsPart), including those that no application names
	Parts []Standing // how far each order has been carried out

	adapter.HostResources // smallest value of any host; a value is 0 or "" if it is not known for every host, and Arch is "" if architectures differ
}

// Job is a batch job with the request launch=APPLICATION.
type Job struct {
	Key         adapter.Key
	ID          core.JobID
	Application int64
	User        string
	State       adapter.State
	Submitted   core.Time
}

// Want is what should happen with a part.
type Want int

// The values of Want. The loop repeats an order until the cluster's state shows that the order is carried out. Carrying out an order
// twice must do no harm.
const (
	Wait    Want = iota // the part's job is held, and does not start; it is planned as a rigid job that begins at Order.At
	Prepare             // idle nodes are reserved for the part, and the job's size and time limit are set; the job is not tied to the reservation
	Start               // the job is tied to the part's reservation, and released; once the job runs, it is untied and the reservation is deleted
	Run                 // the job continues until it ends
	Drop                // the try is given up: its reservation is deleted; a waiting job is held again, and a running job ends
	End                 // the job ends, in any state, with a line for its user
	Ghost               // the part's nodes are reserved for root until Order.Until, so that launchers have time to answer their views
)

// Order is what should happen with one part on this cluster. If a later message has no order for the part, the part's reservation is
// deleted, and its job does not change.
type Order struct {
	Application int64
	Job         core.JobID // the part's job; 0 if the cluster makes the job at the start (adapter.JobSubmitter)
	Submitted   core.Time  // second at which that job was submitted; 0 if not known
	User        string
	Want        Want
	Try         int // number of the try to start the application, from 1
	Rank        core.Time
	Hosts       int
	Walltime    core.Time // requested walltime, in seconds
	Limit       core.Time // time limit of the batch job in seconds: walltime, bring-up and guard
	At          core.Time // for Wait: the estimated start; core.Forever if there is none
	By          core.Time // for Start and Run: second of the latest end
	Until       core.Time // for Ghost: second at which the ghost ends
	On          string    // for Start: the prepared nodes that the launcher knows, separated by spaces; "" if not known
	Why         string    // for Drop and End: a line for the part's user
}

// Stand is the progress of a part.
type Stand int

// The values of Stand.
const (
	Waiting  Stand = iota // the job is held, and nothing is reserved
	Prepared              // the nodes in Standing.Nodes are reserved, and the job's size and time limit are set
	Refused               // the part cannot be prepared or cannot be started, for the reason Standing.Why; nothing is left of the try
	Starting              // the job is released, but no reading shows yet that it runs
	Running               // the job runs on the nodes in Standing.Nodes
	Over                  // the job has ended; Standing.Failed is set if it was ended, or failed
	Ghosted               // the part's nodes are reserved until Order.Until; the job may have ended
)

// Standing shows how far the order for one part has been carried out, according to the newest reading.
type Standing struct {
	Application int64
	Job         core.JobID
	Try         int
	Stand       Stand
	Nodes       []string
	Since       core.Time // for Running: second at which the job started; for Over: second at which it ended
	Failed      bool
	Why         string
}
