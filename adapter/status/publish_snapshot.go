package status

import (
	"slices"

	"accordion/adapter"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core/hostlist"
)

// Subscriber receives snapshots of a cluster for pages in a browser. The loop calls its methods, which must not block.
type Subscriber interface {
	// WantsSnapshot reports whether a new snapshot is wanted now.
	WantsSnapshot() bool
	// Receive receives a snapshot. The snapshot does not change afterwards.
	Receive(*view.Snapshot)
}

// publishSnapshot passes the subscriber a snapshot of this cycle, if it wants one.
func (p *Publisher) publishSnapshot(v *plan.World, status *view.Status) {
	if p.Subscriber == nil || !p.Subscriber.WantsSnapshot() {
		return
	}
	q := p.past.now
	q.At, q.Cluster = v.Now, p.Settings.Cluster
	q.Jobs = slices.Clone(q.Jobs)
	for i := range q.Jobs { // copied, because the records of jobs may share these slices
		e := &q.Jobs[i]
		e.Plan, e.Parts = slices.Clone(e.Plan), slices.Clone(e.Parts)
	}
	snapshot := &view.Snapshot{
		Read: v.Snapshot.At.Unix(), Now: v.Now, Soft: status.Soft, Manage: status.Manage, Queue: q, Hidden: v.Snapshot.Hidden,
		Nodes: make([]view.SnapshotNode, len(v.Snapshot.Nodes)), Broken: map[adapter.Key]view.Breach{},
	}
	for i, n := range v.Snapshot.Nodes {
		snapshot.Nodes[i] = snapshotNode(n)
		snapshot.Nodes[i].Out = v.OutOfService(n)
	}
	for _, r := range v.Snapshot.Reservations {
		at := slices.IndexFunc(q.Closures, func(c view.Closure) bool { return c.Name == r.Name })
		if at >= 0 && !r.Ours() {
			c, on := q.Closures[at], hostlist.Compact(poolNodes(v, r.Nodes))
			spans := c.Spans()
			c.Later = nil
			for k, s := range spans {
				if k > 0 && s.Start > v.Now+drawnAhead {
					break
				}
				c.Start, c.End = s.Start, s.End
				snapshot.Closed = append(snapshot.Closed, view.SnapshotClosure{Closure: c, On: on})
			}
		}
	}
	for _, r := range v.Jobs {
		if r.SlipLogged > 0 {
			snapshot.Broken[r.Key] = view.Breach{Promised: r.BestEnd, Slipped: r.SlipLogged, Cause: r.SlipCause}
		}
	}
	p.Subscriber.Receive(snapshot)
}

// drawnAhead is how many seconds of the future a snapshot covers with the repetitions of a repeating reservation.
const drawnAhead = 24 * 3600

func snapshotNode(n adapter.Node) view.SnapshotNode {
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

// poolNodes returns those of the names that name nodes of the pool.
func poolNodes(v *plan.World, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ours := v.Index[name]; return !ours })
}
