package decide

import (
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// reclaim is for how many seconds a job waits for the nodes of a growth that the batch system
// forgot.
const reclaim core.Time = 60

// repeatResize repeats a resize that the batch system forgot, because it was killed before it saved
// the resize.
func (s Situation) repeatResize(r *managed.Job) Decision {
	target := slices.Clone(r.NodesForgotten)
	add := slices.DeleteFunc(slices.Clone(target), func(n string) bool { return contains(r.Nodes, n) })
	op := &Operation{Verb: "resize", Resize: true, Nodes: target}
	switch {
	case s.Now.Before(s.Trapped):
		return Decision{Waits: OthersFirst}
	case len(target) < len(r.Nodes):
		op.Uses, op.Shrink = []string{"shrink"}, true
		op.Calls = []actions.Call{actions.Shrink{Job: r.Key, Keep: target}}
		return Decision{Do: op}
	case s.World.Now > r.ForgottenAt+reclaim+s.Outages.Within(r.ForgottenAt, s.World.Now) || s.lost(add) != nil:
		return Decision{
			Changes: []managed.Change{managed.ForgottenNodesLost{Nodes: add}},
			Events:  []Event{{"changed", fmt.Sprintf("goes on with %d nodes: those that it had are not free", len(r.Nodes)), nil}},
		}
	case !s.idle(add) || r.ReleasedLast.Includes(add, s.World.Now):
		return Decision{Waits: "nodes that the batch system took from it when it lost its last seconds"}
	case s.Tending(r.Reservation(r.Step)):
		return Decision{}
	}
	reservation := adapter.Reservation{Name: r.Reservation(r.Step), Nodes: add, Start: s.World.Now, End: s.World.Now + plan.Expiry, User: r.User}
	job := *r.Seen
	job.Nodes = slices.Clone(r.Nodes)
	op.Uses = []string{"reserve", "expand", "merge"}
	op.Calls = []actions.Call{actions.Reserve{Job: r.Key, Reservation: reservation}, actions.Grow{Job: job, Add: add, Reservation: reservation.Name}}
	return Decision{Reserves: &reservation, Do: op}
}

// idle reports whether all of the nodes are idle in the newest reading.
func (s Situation) idle(nodes []string) bool {
	idle := 0
	for _, n := range s.World.Snapshot.Nodes {
		if n.Idle && n.Usable && contains(nodes, n.Name) {
			idle++
		}
	}
	return idle == len(nodes)
}
