package sidecar

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/shim/wire"
)

// atOnce is how many resizes may be under way: the batch system does them one after the other anyway
// (facts/slurm.md, 2), and more of them only wait there instead of here.
const atOnce = 2

// endAgain is the pause before a job that was told to end and still runs is told again.
const endAgain = 40 * time.Second

// decideRunning resizes a job whose planned second has come and whose application stands at the end of its step; an
// application that is late for longer than its allowance is ended.
func (s *Sidecar) decideRunning(ctx context.Context, v *plan.World, r *managed.Job) error {
	r.Blocked = ""
	if r.Attached {
		s.begin(ctx, r, "detach", func(ctx context.Context) error { return s.acts.Detach(ctx, r.Key) }, func() error { r.Attached = false; return s.save(r) })
		return nil
	}
	r.DropQuestion(s.clock.Now())
	late := v.Now - r.Due()
	r.Late = late > 0 && (r.Final() || r.Asks == nil && r.Voice != managed.SilentVoice)
	if spoken, err := s.speak(ctx, v, r); spoken || err != nil {
		return err
	}
	if r.Again != nil && (r.Asks == nil || late < 0) {
		return s.again(ctx, v, r)
	}
	switch {
	case r.Late:
		return s.overdue(ctx, v, r, late)
	case r.Final() || r.Asks == nil && r.Voice != managed.SilentVoice:
		return nil
	case late < 0 && r.Voice == managed.SilentVoice:
		return nil
	case late < 0:
		r.Blocked = fmt.Sprintf("step %d is over; the next is planned for %s", r.Step+1, adapter.Instant(r.Due()).Format(time.TimeOnly))
		return nil
	case s.resizes >= atOnce || s.clock.Now().Before(s.trapped):
		r.Blocked = "other resizes come first"
		return nil
	}
	return s.resize(ctx, v, r)
}

// resize begins the next step of a job that stands at the end of the one before.
func (s *Sidecar) resize(ctx context.Context, v *plan.World, r *managed.Job) error {
	next, have := r.EP()[r.Step+1].Nodes, len(r.Nodes)
	switch {
	case next < have:
		keep := r.Kept(next)
		if len(keep) > next {
			s.notice(r.Key, fmt.Sprintf("keeps %d nodes instead of %d: the batch system takes %s for the node that runs its script, and %s is it",
				len(keep), next, r.Seen.Nodes[0], r.Nodes[0]))
		}
		return s.shrink(ctx, r, keep)
	case next == have: // it lost nodes before
		r.Target = r.Step + 1
		return s.resized(r, nil)
	}
	if !r.Seen.MostNow.Allows(next) {
		r.Blocked = r.Seen.MostNow.Why
		r.WaitFor(managed.SiteLimit, v.Now)
		return nil
	}
	add := r.Course.Added(r.Step + 1)
	if r.Course.Err != nil || len(add) != next-have {
		r.Blocked = "nodes for its next step"
		r.WaitFor(managed.BatchSystem, v.Now)
		return nil
	}
	if free, who := v.Free(add); !free {
		r.Blocked = who.String()
		r.WaitFor(who.Kind, v.Now)
		if who.Kind == managed.LateShrinker {
			v.Awaited[who.Job] = true
		}
		return nil
	}
	if s.anyAsleep(add) {
		r.Blocked = booting
		r.WaitFor(managed.BootingNode, v.Now)
		return nil
	}
	if r.Returned.Has(add, v.Now) {
		r.Blocked = "nodes that it gave back in this very second"
		r.WaitFor(managed.BatchSystem, v.Now)
		r.Retry = adapter.Instant(v.Now + 1)
		return nil
	}
	if s.tendingNow(r.Reservation(r.Step + 1)) {
		return nil
	}
	return s.grow(ctx, v, r, add)
}

