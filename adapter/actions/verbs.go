package actions

import (
	"context"
	"errors"

	"accordion/adapter"
	"accordion/adapter/fair"
	"accordion/core"
)

// Adopt marks a pending job as the sidecar's, and holds it.
func (a *Caller) Adopt(ctx context.Context, job adapter.Key) error {
	return a.do(fair.As(ctx, fair.Accepting), job, "adopt", nil, func(ctx context.Context) error { return a.System.Adopt(ctx, job) })
}

// refuse ends a pending job that can never run.
func (a *Caller) refuse(ctx context.Context, job adapter.Key, why string) error {
	return a.do(fair.As(ctx, fair.Accepting), job, "refuse", map[string]any{"why": why}, func(ctx context.Context) error { return a.System.Refuse(ctx, job, why) })
}

// Reserve makes or changes a reservation for the job.
func (a *Caller) Reserve(ctx context.Context, job adapter.Key, r adapter.Reservation) error {
	args := map[string]any{
		"reservation": r.Name, "nodes": names(r.Nodes), "start": r.Start, "end": r.End, "user": r.User, "over_managed": r.OverManaged, "idle": r.Idle,
	}
	return a.do(ctx, job, "reserve", args, func(ctx context.Context) error { return a.System.Reserve(ctx, r) })
}

// Unreserve deletes the job's reservation.
func (a *Caller) Unreserve(ctx context.Context, job adapter.Key, name string) error {
	return a.do(ctx, job, "unreserve", map[string]any{"reservation": name}, func(ctx context.Context) error { return a.System.Unreserve(ctx, name) })
}

// Prepare reserves nodes for a waiting job, and gives it its size and limit. It does not attach the
// job to the reservation.
func (a *Caller) Prepare(ctx context.Context, job adapter.Key, r adapter.Reservation, shape adapter.Shape) error {
	if err := a.Reserve(ctx, job, r); err != nil {
		return err
	}
	args := map[string]any{"nodes": shape.Nodes, "limit": shape.Limit}
	return a.do(ctx, job, "shape", args, func(ctx context.Context) error { return a.System.Shape(ctx, job, shape) })
}

// Launch starts a prepared job: it attaches the job to its reservation and releases the job.
func (a *Caller) Launch(ctx context.Context, job adapter.Key, reservation string) error {
	args := map[string]any{"reservation": reservation}
	if err := a.do(ctx, job, "attach", args, func(ctx context.Context) error { return a.System.Attach(ctx, job, reservation) }); err != nil {
		return err
	}
	return a.do(ctx, job, "release", nil, func(ctx context.Context) error { return a.System.Release(ctx, job) })
}

// Make submits the batch job of an application's part. The job is held.
func (a *Caller) Make(ctx context.Context, maker adapter.JobSubmitter, application int64, user string, hosts int, limit core.Time) (job adapter.Key, err error) {
	args := map[string]any{"application": application, "user": user, "nodes": hosts, "limit": limit}
	err = a.do(ctx, adapter.Key{}, "make", args, func(ctx context.Context) (err error) {
		job, err = maker.Make(ctx, application, user, hosts, limit)
		return err
	})
	return job, err
}

// letIn moves a rigid job into the batch system's queue. The plan starts the job `ahead` seconds
// from now.
func (a *Caller) letIn(ctx context.Context, job adapter.Key, ahead core.Time) error {
	gate, ok := a.System.(adapter.Gatekeeper)
	if !ok {
		return errNoGate
	}
	return a.do(ctx, job, "let in", map[string]any{"ahead": ahead}, func(ctx context.Context) error { return gate.LetIn(ctx, job, ahead) })
}

// keepOut removes a rigid job from the batch system's queue.
func (a *Caller) keepOut(ctx context.Context, job adapter.Key) error {
	gate, ok := a.System.(adapter.Gatekeeper)
	if !ok {
		return errNoGate
	}
	return a.do(ctx, job, "keep out", nil, func(ctx context.Context) error { return gate.KeepOut(ctx, job) })
}

var errNoGate = errors.New("this batch system keeps no job before a gate")

