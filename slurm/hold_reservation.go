package slurm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/cluster"
	"accordion/slurm/output"
)

// A holdReservation is where jobs of a cluster wait for the sidecar: parked, that is tied to a reservation in the far future instead of
// held. So a job keeps the rank that the site gives it (fair share, QOS, partition, size), which a held job loses, and it keeps no
// other job back. A managed job starts when it is tied to a reservation that has begun. Where a partition is only Accordion's,
// rigid jobs wait before a gate, too: the plug-in ties them to it at submission. A job that is let in is an ordinary job.
//
// Its methods may be called from several goroutines.
type holdReservation struct{ cluster *cluster.Cluster }

var _ adapter.Gatekeeper = (*holdReservation)(nil)

// newHoldReservation returns the reservations of a cluster in which jobs wait.
func newHoldReservation(c *cluster.Cluster) *holdReservation { return &holdReservation{c} }

// Park ties a pending job to the reservation of managed jobs, which is made when it is not there, and takes away its hold.
func (w *holdReservation) Park(ctx context.Context, r *output.Record) error {
	if !r.Parked() {
		if err := w.tie(ctx, r.Key, output.Park); err != nil {
			return err
		}
	}
	if r.Stopped() {
		return w.cluster.Command(ctx, r.Key, "release")
	}
	return nil
}

// ParkHeld ties a pending job to the reservation of managed jobs, and leaves a hold of others as it is.
func (w *holdReservation) ParkHeld(ctx context.Context, r *output.Record) error {
	if r.Parked() {
		return nil
	}
	return w.tie(ctx, r.Key, output.Park)
}

// tie ties a pending job to a reservation in which jobs wait.
func (w *holdReservation) tie(ctx context.Context, job adapter.Key, name string) error {
	err := w.cluster.Update(ctx, job, "ReservationName="+name)
	if !client.Refused(err, client.ReservationInvalid) {
		return err
	}
	if err := w.make(ctx, name); err != nil {
		return err
	}
	return w.cluster.Update(ctx, job, "ReservationName="+name)
}

// parkedAhead is how far such a reservation lies ahead, in days. Slurm takes a job without a limit to last for a year.
const parkedAhead = 3650

// make makes a reservation in which everybody's jobs may wait; nil where it is there.
func (w *holdReservation) make(ctx context.Context, name string) error {
	in, err := w.cluster.Ground(ctx)
	if err != nil {
		return err
	}
	pool, err := output.PoolNodes(in, w.cluster.Pool)
	if err != nil {
		return err
	}
	for _, n := range in.Nodes {
		if !pool[n.Name] {
			continue
		}
		err := w.cluster.Run.Scontrol(ctx, "create", "reservation", "ReservationName="+name, fmt.Sprintf("StartTime=now+%ddays", parkedAhead),
			"Duration=1", "Nodes="+n.Name, "Users=-root", "Flags=OVERLAP,IGNORE_JOBS")
		if err == nil || client.Refused(err, client.ReservationExists) { // another act made it just now
			return nil
		}
		return fmt.Errorf("reservation %s, in which jobs wait: %w", name, err)
	}
	return fmt.Errorf("reservation %s: partition %s has no nodes", name, strings.Join(w.cluster.Pool, ", "))
}

// firstPriority is the priority of a job that is let in and is to begin now: above those that Slurm gives, under priority/basic too, and below an
// expander's. One that is let in ahead of its time has less, the less the later it was let in: nobody overtakes it who is let in ahead of
// his time after it. That begins anew every queue seconds.
const (
	firstPriority = 4294960000
	priorityRound = 50000
)

// priority is that of a job that is let in now.
func priority(ahead core.Time, now time.Time) int64 {
	if ahead <= 0 {
		return firstPriority
	}
	return firstPriority - 1 - now.Unix()%priorityRound
}

