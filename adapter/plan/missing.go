package plan

import (
	"slices"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// Missing describes a waiting job that needs more nodes than are in service.
type Missing struct {
	Needs   int            // the fewest nodes with which the job can run
	Serving int            // how many of the nodes on which it may run are in service
	Away    []adapter.Node // the nodes on which it may run that are out of service
}

// Missing describes a job that would fit if the nodes that are out of service came back. It returns
// nil for any other job.
func (v *World) Missing(r *managed.Job) *Missing {
	m := Missing{Needs: len(v.Nodes) + 1}
	for _, ep := range r.Choices {
		m.Needs = min(m.Needs, ep.Peak())
	}
	for i, n := range v.Snapshot.Nodes {
		switch {
		case r.Seen != nil && r.Seen.Kinds != nil && !slices.Contains(r.Seen.Kinds, n.Kind):
		case v.lost[i]:
			m.Away = append(m.Away, n)
		default:
			m.Serving++
		}
	}
	if m.Needs <= m.Serving || m.Needs > m.Serving+len(m.Away) {
		return nil
	}
	return &m
}
