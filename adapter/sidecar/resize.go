package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/shim/wire"
)

// atOnce is how many resizes may be under way: the batch system does them one after the other anyway
// (facts/slurm.md, 2), and more of them only wait there instead of here.
const atOnce = 2

// endAgain is the pause before a job that was told to end and still runs is told again.
const endAgain = 40 * time.Second

// decideRunning resizes a job whose planned second has come and whose application stands at the end of its step; an
// application that is late for longer than its allowance is ended.
func (s *Sidecar) decideRunning(ctx context.Context, v *sight, r *record) error {
	r.blocked = ""
	if r.Attached {
		s.begin(ctx, r, "detach", func(ctx context.Context, a *acting) error {
			return a.do(ctx, "detach", nil, func(ctx context.Context) error { return s.system.Detach(ctx, r.Key) })
		}, func() error { r.Attached = false; return s.save(r) })
		return nil
	}
	s.hang(r)
	late := v.now - r.due()
	r.late = late > 0 && (r.final() || r.ask == nil && r.Voice != silent)
	if spoken, err := s.speak(ctx, v, r); spoken || err != nil {
		return err
	}
	if r.Again != nil && (r.ask == nil || late < 0) {
		return s.again(ctx, v, r)
	}
	switch {
	case r.late:
		return s.overdue(ctx, v, r, late)
	case r.final() || r.ask == nil && r.Voice != silent:
		return nil
	case late < 0 && r.Voice == silent:
		return nil
	case late < 0:
		r.blocked = fmt.Sprintf("step %d is over; the next is planned for %s", r.Step+1, seconds(r.due()).Format(time.TimeOnly))
		return nil
	case s.resizes >= atOnce || s.clock.Now().Before(s.trapped):
		r.blocked = "other resizes come first"
		return nil
	}
	return s.resize(ctx, v, r)
}

// resize begins the next step of a job that stands at the end of the one before.
func (s *Sidecar) resize(ctx context.Context, v *sight, r *record) error {
	next, have := r.ep()[r.Step+1].Nodes, len(r.Nodes)
	switch {
	case next < have:
		keep := r.kept(next)
		if len(keep) > next {
			s.notice(r.Key, fmt.Sprintf("keeps %d nodes instead of %d: the batch system takes %s for the node that runs its script, and %s is it",
				len(keep), next, r.seen.Nodes[0], r.Nodes[0]))
		}
		return s.shrink(ctx, r, keep)
	case next == have: // it lost nodes before
		r.Target = r.Step + 1
		return s.resized(r, nil)
	}
	if !r.seen.MostNow.Allows(next) {
		r.blocked = r.seen.MostNow.Why
		r.hinder(limit, v.now)
		return nil
	}
	add := r.course.added(r.Step + 1)
	if r.course.err != nil || len(add) != next-have {
		r.blocked = "nodes for its next step"
		r.hinder(system, v.now)
		return nil
	}
	if free, who := v.free(add); !free {
		r.blocked = who.String()
		r.hinder(who.kind, v.now)
		if who.kind == managed {
			v.awaited[who.job] = true
		}
		return nil
	}
	if s.anyAsleep(add) {
		r.blocked = booting
		r.hinder(boots, v.now)
		return nil
	}
	if r.parted.has(add, v.now) {
		r.blocked = "nodes that it gave back in this very second"
		r.hinder(system, v.now)
		r.retry = seconds(v.now + 1)
		return nil
	}
	if s.tendingNow(r.reservation(r.Step + 1)) {
		return nil
	}
	return s.grow(ctx, v, r, add)
}

// grow allocates nodes to an expander inside the step's reservation and merges them into the job.
func (s *Sidecar) grow(ctx context.Context, v *sight, r *record, add []string) error {
	if err := s.aim(r, append(slices.Clone(r.Nodes), add...)); err != nil {
		return err
	}
	if r.ready.IsZero() {
		r.ready = s.clock.Now()
	}
	want := adapter.Reservation{Name: r.reservation(r.Target), Nodes: add, Start: v.now, End: v.now + expiry, User: r.User}
	have, there := s.reserved(want.Name)
	there = there && have.Start <= v.now && have.End > v.now+expiry/4 && sameNodes(have.Nodes, add)
	job := *r.seen
	job.Nodes = slices.Clone(r.Nodes)
	s.take(want)
	v.take(add, r.ID)
	var parts []adapter.Part
	s.begin(ctx, r, "resize", func(ctx context.Context, a *acting) (err error) {
		if !there {
			err := a.do(ctx, "reserve", reserveArgs(want), func(ctx context.Context) error { return s.system.Reserve(ctx, want) })
			if err != nil {
				return err
			}
		}
		parts, err = a.growBy(ctx, &job, add, want.Name)
		return err
	}, func() error {
		r.Nodes, r.parts = r.next, parts
		return s.resized(r, nil)
	})
	return nil
}

// growBy allocates and merges, and says of which allocations the job is then. When it is not clear whether the merge was done, the
// job's size decides.
func (a *acting) growBy(ctx context.Context, job *adapter.Job, add []string, reservation string) ([]adapter.Part, error) {
	system := a.s.system
	var expander adapter.Key
	err := a.do(ctx, "expand", map[string]any{"nodes": names(add), "reservation": reservation}, func(ctx context.Context) (err error) {
		expander, err = system.Expand(ctx, job, add, reservation)
		return err
	})
	if err != nil {
		return nil, err
	}
	var parts []adapter.Part
	err = a.do(ctx, "merge", map[string]any{"expander": expander.ID}, func(ctx context.Context) (err error) {
		if err = system.Merge(ctx, job.Key, expander); err == nil {
			parts, err = a.verify(ctx, job.Key, len(job.Nodes)+len(add))
		}
		return err
	})
	if err == nil {
		return parts, nil
	}
	if !errors.Is(err, adapter.ErrGone) {
		if parts, lost := a.verify(ctx, job.Key, len(job.Nodes)+len(add)); lost == nil {
			return parts, nil // the answer was lost, not the merge
		}
	}
	ended := a.do(ctx, "end", map[string]any{"expander": expander.ID, "why": "merge failed"}, func(ctx context.Context) error {
		return system.End(ctx, expander, "merge failed")
	})
	return nil, errors.Join(err, ended)
}

