package show

import (
	"slices"

	"accordion/adapter"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core/hostlist"
)

// Subscriber receives what is shown of a cluster in a browser. Its methods are called from the loop and never block.
type Subscriber interface {
	// Wants says whether a new snapshot is wanted now.
	Wants() bool
	// See takes a snapshot that will not change any more.
	See(*view.Snapshot)
}

// handOver gives the subscriber a snapshot of this cycle, where it wants one.
func (s *Show) handOver(v *plan.World, status *view.Status) {
	if s.Subscriber == nil || !s.Subscriber.Wants() {
		return
	}
	q := s.past.now
	q.At, q.Cluster = v.Now, s.Settings.Cluster
	q.Jobs = slices.Clone(q.Jobs)
	for i := range q.Jobs { // the jobs' own records may share them
		e := &q.Jobs[i]
		e.Plan, e.Parts = slices.Clone(e.Plan), slices.Clone(e.Parts)
	}
	snapshot := &view.Snapshot{
		Read: v.Snapshot.At.Unix(), Now: v.Now, Soft: status.Soft, Manage: status.Manage, Queue: q, Hidden: v.Snapshot.Hidden,
		Nodes: make([]view.SnapshotNode, len(v.Snapshot.Nodes)), Broken: map[adapter.Key]view.Breach{},
	}
	for i, n := range v.Snapshot.Nodes {
		snapshot.Nodes[i] = sceneNode(n)
		snapshot.Nodes[i].Out = v.OutOfService(n)
	}
	for _, r := range v.Snapshot.Reservations {
		at := slices.IndexFunc(q.Closures, func(c view.Closure) bool { return c.Name == r.Name })
		if at >= 0 && !r.Ours() {
			c, on := q.Closures[at], hostlist.Compact(within(v, r.Nodes))
			spans := c.Spans()
			c.Later = nil
			for k, s := range spans {
				if k > 0 && s.Start > v.Now+drawn {
					break
				}
				c.Start, c.End = s.Start, s.End
				snapshot.Closed = append(snapshot.Closed, view.SnapshotClosure{Closure: c, On: on})
			}
		}
	}
	for _, r := range v.Jobs {
		if r.Slipped > 0 {
			snapshot.Broken[r.Key] = view.Breach{Promised: r.Vowed, Slipped: r.Slipped, Cause: r.Broke}
		}
	}
	s.Subscriber.See(snapshot)
}

// drawn is how many seconds ahead the later times of a reservation that repeats are drawn.
const drawn = 24 * 3600

func sceneNode(n adapter.Node) view.SnapshotNode {
	switch {
	case n.Lost:
		return view.SnapshotNode{Name: n.Name, State: view.NodeLost, Why: n.Why}
	case !n.Usable:
		return view.SnapshotNode{Name: n.Name, State: view.NodeAway, Why: n.Why}
	case n.Asleep:
		return view.SnapshotNode{Name: n.Name, State: view.NodeAsleep, Why: n.Why}
	}
	return view.SnapshotNode{Name: n.Name}
}

// within is those of the names that are nodes of the pool.
func within(v *plan.World, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ours := v.Index[name]; return !ours })
}
