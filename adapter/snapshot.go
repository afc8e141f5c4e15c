package adapter

import (
	"time"

	"accordion/core"
)

// Node is one node of the pool.
type Node struct {
	Name   string
	Usable bool // up and not drained: jobs may be started on it
	Lost   bool // down or not responding; a node whose state is only unknown for a moment is not Lost
	Away   bool // drained, failed or out of service, until an administrator returns it to service
	Idle   bool // no job holds it now (a node planned for a job is idle)
	// Yielded: the job that holds the node is preemptible, so that the node counts as idle. Plans prefer other nodes.
	Yielded bool
	Asleep  bool   // powered down or booting, so that a job has to wait for the node
	Why     string // the batch system's name of its state
	Kind    string // jobs that ask for a kind of node cannot distinguish nodes of the same kind
	Build   string // all nodes of a managed job have the same build; nodes of the same kind always have the same build

	HostResources // plans do not depend on it
}

// HostResources is what launchers learn about hosts.
type HostResources struct {
	Cores   int    // number of processors for jobs; 0 if not known
	Memory  int64  // MiB for jobs; 0 if not known
	Scratch int64  // MiB of local disk for temporary files; 0 if not known
	Arch    string // architecture, as the batch system names it, such as x86_64; "" if not known
}

// Reservation keeps nodes free from Start to End for one user's jobs.
type Reservation struct {
	Name       string
	Nodes      []string
	Start, End core.Time // Unix seconds
	User       string    // who may use it
	// OverManaged means that Nodes contains nodes that managed jobs will have released by Start.
	// Reserve does not fail because managed jobs hold nodes.
	OverManaged bool
	// Idle, if not 0, is how many seconds from Start on the reservation must last without a job of its own. After that the batch system may
	// delete it.
	Idle core.Time
	// Repeats is how a reservation of others repeats, in the batch system's words, such as DAILY;
	// "" if it does not. Later lists when the reservation is in force again after End, the soonest
	// first, as far as plans look ahead.
	Repeats string
	Later   []Span
	// Strict means that no job starts on one of the nodes if the job's time limit reaches into the
	// reservation, even if the job would release the node before (Slurm's MAINT).
	Strict bool
}

// Span is the time from Start to End, in Unix seconds.
type Span struct {
	Start core.Time `json:"start"`
	End   core.Time `json:"end"`
}

// Spans returns all times at which the reservation is in force.
func (r Reservation) Spans() []Span { return append([]Span{{r.Start, r.End}}, r.Later...) }

// Ours reports whether the sidecar made the reservation.
func (r Reservation) Ours() bool { return len(r.Name) > len(Prefix) && r.Name[:len(Prefix)] == Prefix }

// Shape is the size and time limit that a pending job receives before it starts.
type Shape struct {
	Nodes int       // exact number of nodes
	On    []string  // the nodes on which it must start
	Limit core.Time // seconds; a batch system may round it up to whole minutes
	Least core.Time // seconds to which the limit may be cut so that the job ends by its deadline
}

// Snapshot is the batch system at one instant.
type Snapshot struct {
	At           time.Time // when the reading began
	Nodes        []Node    // the pool, in natural order
	Jobs         []Job     // pending jobs in order of rank, then the others
	Reservations []Reservation
	OwnSizing    OwnSizing
	Soft         string // which jobs may take promised nodes, in words; "" if none may
	Remarks      []Remark
	Hidden       Hidden
	Booted       core.Time // Unix second in which the batch system's controller started; 0 if not known
}

// Hidden is what the batch system hides from users who are not operators (Slurm's PrivateData).
type Hidden struct {
	Jobs         bool // jobs of other users
	Reservations bool
	Nodes        bool // states of nodes
	Accounts     bool // limits and usage of accounts
}

// OwnSizing describes how a batch system chooses sizes itself (Job.Choices).
type OwnSizing struct {
	Pause    core.Time       // seconds at the end of each size in which the job no longer runs and no other job may start
	Eligible []EligibleNodes // the nodes that the batch system's jobs may use; nil if each job may use any node
	Outside  []OutsideJob    // jobs that the batch system plans and that are not in the sidecar's queue, ordered by number
}

// EligibleNodes is a set of nodes on which some jobs may run. Nodes in no such set do not belong to the machine that the batch system divides.
type EligibleNodes struct {
	Nodes []string
	Jobs  []core.JobID
}

// OutsideJob is a waiting job as the batch system itself plans it, outside the sidecar's plan.
type OutsideJob struct {
	core.Job
	After     bool // the job begins after the end of another job, later than now
	Uncounted bool // the job is preemptible, so that its share of the machine does not count
}

// Remark is something that a reading could not determine about a job, for the log. A repeated
// remark is logged once.
type Remark struct {
	Job  Key
	Text string
	Once string // name under which the remark is logged only once, even if its text changes; "" if there is none
}
