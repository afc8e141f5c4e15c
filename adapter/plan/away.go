package plan

import (
	"slices"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// Missing are the nodes for which a job waits that needs more than are in service.
type Missing struct {
	Needs   int            // the least that the job can be done with
	Serving int            // of the nodes on which it may run
	Away    []adapter.Node // the others of these
}

// Missing returns what a job lacks that would fit if nodes came back which are out of service; nil: it would not, or lacks none.
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
