package adapter

import (
	"context"
	"errors"
	"time"

	"accordion/core"
)

// BatchSystem is what the sidecar needs from a batch system. Slurm, OAR and the embedded one implement it; it is
// defined here, where it is used. Every call is one action that either holds when nil is returned, or is reported as
// an error; each may be repeated without harm (the sidecar does so after a crash). Calls come from several goroutines.
type BatchSystem interface {
	// Observe reads everything the sidecar decides on: the pool's nodes, the jobs on them or waiting for them, and
	// the reservations over them.
	Observe(ctx context.Context) (*Snapshot, error)
	// Inspect reads one job as it is now. ErrGone if the batch system no longer knows it.
	Inspect(ctx context.Context, job Key) (*Job, error)

	// Adopt makes a pending job ours: held by root (its owner cannot release it) and marked.
	Adopt(ctx context.Context, job Key) error
	// Refuse ends a pending job that can never run, with a line for its user.
	Refuse(ctx context.Context, job Key, why string) error

	// Reserve creates the reservation, or changes it to what is given (when it is active its start stays as it is).
	// ErrBusy: another job or somebody else's reservation has the nodes; read again and plan again. The sidecar's own
	// reservations may overlap: its plan keeps their jobs apart.
	Reserve(ctx context.Context, r Reservation) error
	// Unreserve deletes a reservation; nil when there is none.
	Unreserve(ctx context.Context, name string) error

	// Shape gives a pending job its size and limit, and forbids requeueing; it reads back what it wrote.
	Shape(ctx context.Context, job Key, s Shape) error
	// Attach ties a pending job to a reservation.
	Attach(ctx context.Context, job Key, reservation string) error
	// Release lets a held job start.
	Release(ctx context.Context, job Key) error
	// Hold takes a released job that has not started back under our hold, without a reservation.
	Hold(ctx context.Context, job Key) error
	// Detach unties a running job from its reservation, so that the reservation's end does not end the job.
	Detach(ctx context.Context, job Key) error

	// Expand allocates nodes to an expander of the running job, at once or not at all (ErrBusy), inside the
	// reservation. It returns the expander's key.
	Expand(ctx context.Context, job *Job, nodes []string, reservation string) (Key, error)
	// Merge moves the expander's nodes into its running parent. ErrGone when the parent does not run any more: then
	// nothing was merged and the expander is still there.
	Merge(ctx context.Context, job, expander Key) error
	// Shrink leaves the running job with exactly the nodes to keep. Expand gets none of the others for the job in the same second.
	Shrink(ctx context.Context, job Key, keep []string) error

	// Speaks says whether a running job's script asks for its next step itself (`accordion step`).
	Speaks(ctx context.Context, job Key) (bool, error)
	// Signal sends a signal ("B:URG": to the batch script only; "USR1": to all steps) to a running job.
	Signal(ctx context.Context, job Key, signal string) error
	// Tell writes a line for its user into a running job's output, where that is possible.
	Tell(ctx context.Context, job Key, text string) error
	// Publish writes text as the job's hosts file on its batch host, as its user and atomically.
	Publish(ctx context.Context, job *Job, text string) error

	// Nudge makes the batch system look afresh at nodes that it shows as idle and still will not allocate, or as in use
	// while no job holds them. It changes nothing about a node that is well.
	Nudge(ctx context.Context, nodes []string) error

	// End ends a job, whatever its state, and lets its user read why in the job's output where that is possible. nil
	// when it is gone already.
	End(ctx context.Context, job Key, why string) error
}

// Waker is a BatchSystem whose nodes may be powered down while they are idle.
type Waker interface {
	// Wake has nodes boot that are powered down.
	Wake(ctx context.Context, nodes []string) error
	// BootTime is how many seconds that may take; 0 where no node is ever powered down.
	BootTime() core.Time
}

// Errors that a BatchSystem returns (wrapped in one that says what was being done to what).
var (
	// ErrBusy: the nodes are not free. Nothing was done; read again and plan again.
	ErrBusy = errors.New("nodes are busy")
	// ErrGone: the job does not exist any more, or is not in the state the action needs.
	ErrGone = errors.New("job is gone")
	// ErrTrap: the batch system would resize wrongly now (Slurm without slurmdbd); try later.
	ErrTrap = errors.New("resizing is not possible now")
	// ErrLimit: a limit of the site does not allow it now, or never. Nothing was done.
	ErrLimit = errors.New("a limit of the site does not allow it")
	// ErrFrozen: the batch system does not change this job now, and perhaps never again (Slurm, while it waits for the
	// job's number in the database); other jobs may be changed.
	ErrFrozen = errors.New("the job cannot be changed now")
)

