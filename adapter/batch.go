package adapter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/core"
)

// BatchSystem is what the sidecar needs from a batch system. Slurm, OAR and the embedded one implement it; it is
// defined here, where it is used. Every call is one action that either holds when nil is returned, or is reported as
// an error; each may be repeated without harm (the sidecar does so after a crash). Calls come from several goroutines.
// A Waker, a Herald, a Pacer, a Leaser, a Gatekeeper and a Maker can do more.
type BatchSystem interface {
	Observer
	Starter
	Reserver
	Resizer
	JobMessenger
	NodeRepairer
}

// Observer is how a batch system is read.
type Observer interface {
	// Observe reads everything the sidecar decides on: the pool's nodes, the jobs on them or waiting for them, and
	// the reservations over them.
	Observe(ctx context.Context) (*Snapshot, error)
	// Inspect reads one job as it is now. ErrGone if the batch system no longer knows it.
	Inspect(ctx context.Context, job Key) (*Job, error)
}

// Starter is how a job is taken up, started and ended.
type Starter interface {
	// Adopt makes a pending job ours: held by root (its owner cannot release it) and marked.
	Adopt(ctx context.Context, job Key) error
	// Refuse ends a pending job that can never run, with a line for its user.
	Refuse(ctx context.Context, job Key, why string) error

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

	// End ends a job, whatever its state, and lets its user read why in the job's output where that is possible. nil
	// when it is gone already.
	End(ctx context.Context, job Key, why string) error
}

// Reserver is how nodes are kept free for a job's steps to come.
type Reserver interface {
	// Reserve creates the reservation, or changes it to what is given (when it is active its start stays as it is).
	// ErrBusy: another job has the nodes, or ErrReserved: a reservation of others has; read again and plan again. The sidecar's own
	// reservations may overlap: its plan keeps their jobs apart.
	Reserve(ctx context.Context, r Reservation) error
	// Unreserve deletes a reservation; nil when there is none.
	Unreserve(ctx context.Context, name string) error
}

// Resizer is how a running job grows and shrinks.
type Resizer interface {
	// Expand allocates nodes to an expander of the running job, at once or not at all (ErrBusy), inside the
	// reservation. It returns the expander's key.
	Expand(ctx context.Context, job *Job, nodes []string, reservation string) (Key, error)
	// Merge moves the expander's nodes into its running parent. ErrGone when the parent does not run any more: then
	// nothing was merged and the expander is still there.
	Merge(ctx context.Context, job, expander Key) error
	// Shrink leaves the running job with exactly the nodes to keep. Expand gets none of the others for the job in the same second.
	Shrink(ctx context.Context, job Key, keep []string) error
}

// JobMessenger talks to the application of a running job.
type JobMessenger interface {
	// Speaks says whether a running job's script asks for its next step itself (`accordion step`).
	Speaks(ctx context.Context, job Key) (bool, error)
	// Signal sends a signal ("B:URG": to the batch script only; "USR1": to all steps) to a running job.
	Signal(ctx context.Context, job Key, signal string) error
	// Tell writes a line for its user into a running job's output, where that is possible.
	Tell(ctx context.Context, job Key, text string) error
	// Publish writes text as the job's hosts file on its batch host, as its user and atomically.
	// The text lists job.Nodes, the batch host first. Before a shrink they are fewer than the job
	// holds. Publish returns the path of the file where another user has the usual folder, so that
	// the file is elsewhere; else "".
	Publish(ctx context.Context, job *Job, text string) (elsewhere string, err error)
}

// NodeRepairer corrects what a batch system wrongly believes about its nodes.
type NodeRepairer interface {
	// Repair makes the batch system look afresh at nodes that it shows as idle and still will not allocate, or as in use
	// while no job holds them. It changes nothing about a node that is well.
	Repair(ctx context.Context, nodes []string) error
}

// PowerManager is a BatchSystem whose nodes may be powered down while they are idle.
type PowerManager interface {
	// Wake has nodes boot that are powered down.
	Wake(ctx context.Context, nodes []string) error
	// BootTime is how many seconds that may take; 0 where no node is ever powered down.
	BootTime() core.Time
}

