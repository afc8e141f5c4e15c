package sidecar

import (
	"context"
	"fmt"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// abandoned is how long, in seconds, a reservation for a start lasts without its job: it must outlast the job, and yet
// not outlive a sidecar that died before it released it.
const abandoned core.Time = 60

// start lets a waiting job begin on the nodes its course names: reservation, size and limit, release. The loop sees it
// run in a later reading and unties it from the reservation then; a sidecar that dies anywhere in between leaves a
// reservation that lasts longer than the job may run.
func (s *Sidecar) start(ctx context.Context, v *plan.World, r *managed.Job) error {
	c := r.Course
	r.Phase, r.Decided, r.Choice, r.Planned, r.Began, r.Step, r.Target = managed.Starting, true, c.Choice, c.Start, 0, 0, 0
	r.Nodes, r.Attached = c.Added(0), true
	r.Promise = make([]core.Time, len(c.EP))
	r.SetPromise(c.Start, c.EP)
	if err := s.save(r); err != nil {
		return err
	}
	first := c.EP[0].Nodes
	limit := c.EP.Total() + s.settings.Margin([]core.EP{c.EP})
	reservation := adapter.Reservation{
		Name: r.Reservation(0), Nodes: r.Nodes, Start: v.Now, End: v.Now + s.settings.StartLead + limit + s.settings.Guard + plan.Expiry, User: r.User,
		Idle: abandoned,
	}
	fields := map[string]any{"nodes": names(r.Nodes), "planned": r.Planned, "ends": r.End(), "profile": c.EP.String()}
	if err := s.event(r, "starting", fmt.Sprintf("on %d nodes", first), fields); err != nil {
		return err
	}
	s.take(reservation)
	v.Take(r.Nodes, r.ID)
	s.begin(ctx, r, "start", func(ctx context.Context) error {
		return s.acts.StartOn(ctx, r.Key, reservation, adapter.Shape{Nodes: first, On: reservation.Nodes, Limit: limit})
	}, func() error { r.Released = s.clock.Now(); return nil })
	return nil
}

// patience is how long a released job may take to run, in seconds, before its start is taken back and decided anew.
const patience core.Time = 60

// decideStarting looks after a start that is decided. Where the sidecar died before the release the job is still held:
// it starts from the beginning, on nodes that are free now.
func (s *Sidecar) decideStarting(ctx context.Context, v *plan.World, r *managed.Job) error {
	if r.Seen.State != adapter.Pending {
		return nil
	}
	if r.Seen.Held {
		r.BackToQueue()
		return s.save(r)
	}
	r.Blocked = "the batch system starts it"
	if r.Seen.Why != "" && r.Seen.Why != "None" {
		r.Blocked += ": " + r.Seen.Why
	}
	if v.Now < r.Planned+patience {
		return nil
	}
	s.begin(ctx, r, "hold", func(ctx context.Context) error { return s.acts.Hold(ctx, r.Key) }, nil)
	return s.event(r, "held", "did not start in time; its start is planned anew", nil)
}

// End ends a job for a reason that its user can read.
func (s *Sidecar) End(ctx context.Context, r *managed.Job, why string) error {
	if r.Phase != managed.Ending {
		r.Phase, r.Why = managed.Ending, why
		if err := s.save(r); err != nil {
			return err
		}
		if err := s.event(r, "ending", why, nil); err != nil {
			return err
		}
	}
	s.begin(ctx, r, "end", func(ctx context.Context) error { return s.acts.End(ctx, r.Key, why) }, func() error { r.Retry = s.later(endAgain); return nil })
	return nil
}
