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
	// Yielded means that a preemptible job holds the node, so that the node counts as idle. Plans use such a node only if there are too few
	// others.
	Yielded bool
	Asleep  bool   // powered down or booting, so that a job on the node has to wait before it starts
	Why     string // the state of the node, as the batch system names it
	Kind    string // the kind of the node: a job's request fits all nodes of a kind, or none of them
	Build   string // the hardware of the node: a managed job uses only nodes of one build, and all nodes of a kind have the same build

	HostResources // for launchers only; plans do not depend on these fields
}

// HostResources describes the hardware of a host for launchers.
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
	User       string    // the user whose jobs may use the nodes
	// OverManaged means that Nodes contains nodes that managed jobs hold now, but will have released
	// by Start. Reserve then succeeds even if managed jobs still hold nodes.
	OverManaged bool
	// Idle, if not 0, is the number of seconds after Start for which the reservation must exist even if no job runs in it. After that time
	// the batch system may delete an unused reservation.
	Idle core.Time
	// Repeats is the batch system's name for how a reservation of others repeats, such as DAILY. It
	// is "" if the reservation does not repeat. Later lists the times after End at which the
	// reservation is in force again, the earliest first, as far ahead as plans need them.
	Repeats string
	Later   []Span
	// Strict means that no job may start on a node of the reservation if its time limit ends after
	// Start. That holds even if the job would release the node before Start (Slurm's MAINT).
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
	On    []string  // the nodes on which the job must start
	Limit core.Time // time limit in seconds, which a batch system may round up to whole minutes
	Least core.Time // the smallest limit, in seconds, to which Limit may be reduced so that the job ends by its deadline
}

// Snapshot is the state of the batch system at one instant.
type Snapshot struct {
	At           time.Time // when the reading began
	Nodes        []Node    // the pool, in natural order
	Jobs         []Job     // pending jobs in order of rank, then the others
	Reservations []Reservation
	OwnSizing    OwnSizing
	Soft         string // in words, which jobs may take nodes that are promised to other jobs; "" if none may
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

// OwnSizing describes how a batch system itself chooses the sizes of moldable jobs (Job.Choices).
type OwnSizing struct {
	Pause    core.Time       // seconds at the end of each duration in Job.Choices, in which the job no longer runs and no other job may start
	Eligible []EligibleNodes // the nodes that the batch system's jobs may use; nil if each job may use any node
	Outside  []OutsideJob    // jobs that the batch system plans and that are not in the sidecar's queue, ordered by ID
}

// EligibleNodes is a set of nodes, with the jobs that may run on them. A node that is in no set is not used by the batch system's sizing.
type EligibleNodes struct {
	Nodes []string
	Jobs  []core.JobID
}

// OutsideJob is a waiting job that only the batch system plans, outside the sidecar's plan.
type OutsideJob struct {
	core.Job
	After     bool // the job begins after the end of another job, later than now
	Uncounted bool // the job is preemptible, so that sizing does not count its share of the machine
}

// Remark is a text for the log about something that a reading could not determine about a job. A
// repeated remark is logged once.
type Remark struct {
	Job  Key
	Text string
	Once string // of all remarks with the same value, only the first is logged, even if their texts differ; "" means that the text decides
}