// LetIn implements adapter.Gatekeeper. The job's priority is the plan's from then on: Slurm looks at nobody behind one that it cannot start.
func (w *holdReservation) LetIn(ctx context.Context, job adapter.Key, ahead core.Time) error {
	r, err := w.cluster.Jobs.Pending(ctx, job)
	switch {
	case err != nil:
		return fmt.Errorf("letting in: %w", err)
	case r.Stopped():
		return fmt.Errorf("letting job %d in: it is held (%s): %w", job.ID, r.Why, adapter.ErrGone)
	}
	if err := w.cluster.Update(ctx, job, fmt.Sprintf("Priority=%d", priority(ahead, time.Now())), "ReservationName="); err != nil {
		return fmt.Errorf("letting in: %w", err)
	}
	return nil
}

// KeepOut implements adapter.Gatekeeper.
func (w *holdReservation) KeepOut(ctx context.Context, job adapter.Key) error {
	r, err := w.cluster.Jobs.Pending(ctx, job)
	if err == nil && !r.Gated() {
		err = w.tie(ctx, job, output.Gate)
	}
	if err != nil {
		return fmt.Errorf("keeping out: %w", err)
	}
	return nil
}

// openFor is how long the gate may stay open without a word: it is told of every change, and where no sidecar lives the plug-in keeps nobody.
const openFor = 10 * 365 * 24 * time.Hour

// Open implements adapter.Gatekeeper: while a reservation of that name is there, the plug-in lets pass what is submitted.
func (w *holdReservation) Open(ctx context.Context, open bool) error {
	if err := w.make(ctx, output.Gate); err != nil {
		return err
	}
	var err error
	if open {
		now := time.Now()
		err = w.cluster.Run.Scontrol(ctx, "create", "reservation", "ReservationName="+output.Open, fmt.Sprintf("StartTime=uts%d", now.Unix()),
			fmt.Sprintf("EndTime=uts%d", now.Add(openFor).Unix()), "Users=root", "Flags=ANY_NODES", "BurstBuffer=open")
		if client.Refused(err, client.ReservationExists) {
			err = nil
		}
	} else if err = w.cluster.Run.Scontrol(ctx, "delete", "ReservationName="+output.Open); client.Refused(err, client.ReservationInvalid) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("reservation %s, by which jobs pass: %w", output.Open, err)
	}
	return w.show(ctx, open)
}

// show says at the gate itself how it stands, in a later second than that in which it was opened or closed. The plug-in's copy of the
// reservations is made anew when the second of their last change is later than that of its own: what changes twice in a second, or after a
// look in the same one, it would not see before the next change.
func (w *holdReservation) show(ctx context.Context, open bool) error {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	stands := "shut"
	if open {
		stands = "open"
	}
	if err := w.cluster.Run.Scontrol(ctx, "update", "ReservationName="+output.Gate, "BurstBuffer="+stands); err != nil {
		return fmt.Errorf("reservation %s, before which jobs wait: %w", output.Gate, err)
	}
	return nil
}

// Dismantle deletes the reservations in which no job waits. It returns the names of the deleted
// ones, and of those in which jobs wait.
func (w *holdReservation) Dismantle(ctx context.Context) (deleted, used []string, err error) {
	var failed []error
	for _, name := range []string{output.Open, output.Left, output.Gate, output.Park} {
		switch err := w.cluster.Run.Scontrol(ctx, "delete", "ReservationName="+name); {
		case err == nil:
			deleted = append(deleted, name)
		case client.Refused(err, client.ReservationInUse):
			used = append(used, name)
		case !client.Refused(err, client.ReservationInvalid):
			failed = append(failed, fmt.Errorf("delete reservation %s: %w", name, err))
		}
	}
	return deleted, used, errors.Join(failed...)
}

// HandBack gives the jobs before the gate to Slurm, as what they are and with the rank that the site gives them, and says how many there
// were.
func (w *holdReservation) HandBack(ctx context.Context) (n int, err error) {
	all, err := w.cluster.Jobs.List(ctx)
	if err != nil {
		return 0, fmt.Errorf("handing jobs back: %w", err)
	}
	var failed []error
	for i := range all {
		r := &all[i]
		if r.State != adapter.Pending || !r.Gated() {
			continue
		}
		switch err := w.cluster.Update(ctx, r.Key, "ReservationName="); {
		case errors.Is(err, adapter.ErrGone):
		case err != nil:
			failed = append(failed, fmt.Errorf("handing back: %w", err))
		default:
			n++
		}
	}
	return n, errors.Join(failed...)
}
