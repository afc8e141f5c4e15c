package decide

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// reclaim is for how many seconds the nodes of a growth are waited for that the batch system forgot.
const reclaim core.Time = 60

// again does a resize again that the batch system forgot when it lost its last seconds.
func (s Situation) again(r *managed.Job) Decision {
	key, target := r.Key, slices.Clone(r.Again)
	add := slices.DeleteFunc(slices.Clone(target), func(n string) bool { return contains(r.Nodes, n) })
	switch {
	case s.Now.Before(s.Trapped):
		return Decision{Waits: OthersFirst}
	case len(target) < len(r.Nodes):
		return redo(r, target, []string{"shrink"}, func(ctx context.Context, a *actions.Acts) ([]adapter.Part, error) {
			return a.ShrinkTo(ctx, key, target)
		})
	case s.World.Now > r.Since+reclaim+s.Outages.Within(r.Since, s.World.Now) || s.lost(add) != nil:
		return Decision{
			Change: func(r *managed.Job) { r.Again = nil; r.Lack(add) },
			Events: []Event{{"changed", fmt.Sprintf("goes on with %d nodes: those that it had are not free", len(r.Nodes)), nil}},
		}
	case !s.idle(add) || r.Returned.Has(add, s.World.Now):
		return Decision{Waits: "nodes that the batch system took from it when it lost its last seconds"}
	case s.Tending(r.Reservation(r.Step)):
		return Decision{}
	}
	reservation := adapter.Reservation{Name: r.Reservation(r.Step), Nodes: add, Start: s.World.Now, End: s.World.Now + plan.Expiry, User: r.User}
	job := *r.Seen
	job.Nodes = slices.Clone(r.Nodes)
	d := redo(r, target, []string{"reserve", "expand", "merge"}, func(ctx context.Context, a *actions.Acts) ([]adapter.Part, error) {
		if err := a.Reserve(ctx, key, reservation); err != nil {
			return nil, err
		}
		return a.GrowBy(ctx, &job, add, reservation.Name)
	})
	d.Reserves = &reservation
	return d
}

// redo is a resize that leads to no other step.
func redo(r *managed.Job, target, uses []string, work func(context.Context, *actions.Acts) ([]adapter.Part, error)) Decision {
	var parts []adapter.Part
	return Decision{Do: &Operation{
		Verb: "resize", Resize: true, Uses: uses, Shrink: len(target) < len(r.Nodes),
		Acts: func(ctx context.Context, a *actions.Acts) (err error) {
			parts, err = work(ctx, a)
			return err
		},
		Done: func(now time.Time) Outcome {
			r.Hold(target, now.Unix())
			r.Parts = parts
			r.Again, r.Resized = nil, now.Unix()
			return Outcome{Save: true, Events: []Event{{"resized", fmt.Sprintf("to %d nodes again", len(target)), map[string]any{"nodes": nodesOf(target)}}}}
		},
	}}
}

// idle says whether the batch system shows all of the nodes as idle.
func (s Situation) idle(nodes []string) bool {
	idle := 0
	for _, n := range s.World.Snapshot.Nodes {
		if n.Idle && n.Usable && contains(nodes, n.Name) {
			idle++
		}
	}
	return idle == len(nodes)
}