// Key names a job for good: job ids may be used again after a controller lost its last seconds (facts/slurm.md, 6).
type Key struct {
	ID        core.JobID
	Submitted core.Time // Unix seconds
}

// State is where a job stands in the batch system.
type State string

const (
	Pending State = "pending" // waiting, held or not
	Running State = "running"
	Ending  State = "ending" // over, its nodes not yet all released
	Done    State = "done"
)

// Job is one job as the batch system shows it.
type Job struct {
	Key
	Name       string
	User       string
	UID, GID   uint32
	Partition  string
	QOS        string
	State      State
	Held       bool   // pending, and will not start until it is released
	HeldByUser bool   // held by its owner, who can release it
	Blocked    bool   // pending, and would not start on an empty machine (dependency, begin time, limits of an association)
	Why        string // the batch system's own word for why it is pending or ended
	Unfit      string // why the batch system cannot resize it soundly, for its user (an array, a heterogeneous job); "": it can

	Nodes       []string   // what it holds, in natural order, the batch host and the rest of its base first; nil while it waits
	Base        int        // so many of them, from the first, it can never give back; 0: the batch host alone
	Want        int        // nodes it asked for (the minimum, where it gave a range)
	Tasks, CPUs int        // what it asked for in all
	Kinds       []string   // of nodes that it can run on; nil: all
	Limit       core.Time  // seconds; core.Forever when unlimited
	Started     core.Time  // Unix seconds; 0 while it waits
	Begin       core.Time  // not before; 0: no such wish
	Priority    int64      // the batch system's own rank, higher first
	Rank        []RankPart // what that is made of, where it says so
	Most        Most       // nodes that the site's limits allow it ever
	MostNow     Most       // the same, as others of the same limits use them now

	Reservation string     // the one it is tied to
	Comment     string     // what its user wrote: ep=…, mold=…
	Mark        string     // what only root can write: ours when it begins with MarkPrefix
	Expands     core.JobID // an expander's parent; 0 for every other job
	Parts       []Part     // its own allocation and those beside it that hold the rest of Nodes; nil: all is its own
	Grows       string     // the way in which it grows and why so, in words; "": the batch system has one way only
}

// RankPart is one reason of a job's rank.
type RankPart struct {
	Name   string `json:"name"` // age, fair share, QOS…
	Points int64  `json:"points"`
}

// Most is how many nodes a limit allows a job, and which limit that is. The zero one is no limit.
type Most struct {
	Nodes int
	Why   string // "": there is none
}

// Allows says whether a job may have so many nodes.
func (m Most) Allows(nodes int) bool { return m.Why == "" || nodes <= m.Nodes }

// Part is an allocation that holds some of a job's nodes.
type Part struct {
	Job   core.JobID // the batch system's number of it; the job's own for its own
	Nodes []string
}

// MarkPrefix begins the mark of a job that is ours; what follows is the request, "ep=…" or "mold=…", as accepted.
const MarkPrefix = "accordion:"

// Prefix begins the name of everything the sidecar makes in a batch system.
const Prefix = "accordion-"

// Node is one node of the pool.
type Node struct {
	Name   string
	Usable bool   // up and not drained: a job may be started on it
	Idle   bool   // no job holds it now (a node planned for a job is idle)
	Asleep bool   // powered down, or booting: a job has to wait for it
	Why    string // the batch system's word for its state
	Kind   string // what jobs may tell apart: nodes of one kind are alike to all of them
	Build  string // the nodes of one managed job are all of one build; nodes of one kind are
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
}

// Ours says whether the sidecar made the reservation.
func (r Reservation) Ours() bool { return len(r.Name) > len(Prefix) && r.Name[:len(Prefix)] == Prefix }

// Shape is what a pending job is given before it starts.
type Shape struct {
	Nodes int       // exactly so many
	On    []string  // those that it is to start on
	Limit core.Time // seconds; a batch system may round it up to its grain
}

// Snapshot is the batch system at one instant.
type Snapshot struct {
	At           time.Time // when the reading began
	Nodes        []Node    // the pool, in natural order
	Jobs         []Job     // pending in rank order, then the others
	Reservations []Reservation
	Soft         string // who may take nodes that were promised, in words; "": nobody
	Remarks      []Remark
}

// Remark is what a reading could not tell of a job, for the log: one that is repeated is written once.
type Remark struct {
	Job  Key
	Text string
}
