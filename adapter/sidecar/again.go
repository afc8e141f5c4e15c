package sidecar

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// A batch system that is killed loses its last seconds: a resize of which the application has heard may be undone. It is
// done again, on the same nodes and at once; the step goes on meanwhile.
const (
	memoryLoss           = 10 * time.Second // what a batch system may lose: Slurm saves every 5 s
	reclaim    core.Time = 60               // seconds for which the nodes of an undone growth are waited for
)

// undone says whether the job holds what it held before its last resize because the batch system forgot that one: it was
// done in the seconds before the reading after which the batch system was away.
func (s *Sidecar) undone(r *managed.Job, held []string) bool {
	return r.Again == nil && len(r.Before) > 0 && managed.SameNodes(held, r.Before) && adapter.Instant(r.Resized).After(s.before.Add(-memoryLoss))
}

// regret notes that a job's last resize is to be done again.
func (s *Sidecar) regret(r *managed.Job, held []string) error {
	nodes := managed.KeepOrder(r.Before, held)
	r.Again, r.Since = slices.Clone(r.Nodes), s.clock.Now().Unix()
	if len(r.Again) < len(held) { // those that stay are first, so that the others leave again
		nodes = managed.KeepOrder(r.Again, held)
	}
	r.Hold(nodes, s.clock.Now().Unix())
	text := fmt.Sprintf("holds %d nodes again: the batch system lost its last seconds; it will be resized to %d again", len(held), len(r.Again))
	if err := s.event(r, "forgotten", text, map[string]any{"nodes": names(held), "held": names(r.Again)}); err != nil {
		return err
	}
	return s.save(r)
}

// again does a forgotten resize again.
func (s *Sidecar) again(ctx context.Context, v *plan.World, r *managed.Job) error {
	target := slices.Clone(r.Again)
	add := slices.DeleteFunc(slices.Clone(target), func(n string) bool { return slices.Contains(r.Nodes, n) })
	switch {
	case s.resizes >= atOnce || s.clock.Now().Before(s.trapped):
		r.Blocked = "other resizes come first"
		return nil
	case len(target) < len(r.Nodes):
		s.redo(ctx, r, target, func(ctx context.Context) ([]adapter.Part, error) { return s.acts.ShrinkTo(ctx, r.Key, target) })
		return nil
	case v.Now > r.Since+reclaim:
		r.Again = nil
		return s.event(r, "changed", fmt.Sprintf("goes on with %d nodes: those that it had are not free", len(r.Nodes)), nil)
	case !s.freeAgain(add) || r.Returned.Has(add, v.Now):
		r.Blocked = "nodes that the batch system took from it when it lost its last seconds"
		return nil
	}
	reservation := adapter.Reservation{Name: r.Reservation(r.Step), Nodes: add, Start: v.Now, End: v.Now + plan.Expiry, User: r.User}
	job := *r.Seen
	job.Nodes = slices.Clone(r.Nodes)
	s.take(reservation)
	s.redo(ctx, r, target, func(ctx context.Context) ([]adapter.Part, error) {
		if err := s.acts.Reserve(ctx, job.Key, reservation); err != nil {
			return nil, err
		}
		return s.acts.GrowBy(ctx, &job, add, reservation.Name)
	})
	return nil
}

// redo is a resize that leads to no other step.
func (s *Sidecar) redo(ctx context.Context, r *managed.Job, target []string, work func(context.Context) ([]adapter.Part, error)) {
	s.resizes++
	var parts []adapter.Part
	s.begin(ctx, r, "resize", func(ctx context.Context) (err error) {
		parts, err = work(ctx)
		return err
	}, func() error {
		r.Hold(target, s.clock.Now().Unix())
		r.Parts = parts
		r.Again, r.Resized = nil, s.clock.Now().Unix()
		if err := s.save(r); err != nil {
			return err
		}
		return s.event(r, "resized", fmt.Sprintf("to %d nodes again", len(target)), map[string]any{"nodes": names(target)})
	})
}

// freeAgain says whether the batch system shows all of the nodes as idle.
func (s *Sidecar) freeAgain(nodes []string) bool {
	idle := 0
	for _, n := range s.snapshot.Nodes {
		if n.Idle && n.Usable && slices.Contains(nodes, n.Name) {
			idle++
		}
	}
	return idle == len(nodes)
}