// verify reads the job back, which must run on so many nodes, and says of which allocations it is.
func (a *acting) verify(ctx context.Context, job adapter.Key, nodes int) ([]adapter.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, a.s.settings.Deadline)
	defer cancel()
	now, err := a.s.system.Inspect(ctx, job)
	if err != nil {
		return nil, err
	}
	if now.State != adapter.Running || len(now.Nodes) != nodes {
		return nil, fmt.Errorf("job %d is %s on %d nodes after the resize, not running on %d: %w", job.ID, now.State, len(now.Nodes), nodes, adapter.ErrGone)
	}
	return now.Parts, nil
}

// kept is the nodes that stay when the job shrinks to so many: those that its application wants most, the one that runs
// its script first. A batch system may take another for that one, and then lets that go no more: slurmctld, when it is
// started again or reads its configuration again, names the first node of the job, though the job began on a later one
// and grew by it. Giving back the true one would end the script. So both stay, if need be as one node too many.
func (r *record) kept(next int) []string {
	keep := slices.Clone(r.Nodes[:next])
	if len(r.seen.Nodes) == 0 {
		return keep
	}
	claimed := r.seen.Nodes[0]
	switch {
	case slices.Contains(keep, claimed) || !slices.Contains(r.Nodes, claimed):
		return keep
	case next == 1:
		return append(keep, claimed)
	}
	keep[next-1] = claimed
	return keep
}

// stays is the job's nodes that it can never give back, the one that runs its script first.
func (r *record) stays() []string {
	stays := []string{r.Nodes[0]}
	if r.seen == nil {
		return stays
	}
	for _, n := range r.seen.Nodes[:min(r.seen.Base, len(r.seen.Nodes))] {
		if n != stays[0] && slices.Contains(r.Nodes, n) {
			stays = append(stays, n)
		}
	}
	return stays
}

// shrink leaves the job with the nodes to keep.
func (s *Sidecar) shrink(ctx context.Context, r *record, keep []string) error {
	if err := s.aim(r, keep); err != nil {
		return err
	}
	var parts []adapter.Part
	s.begin(ctx, r, "resize", func(ctx context.Context, a *acting) (err error) {
		parts, err = a.shrinkTo(ctx, r.Key, keep)
		return err
	}, func() error {
		s.hold(r, keep)
		r.parts = parts
		s.shrunk = s.begun
		return s.resized(r, nil)
	})
	return nil
}

// shrinkTo leaves the job with the nodes to keep, verifies it, and says of which allocations the job is then.
func (a *acting) shrinkTo(ctx context.Context, job adapter.Key, keep []string) (parts []adapter.Part, err error) {
	err = a.do(ctx, "shrink", map[string]any{"keep": names(keep)}, func(ctx context.Context) (err error) {
		if err = a.s.system.Shrink(ctx, job, keep); err == nil {
			parts, err = a.verify(ctx, job, len(keep))
		}
		return err
	})
	return parts, err
}

// aim writes down which step a resize leads to, and to which nodes, before it is begun.
func (s *Sidecar) aim(r *record, next []string) error {
	r.Target, r.next = r.Step+1, next
	r.Before, r.Again = slices.Clone(r.Nodes), nil
	s.resizes++
	return s.save(r)
}

// resized makes the next step the present one, and lets the application go on.
func (s *Sidecar) resized(r *record, fields map[string]any) error {
	now := s.clock.Now()
	due, meant, before := r.due(), r.Meant, r.ep()[r.Step].Nodes
	if fields == nil {
		fields = map[string]any{}
	}
	fields["planned"], fields["usable"], fields["nodes"], fields["step"] = meant, float64(now.UnixMilli())/1000, names(r.Nodes), r.Target+1
	fields["lateness"] = now.Sub(seconds(meant)).Seconds()
	if r.obstacle != nobody {
		fields["cause"] = string(r.obstacle)
	}
	if !r.ready.IsZero() {
		fields["ready"] = float64(r.ready.UnixMilli()) / 1000
	}
	cause := r.obstacle
	if r.ask != nil {
		if fields["asked"] = float64(r.ask.at.UnixMilli()) / 1000; r.ask.at.Unix() > meant+tolerance {
			cause = tardy
		}
		r.Overran += max(0, r.ask.at.Unix()-due)
	}
	why := s.because(r, meant, now.Unix())
	if now.Unix() > due {
		if r.hindrance = cause; cause == nobody {
			r.hindrance = system
		}
	}
	r.goOn(now.Unix())
	r.next = nil
	r.Meant, r.Warned, r.Noticed = r.due(), 0, false
	r.Resizes++
	r.Resized = now.Unix()
	r.obstacle, r.ready = nobody, time.Time{}
	if err := s.save(r); err != nil {
		return err
	}
	s.answer(r, wire.Resized, why)
	kind, text := "grew", fmt.Sprintf("from %d to %d nodes", before, len(r.Nodes))
	if why != "" {
		text += "; " + why
	}
	if len(r.Nodes) < before {
		kind = "shrank"
	}
	if len(r.Nodes) > before {
		s.meter.Grew(now.Sub(seconds(meant)), string(cause))
	}
	return s.event(r, kind, text, fields)
}
