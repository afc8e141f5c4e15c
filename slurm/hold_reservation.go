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

// A holdReservation keeps the jobs of a cluster waiting for the sidecar. A waiting job is parked: it is tied to a
// reservation in the far future instead of held. It keeps the rank that the site gives it (fair share, QOS,
// partition, size), which a held job loses, and does not delay other jobs. A managed job starts when it is tied to a
// reservation that has begun. In a partition with manage = "all", rigid jobs wait, too: the plug-in ties them at
// submission to another reservation, the gate. A job that is let in becomes an ordinary job.
//
// Its methods may be called from several goroutines.
type holdReservation struct{ cluster *cluster.Cluster }

var _ adapter.Gatekeeper = (*holdReservation)(nil)

// newHoldReservation returns a holdReservation for the cluster.
func newHoldReservation(c *cluster.Cluster) *holdReservation { return &holdReservation{c} }

// Park ties a pending job to the reservation of managed jobs, which it creates when needed, and removes the job's
// hold.
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

// ParkHeld ties a pending job to the reservation of managed jobs, and leaves a hold by its owner or an operator in
// place.
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

// parkedAhead is how many days ahead a reservation for waiting jobs starts. That is more than a year, because Slurm
// assumes that a job without a time limit runs for a year.
const parkedAhead = 3650

// make creates a reservation in which the jobs of every user may wait. It returns nil if the reservation exists.
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
		if err == nil || client.Refused(err, client.ReservationExists) { // another action has just created it
			return nil
		}
		return fmt.Errorf("reservation %s, where jobs wait: %w", name, err)
	}
	return fmt.Errorf("reservation %s: partition %s has no nodes", name, strings.Join(w.cluster.Pool, ", "))
}

// firstPriority is the priority of a job that is let in and should start now. It is above the priorities that Slurm
// assigns, also under priority/basic, and below the priority of an expander. A job that is let in ahead of its
// planned start gets a lower priority. If two such jobs are let in, the later one gets the lower priority, so that
// it does not overtake the other. After priorityRound seconds the priorities start again from the top.
const (
	firstPriority = 4294960000
	priorityRound = 50000
)

// priority returns the priority of a job that is let in now, the given time ahead of its start.
func priority(ahead core.Time, now time.Time) int64 {
	if ahead <= 0 {
		return firstPriority
	}
	return firstPriority - 1 - now.Unix()%priorityRound
}

// LetIn implements adapter.Gatekeeper. The job also gets the plan's priority, because Slurm's scheduler stops at
// the first job that it cannot start.
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

// openDuration is how long the gate may stay open without a renewal. It may be long, because every change of the
// gate is written immediately, and because the plug-in sends no job to the gate while no sidecar runs.
const openDuration = 10 * 365 * 24 * time.Hour

// Open implements adapter.Gatekeeper. While the reservation output.Open exists, the plug-in lets new jobs pass.
func (w *holdReservation) Open(ctx context.Context, open bool) error {
	if err := w.make(ctx, output.Gate); err != nil {
		return err
	}
	var err error
	if open {
		now := time.Now()
		err = w.cluster.Run.Scontrol(ctx, "create", "reservation", "ReservationName="+output.Open, fmt.Sprintf("StartTime=uts%d", now.Unix()),
			fmt.Sprintf("EndTime=uts%d", now.Add(openDuration).Unix()), "Users=root", "Flags=ANY_NODES", "BurstBuffer=open")
		if client.Refused(err, client.ReservationExists) {
			err = nil
		}
	} else if err = w.cluster.Run.Scontrol(ctx, "delete", "ReservationName="+output.Open); client.Refused(err, client.ReservationInvalid) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("reservation %s, which lets jobs pass: %w", output.Open, err)
	}
	return w.show(ctx, open)
}

// show writes the state of the gate into the gate's own reservation, one second after the change itself. The
// plug-in refreshes its copy of the reservations only when their last change is in a later second than the copy.
// Without the delay, the plug-in would miss a second change within one second, and a change after a refresh in the
// same second.
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
		return fmt.Errorf("reservation %s, where rigid jobs wait: %w", output.Gate, err)
	}
	return nil
}

// Dismantle deletes the reservations in which no job waits. It returns the names of the deleted reservations, and
// of the reservations in which jobs still wait.
func (w *holdReservation) Dismantle(ctx context.Context) (deleted, used []string, err error) {
	var failed []error
	for _, name := range []string{output.Open, output.Left, output.Gate, output.Park} {
		switch err := w.cluster.Run.Scontrol(ctx, "delete", "ReservationName="+name); {
		case err == nil:
			deleted = append(deleted, name)
		case client.Refused(err, client.ReservationInUse):
			used = append(used, name)
		case !client.Refused(err, client.ReservationInvalid):
			failed = append(failed, fmt.Errorf("deleting reservation %s: %w", name, err))
		}
	}
	return deleted, used, errors.Join(failed...)
}

// HandBack returns the jobs that wait at the gate to Slurm, unchanged and with the rank that the site gives them.
// It returns the number of these jobs.
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
