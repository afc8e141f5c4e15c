package sidecar

import (
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/decide"
	"accordion/adapter/managed"
)

// A batch system that is killed loses its last seconds: a resize of which the application has heard may be undone. It is
// done again, on the same nodes and at once; the step goes on meanwhile.
const memoryLoss = 10 * time.Second // what a batch system may lose: Slurm saves every 5 s

// undone says whether the job holds what it held before its last resize because the batch system forgot that one: it was
// done in the seconds before the reading after which the batch system was away. What it misses because a node is lost, nobody forgot.
func (s *jobs) undone(r *managed.Job, held []string) bool {
	lost := slices.ContainsFunc(s.readings.snapshot.Nodes, func(n adapter.Node) bool {
		return n.Lost && slices.Contains(r.Nodes, n.Name) && !slices.Contains(held, n.Name)
	})
	return !lost && r.Again == nil && len(r.Before) > 0 && managed.SameNodes(held, r.Before) && adapter.Instant(r.Resized).After(s.readings.before.Add(-memoryLoss))
}

// redo notes that a job's last resize is to be done again.
func (s *jobs) redo(r *managed.Job, held []string) error {
	nodes := managed.KeepOrder(r.Before, held)
	r.Again, r.Since = slices.Clone(r.Nodes), s.eventLog.clock.Now().Unix()
	if len(r.Again) < len(held) { // those that stay are first, so that the others leave again
		nodes = managed.KeepOrder(r.Again, held)
	}
	r.Hold(nodes, s.eventLog.clock.Now().Unix())
	text := fmt.Sprintf("holds %d nodes again: the batch system lost its last seconds; it will be resized to %d again", len(held), len(r.Again))
	return s.save(r, decide.Event{Kind: "forgotten", Text: text, Fields: map[string]any{"nodes": names(held), "held": names(r.Again)}})
}