// grow allocates nodes to an expander inside the step's reservation and merges them into the job.
func (s *Sidecar) grow(ctx context.Context, v *plan.World, r *managed.Job, add []string) error {
	if err := s.aim(r, append(slices.Clone(r.Nodes), add...)); err != nil {
		return err
	}
	if r.Ready.IsZero() {
		r.Ready = s.clock.Now()
	}
	want := adapter.Reservation{Name: r.Reservation(r.Target), Nodes: add, Start: v.Now, End: v.Now + plan.Expiry, User: r.User}
	have, there := s.reserved(want.Name)
	there = there && have.Start <= v.Now && have.End > v.Now+plan.Expiry/4 && managed.SameNodes(have.Nodes, add)
	job := *r.Seen
	job.Nodes = slices.Clone(r.Nodes)
	s.take(want)
	v.Take(add, r.ID)
	var parts []adapter.Part
	s.begin(ctx, r, "resize", func(ctx context.Context) (err error) {
		if !there {
			if err := s.acts.Reserve(ctx, job.Key, want); err != nil {
				return err
			}
		}
		parts, err = s.acts.GrowBy(ctx, &job, add, want.Name)
		return err
	}, func() error {
		r.Nodes, r.Parts = r.NextNodes, parts
		return s.resized(r, nil)
	})
	return nil
}

// shrink leaves the job with the nodes to keep.
func (s *Sidecar) shrink(ctx context.Context, r *managed.Job, keep []string) error {
	if err := s.aim(r, keep); err != nil {
		return err
	}
	var parts []adapter.Part
	s.begin(ctx, r, "resize", func(ctx context.Context) (err error) {
		parts, err = s.acts.ShrinkTo(ctx, r.Key, keep)
		return err
	}, func() error {
		r.Hold(keep, s.clock.Now().Unix())
		r.Parts = parts
		s.shrunk = s.begun
		return s.resized(r, nil)
	})
	return nil
}

// aim writes down which step a resize leads to, and to which nodes, before it is begun.
func (s *Sidecar) aim(r *managed.Job, next []string) error {
	r.Target, r.NextNodes = r.Step+1, next
	r.Before, r.Again = slices.Clone(r.Nodes), nil
	s.resizes++
	return s.save(r)
}

// resized makes the next step the present one, and lets the application go on.
func (s *Sidecar) resized(r *managed.Job, fields map[string]any) error {
	now := s.clock.Now()
	due, meant, before := r.Due(), r.Meant, r.EP()[r.Step].Nodes
	if fields == nil {
		fields = map[string]any{}
	}
	fields["planned"], fields["usable"], fields["nodes"], fields["step"] = meant, float64(now.UnixMilli())/1000, names(r.Nodes), r.Target+1
	fields["lateness"] = now.Sub(adapter.Instant(meant)).Seconds()
	if r.WaitsFor != managed.Nobody {
		fields["cause"] = string(r.WaitsFor)
	}
	if !r.Ready.IsZero() {
		fields["ready"] = float64(r.Ready.UnixMilli()) / 1000
	}
	cause := r.WaitsFor
	if r.Asks != nil {
		if fields["asked"] = float64(r.Asks.At.UnixMilli()) / 1000; r.Asks.At.Unix() > meant+managed.Tolerance {
			cause = managed.LateApplication
		}
		r.Overran += max(0, r.Asks.At.Unix()-due)
	}
	why := s.show.Because(r, meant, now.Unix())
	if now.Unix() > due {
		if r.MovedBy = cause; cause == managed.Nobody {
			r.MovedBy = managed.BatchSystem
		}
	}
	r.GoOn(now.Unix())
	r.NextNodes = nil
	r.Meant, r.Warned, r.Noticed = r.Due(), 0, false
	r.Resizes++
	r.Resized = now.Unix()
	r.WaitsFor, r.Ready = managed.Nobody, time.Time{}
	if err := s.save(r); err != nil {
		return err
	}
	r.Answer(wire.Resized, why)
	kind, text := "grew", fmt.Sprintf("from %d to %d nodes", before, len(r.Nodes))
	if why != "" {
		text += "; " + why
	}
	if len(r.Nodes) < before {
		kind = "shrank"
	}
	if len(r.Nodes) > before {
		s.meter.Grew(now.Sub(adapter.Instant(meant)), string(cause))
	}
	return s.event(r, kind, text, fields)
}
