package adapter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/core"
)

// BatchSystem is what the sidecar needs from a batch system. Slurm, OAR and the embedded batch
// system implement it. Every call is one action. If the call returns nil, the action was carried
// out; otherwise the error says why it was not. Repeating a call must do no harm, because the
// sidecar repeats calls after a crash. Several goroutines may call at the same time.
//
// A batch system may also implement optional interfaces: Ager, Auditor, ChangeNotifier, Gatekeeper, JobSubmitter, Leaser, Lengthener,
// PowerManager, ProgramReader and RateLimiter.
type BatchSystem interface {
	Observer
	Starter
	Reserver
	Resizer
	JobMessenger
	NodeRepairer
}

// Observer reads the batch system.
type Observer interface {
	// Observe reads everything that the sidecar's decisions depend on: the nodes of the pool, the jobs that hold these nodes or wait for
	// them, and the reservations that contain them.
	Observe(ctx context.Context) (*Snapshot, error)
	// Inspect reads one job. It returns ErrGone if the batch system no longer knows the job.
	Inspect(ctx context.Context, job Key) (*Job, error)
}

// Starter adopts, starts and ends jobs.
type Starter interface {
	// Adopt marks a pending job as managed and holds it as root, so that its owner cannot release it.
	Adopt(ctx context.Context, job Key) error
	// Refuse ends a pending job that can never run, and informs the job's user of the reason.
	Refuse(ctx context.Context, job Key, why string) error

	// Shape sets the size and time limit of a pending job, and forbids the batch system to requeue
	// it. Then Shape verifies what it wrote.
	Shape(ctx context.Context, job Key, s Shape) error
	// Attach ties a pending job to a reservation, so that the job can start only inside the reservation.
	Attach(ctx context.Context, job Key, reservation string) error
	// Release lets a held job start.
	Release(ctx context.Context, job Key) error
	// Hold holds a released job again if it has not started, and detaches it from its reservation.
	Hold(ctx context.Context, job Key) error
	// Detach detaches a running job from its reservation, so that the reservation's end does not
	// end the job.
	Detach(ctx context.Context, job Key) error

	// End ends a job in any state. It writes the reason to the job's output if the batch system makes that possible. It returns nil if
	// the job has already ended.
	End(ctx context.Context, job Key, why string) error
}

// Reserver keeps nodes free for later steps of jobs.
type Reserver interface {
	// Reserve creates a reservation, or changes the existing reservation of that name. An active
	// reservation keeps its start. Reserve returns ErrBusy if another job has one of the nodes, and
	// ErrReserved if a reservation of others contains one. The caller should then read and plan again.
	// Reservations of the sidecar may overlap, because its plan separates their jobs.
	Reserve(ctx context.Context, r Reservation) error
	// Unreserve deletes a reservation. It returns nil if no such reservation exists.
	Unreserve(ctx context.Context, name string) error
}

// Resizer grows and shrinks running jobs.
type Resizer interface {
	// Expand allocates nodes inside the reservation to an expander of the running job, and returns the expander's key. If not all nodes are
	// free now, it returns ErrBusy and allocates none.
	Expand(ctx context.Context, job *Job, nodes []string, reservation string) (Key, error)
	// Merge moves the expander's nodes into the running job. It returns ErrGone if the job no longer runs. In that case nothing was
	// merged, and the expander still exists.
	Merge(ctx context.Context, job, expander Key) error
	// Shrink reduces the running job to exactly the nodes in `keep`. Within the same second, Expand cannot allocate the released nodes to
	// the same job again.
	Shrink(ctx context.Context, job Key, keep []string) error
}

// JobMessenger exchanges messages with the application of a running job.
type JobMessenger interface {
	// Speaks reports whether a running job's script asks for its next step itself (`accordion step`).
	Speaks(ctx context.Context, job Key) (bool, error)
	// Signal sends a signal to a running job: "B:URG" to the batch script only, "USR1" to all steps.
	Signal(ctx context.Context, job Key, signal string) error
	// Tell writes a line for the user to a running job's output, if the batch system makes that possible.
	Tell(ctx context.Context, job Key, text string) error
	// Publish writes `text` as the job's hosts file on its batch host, atomically and as the job's user. The text lists job.Nodes, the batch
	// host first. Before a shrink, job.Nodes has only the nodes that the job will keep. If another user owns the usual folder, Publish
	// writes the file to another folder, and returns its path. Otherwise it returns "".
	Publish(ctx context.Context, job *Job, text string) (elsewhere string, err error)
}

// NodeRepairer corrects wrong node states in a batch system.
type NodeRepairer interface {
	// Repair makes the batch system check the given nodes again. The batch system shows such a node
	// as idle but does not allocate it, or as allocated although no job holds it. Repair changes
	// nothing about healthy nodes.
	Repair(ctx context.Context, nodes []string) error
}

// PowerManager is a BatchSystem that may power down idle nodes.
type PowerManager interface {
	// Wake boots the given nodes, which are powered down.
	Wake(ctx context.Context, nodes []string) error
	// BootTime returns how many seconds booting may take; 0 if no node is ever powered down.
	BootTime() core.Time
}