// Open opens or closes the gate. While the gate is open, new jobs start without the sidecar.
func (a *Caller) Open(ctx context.Context, gate adapter.Gatekeeper, open bool) error {
	args := map[string]any{"open": open}
	return a.do(ctx, adapter.Key{}, "gate", args, func(ctx context.Context) error { return gate.Open(ctx, open) })
}

// Hold puts a hold on a released job that has not started yet.
func (a *Caller) Hold(ctx context.Context, job adapter.Key) error {
	return a.do(ctx, job, "hold", nil, func(ctx context.Context) error { return a.System.Hold(ctx, job) })
}

// Detach detaches a running job from its reservation.
func (a *Caller) Detach(ctx context.Context, job adapter.Key) error {
	return a.do(ctx, job, "detach", nil, func(ctx context.Context) error { return a.System.Detach(ctx, job) })
}

// End ends a job for a reason that its user can read.
func (a *Caller) End(ctx context.Context, job adapter.Key, why string) error {
	return a.do(ctx, job, "end", map[string]any{"why": why}, func(ctx context.Context) error { return a.System.End(ctx, job, why) })
}

// speaks reports whether the job's script calls `accordion step`. The call changes nothing, and is
// not written into the journal.
func (a *Caller) speaks(ctx context.Context, job adapter.Key) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Deadline)
	defer cancel()
	return a.System.Speaks(ctx, job)
}

// signal sends the job a signal.
func (a *Caller) signal(ctx context.Context, job adapter.Key, signal string) error {
	return a.do(ctx, job, "signal", map[string]any{"signal": signal}, func(ctx context.Context) error { return a.System.Signal(ctx, job, signal) })
}

// tell writes a line into the job's output. A failure is only written into the journal. The only
// error that tell returns is a JournalError.
func (a *Caller) tell(ctx context.Context, job adapter.Key, text string) error {
	err := a.do(ctx, job, "tell", map[string]any{"text": text}, func(ctx context.Context) error { return a.System.Tell(ctx, job, text) })
	if Broken(err) == nil {
		return nil
	}
	return err
}

// lengthen requests a longer limit, if the batch system has limits that can be raised. A refusal is
// only written into the journal.
func (a *Caller) lengthen(ctx context.Context, job adapter.Key, limit core.Time) error {
	system, may := a.System.(adapter.Lengthener)
	if !may {
		return nil
	}
	err := a.do(ctx, job, "lengthen", map[string]any{"limit": limit}, func(ctx context.Context) error { return system.Lengthen(ctx, job, limit) })
	if Broken(err) == nil {
		return nil
	}
	return err
}

// publish writes the job's hosts file. `generation` and `nodes` are the generation and the nodes in
// the text. `elsewhere` is the file's path if it is not the usual path.
func (a *Caller) publish(ctx context.Context, job *adapter.Job, text string, generation int, nodes []string) (elsewhere string, err error) {
	args := map[string]any{"generation": generation, "nodes": names(nodes)}
	err = a.do(ctx, job.Key, "publish", args, func(ctx context.Context) (err error) {
		elsewhere, err = a.System.Publish(ctx, job, text)
		return err
	})
	return elsewhere, err
}

// Repair makes the batch system read the state of nodes again.
func (a *Caller) Repair(ctx context.Context, nodes []string) error {
	return a.do(ctx, adapter.Key{}, "nudge", map[string]any{"nodes": names(nodes)}, func(ctx context.Context) error { return a.System.Repair(ctx, nodes) })
}

// Wake boots nodes that are powered down.
func (a *Caller) Wake(ctx context.Context, waker adapter.PowerManager, nodes []string) error {
	return a.do(ctx, adapter.Key{}, "wake", map[string]any{"nodes": names(nodes)}, func(ctx context.Context) error { return waker.Wake(ctx, nodes) })
}

// programs returns the programs that a running job runs. It returns nil if the batch system cannot
// report them. The call changes nothing, and is not written into the journal.
func (a *Caller) programs(ctx context.Context, job adapter.Key) *adapter.Programs {
	system, may := a.System.(adapter.ProgramReader)
	if !may {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.Deadline)
	defer cancel()
	p, err := system.Programs(ctx, job)
	if err != nil {
		return nil
	}
	return &p
}
