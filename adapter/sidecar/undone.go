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

// stiffness tells its user of a job that is set aside, and why.
func stiffness(why error) string {
	return fmt.Sprintf("the batch system does not let this job be changed; if that stays so, cancel it and submit it again (%v)", why)
}

// freeze notes that the batch system did not change the job, and says when it is tried again.
func (s *jobs) freeze(r *managed.Job, why error) time.Duration {
	if now := s.eventLog.clock.Now().Unix(); r.Frozen == 0 {
		r.Frozen = now
	}
	if !r.Stiff(s.eventLog.clock.Now()) {
		return managed.TryFrozen
	}
	r.Course = nil
	s.eventLog.notice(r.Key, fmt.Sprintf("since %s %s", adapter.Instant(r.Frozen).Format(time.TimeOnly), stiffness(why)))
	return managed.TryStiff
}