// Gatekeeper is a BatchSystem that may leave to the sidecar when jobs begin that ask nothing of it (Job.Rigid). Those wait before its gate:
// nobody starts them. One that is let in is in the batch system's own queue, an ordinary job from then on.
type Gatekeeper interface {
	// LetIn lets a job in, which is planned to begin in so many seconds, before all that nobody lets in. Those that are to begin now (0) come
	// first; of the others, who is let in first.
	LetIn(ctx context.Context, job Key, ahead core.Time) error
	// KeepOut takes a job that waits out of the batch system's queue.
	KeepOut(ctx context.Context, job Key) error
	// Open says whether jobs that are submitted from now on pass the gate: nobody waits, so that nobody can be overtaken.
	Open(ctx context.Context, open bool) error
}

// JobSubmitter is a BatchSystem that makes the batch jobs for parts of applications itself: no launcher submits them.
type JobSubmitter interface {
	// Make makes a job of the user for a part of the application: held and marked launch=APPLICATION, without a comment, of so
	// many hosts, and with a limit in seconds. It runs until that, or until it is ended. Where such a job of the application and
	// the user waits already, it is that one.
	Make(ctx context.Context, application int64, user string, hosts int, limit core.Time) (Key, error)
}

// Ager is a BatchSystem that counts the age of a job that waits for the sidecar from the second
// since which it could have run. It does not remember that second. It returns it with each reading
// (Job.CouldRun), and forgets it when the sidecar ends.
type Ager interface {
	// Recall sets the last known second of a job, from before an earlier sidecar ended. It is
	// called before the first reading.
	Recall(job Key, since core.Time)
}

// Errors that a BatchSystem returns (wrapped in one that says what was being done to what).
var (
	// ErrBusy: the nodes are not free. Nothing was done; read again and plan again.
	ErrBusy = errors.New("nodes are busy")
	// ErrReserved is an ErrBusy: a reservation of others is in the way, which does not go away in a moment.
	ErrReserved = fmt.Errorf("%w: they are reserved for others", ErrBusy)
	// ErrGone: the job does not exist any more, or is not in the state the action needs.
	ErrGone = errors.New("job is gone")
	// ErrTrap: the batch system would resize wrongly now (Slurm without slurmdbd); try later.
	ErrTrap = errors.New("resizing is not possible now")
	// ErrLimit: a limit of the site does not allow it now, or never. Nothing was done.
	ErrLimit = errors.New("a limit of the site does not allow it")
	// ErrShut: the batch system starts nothing in the job's partition or queue, whatever nodes are free. Nothing was done.
	ErrShut = errors.New("the partition takes no jobs now")
	// ErrFrozen: the batch system does not change this job now, and perhaps never again (Slurm, while it waits for the
	// job's number in the database); other jobs may be changed. With ErrTrap as well: as long as that lasts.
	ErrFrozen = errors.New("the job cannot be changed now")
)

// ChangeNotifier is a BatchSystem that says when something may have changed, so that it is not read for nothing.
type ChangeNotifier interface {
	// Changes gives the one channel that has a message soon after a job was submitted, began or ended, or a node came or went.
	// One message may stand for several changes, and none is promised: the batch system is read in its rhythm all the same.
	Changes() <-chan struct{}
}

// RateLimiter is a BatchSystem that bounds how many calls of it are made in a minute, and shares them
// among users (adapter/fair).
type RateLimiter interface {
	// Admit waits until there is room for the verb ("observe", or an intent's) and keeps it for the calls that are made
	// with the context it returns, until done is called. Acts come before readings. It fails only when ctx ends.
	Admit(ctx context.Context, verb string) (admitted context.Context, done func(), err error)
	// TryAdmit admits all of the verbs, as Admit does, without waiting. When there is no room,
	// later is the time after which there may be some. why is what is missing, as explain shows it.
	TryAdmit(ctx context.Context, verbs ...string) (admitted context.Context, done func(), later time.Duration, why string)
}

// A Lengthener is a batch system that can extend the limit of a running job.
type Lengthener interface {
	// Lengthen asks that a running job may run for limit seconds in all. The batch system decides,
	// and a later reading shows the result.
	Lengthen(ctx context.Context, job Key, limit core.Time) error
}

// A ProgramReader is a batch system through which jobs start their programs (srun in Slurm). No
// program starts while it does not answer.
type ProgramReader interface {
	// Programs reads the programs of a running job. ErrGone where the job does not run any more.
	Programs(ctx context.Context, job Key) (Programs, error)
}

// Programs are what a running job has started through the batch system.
type Programs struct {
	Begun []core.Time // Unix seconds at which those that still run began
	Waits bool        // at least one waits to begin
}
