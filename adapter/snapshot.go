package adapter

import (
	"time"

	"accordion/core"
)

// Node is one node of the pool.
type Node struct {
	Name   string
	Usable bool // up and not drained: a job may be started on it
	Lost   bool // down, or it does not answer: it is not back in a moment, as one is that is merely not known yet
	Away   bool // drained, failed or not in service: an administrator has to bring it back
	Idle   bool // no job holds it now (a node planned for a job is idle)
	// Yielded: a job that the batch system ends for any other holds the node, so that it is idle to
	// a plan. Other nodes come first.
	Yielded bool
	Asleep  bool   // powered down, or booting: a job has to wait for it
	Why     string // the batch system's word for its state
	Kind    string // what jobs may tell apart: nodes of one kind are alike to all of them
	Build   string // the nodes of one managed job are all of one build; nodes of one kind are

	Strength // no plan goes by it
}

// Strength is what launchers are told of hosts.
type Strength struct {
	Cores   int    // processors that jobs may have there; 0: not known
	Memory  int64  // MiB that jobs may have there; 0: not known
	Scratch int64  // MiB of disk of its own for what jobs write for a while; 0: not known
	Arch    string // of its processors, in the batch system's word, such as x86_64; "": not known
}

// Reservation keeps nodes free from Start to End for one user's jobs.
type Reservation struct {
	Name       string
	Nodes      []string
	Start, End core.Time // Unix seconds
	User       string    // who may use it
	// OverManaged: nodes that managed jobs will have given back by Start are among the nodes; their holders are
	// not in the way.
	OverManaged bool
	// Idle, where it is not 0, is how many seconds without a job of its own it needs to last from Start on: after that the
	// batch system may delete it by itself.
	Idle core.Time
	// Repeats is the batch system's word for how a reservation of others repeats, such as DAILY; "": it does not. Later is when it is in
	// force again after End, soonest first, as far as plans look ahead.
	Repeats string
	Later   []Span
	// Strict: no job is given one of the nodes whose time limit reaches into it, though the job would have given the node back by then
	// (Slurm's MAINT).
	Strict bool
}

// Span is the time from Start to End, Unix seconds.
type Span struct {
	Start core.Time `json:"start"`
	End   core.Time `json:"end"`
}

// Spans returns all times at which the reservation is in force.
func (r Reservation) Spans() []Span { return append([]Span{{r.Start, r.End}}, r.Later...) }

// Ours says whether the sidecar made the reservation.
func (r Reservation) Ours() bool { return len(r.Name) > len(Prefix) && r.Name[:len(Prefix)] == Prefix }

// Shape is what a pending job is given before it starts.
type Shape struct {
	Nodes int       // exactly so many
	On    []string  // those that it is to start on
	Limit core.Time // seconds; a batch system may round it up to its grain
	Least core.Time // how far Limit may be cut where the job is to end by a deadline, in seconds
}

// Snapshot is the batch system at one instant.
type Snapshot struct {
	At           time.Time // when the reading began
	Nodes        []Node    // the pool, in natural order
	Jobs         []Job     // pending in rank order, then the others
	Reservations []Reservation
	Molds        Molds
	Soft         string // who may take nodes that were promised, in words; "": nobody
	Remarks      []Remark
	Hidden       Hidden
	Booted       core.Time // Unix second in which the batch system's controller started; 0: not known
}

// Hidden is what the batch system hides from users who are not operators (Slurm's PrivateData).
type Hidden struct {
	Jobs         bool // of other users
	Reservations bool
	Nodes        bool // their states
	Accounts     bool // limits and usage of accounts
}

// Molds is what the batch system goes by that chooses sizes itself (Job.Choices).
type Molds struct {
	Pause core.Time // seconds at the end of each size in which the job runs no more, and nobody else may
	Reach []Reach   // of the jobs that it plans; nil: each may run on any node
	Apart []Apart   // jobs that it plans and that are in no queue of ours, by number
}

// Reach is nodes on which some jobs may run. What none may reach is none of the machine that the batch system divides.
type Reach struct {
	Nodes []string
	Jobs  []core.JobID
}

// Apart is a job that waits, as the batch system itself plans it, while no plan of ours sees it.
type Apart struct {
	core.Job
	After     bool // it begins after the end of another, later than now
	Uncounted bool // the batch system ends it for any other: it wants no part of the machine
}

// Remark is what a reading could not tell of a job, for the log: one that is repeated is written once.
type Remark struct {
	Job  Key
	Text string
	Once string // the name under which it is written once for good, though its text changes; "": it has none
}