// Gatekeeper is a BatchSystem that may let the sidecar decide when jobs without a request begin
// (Job.Rigid). Jobs without a request then wait at the gate, where the batch system does not start
// them. A job that is let in becomes an ordinary job in the batch system's own queue.
type Gatekeeper interface {
	// LetIn lets in a job that is planned to begin in the given number of seconds. The job then
	// ranks before all jobs that were not let in. Jobs for which `ahead` is 0 begin now, and rank
	// first. The other jobs that were let in rank in the order in which they were let in.
	LetIn(ctx context.Context, job Key, ahead core.Time) error
	// KeepOut undoes LetIn for a waiting job: it takes the job out of the batch system's queue.
	KeepOut(ctx context.Context, job Key) error
	// Open sets whether jobs submitted from now on pass the gate without waiting. The sidecar opens
	// the gate while no job waits, because then a new job cannot overtake another job.
	Open(ctx context.Context, open bool) error
}

// JobSubmitter is a BatchSystem that submits the batch jobs for parts of applications itself, instead of the launcher.
type JobSubmitter interface {
	// Make submits a job of the user for a part of the application. The job is held and marked
	// launch=APPLICATION. It has no comment, `hosts` nodes, and the time limit `limit` in seconds.
	// It runs until it reaches the limit or is ended. If a job for the same application and user
	// already waits, Make returns the key of that job.
	Make(ctx context.Context, application int64, user string, hosts int, limit core.Time) (Key, error)
}

// Ager is a BatchSystem that ranks waiting jobs by age. The age of a job that the sidecar holds must
// count from the first second at which the job could have run. The batch system does not store that second. Each reading
// has it in Job.CouldRun, but the implementation keeps it only in memory, until the sidecar ends.
type Ager interface {
	// Recall restores the first second at which a job could have run, for a job that waited already
	// before the sidecar was restarted. The sidecar calls Recall before its first reading.
	Recall(job Key, since core.Time)
}

// Errors that a BatchSystem returns, wrapped in an error that names the action and its object.
var (
	// ErrBusy means that the nodes are not free. Nothing was done. The caller should read and plan
	// again.
	ErrBusy = errors.New("nodes are busy")
	// ErrReserved is an ErrBusy. It means that a reservation of others contains the nodes, and will
	// not end within seconds.
	ErrReserved = fmt.Errorf("%w: they are reserved for others", ErrBusy)
	// ErrGone means that the job does not exist any more, or is not in the state that the action
	// needs.
	ErrGone = errors.New("job is gone")
	// ErrTrap means that a resize would go wrong now, for example because slurmdbd is down (Slurm).
	// The caller should try again later.
	ErrTrap = errors.New("resizing is not possible now")
	// ErrLimit means that a limit of the site forbids the action, now or always. Nothing was done.
	ErrLimit = errors.New("a limit of the site does not allow it")
	// ErrShut means that the batch system currently starts no job in the job's partition or queue,
	// even if nodes are free. Nothing was done.
	ErrShut = errors.New("the partition takes no jobs now")
	// ErrFrozen means that the batch system does not let this job be changed now, and perhaps never
	// again. For example, Slurm changes no job for which it still waits for a number from the
	// database. Other jobs can be changed. If the error is also an ErrTrap, the job stays frozen for
	// as long as the cause of the ErrTrap lasts.
	ErrFrozen = errors.New("the job cannot be changed now")
)

// ChangeNotifier is a BatchSystem that announces possible changes, so that the sidecar reads it only when needed.
type ChangeNotifier interface {
	// Changes returns a channel that receives a message soon after a job is submitted, begins or ends, or a node is added or removed. One
	// message may stand for several changes. A change without a message does no harm, because the sidecar also reads at regular intervals.
	Changes() <-chan struct{}
}

// RateLimiter is a BatchSystem that limits how many calls are made in a minute, and shares them among users (adapter/fair).
type RateLimiter interface {
	// Admit waits until the calls for `verb` are within the limit. The verb is "observe" or the verb
	// of an intent. These calls must be made with the context `admitted`, and the caller must call
	// `done` after them. Actions are admitted before readings. Admit fails only when ctx ends.
	Admit(ctx context.Context, verb string) (admitted context.Context, done func(), err error)
	// TryAdmit admits all of the verbs, like Admit, but does not wait. If the calls would exceed the
	// limit, `later` is how long the caller should wait before it tries again, and `why` is the
	// reason that `accordion explain` shows.
	TryAdmit(ctx context.Context, verbs ...string) (admitted context.Context, done func(), later time.Duration, why string)
}

// Lengthener is a BatchSystem that can extend the time limit of a running job.
type Lengthener interface {
	// Lengthen asks the batch system to set the job's time limit to `limit` seconds, counted from the job's start. The batch system may
	// refuse or shorten this. A later reading shows the result.
	Lengthen(ctx context.Context, job Key, limit core.Time) error
}

// ProgramReader is a BatchSystem through which jobs start their programs (srun in Slurm). No
// program starts while the batch system does not answer.
type ProgramReader interface {
	// Programs reads the programs of a running job. It returns ErrGone if the job no longer runs.
	Programs(ctx context.Context, job Key) (Programs, error)
}

// Programs describes the programs that a running job started through the batch system.
type Programs struct {
	Begun []core.Time // start times, in Unix seconds, of the programs that still run
	Waits bool        // at least one program waits to begin
}
