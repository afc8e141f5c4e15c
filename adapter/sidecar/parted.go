package sidecar

import (
	"slices"

	"accordion/core"
)

// parted is the nodes that left a job last, and the second of it. A batch system may forbid on a node what a job began in
// the second in which it gave the node back: Slurm revokes the job's credentials there by whole seconds, and a step that
// begins in that second on a node that has come back to the job fails ("Job credential revoked"). So a node comes back in
// a later second than that in which it left.
type parted struct {
	nodes []string
	at    core.Time
}

// hold notes what the job holds from now on.
func (s *Sidecar) hold(r *record, nodes []string) {
	left := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return slices.Contains(nodes, n) })
	if now := s.clock.Now().Unix(); len(left) > 0 {
		if r.parted.at == now {
			left = append(left, r.parted.nodes...)
		}
		r.parted = parted{left, now}
	}
	r.Nodes = nodes
}

// has says whether one of the nodes left the job in this second, and may not come back before the next.
func (p parted) has(nodes []string, now core.Time) bool {
	return now <= p.at && slices.ContainsFunc(nodes, func(n string) bool { return slices.Contains(p.nodes, n) })
}
