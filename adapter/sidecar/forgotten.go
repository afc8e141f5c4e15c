package sidecar

import (
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/decide"
	"accordion/adapter/managed"
)

// memoryLoss bounds the age of the changes that a batch system may forget when it is killed. Slurm
// saves its state every 5 s. A resize after the last save is undone, although the application was
// informed of it. The sidecar immediately repeats the resize on the same nodes, and the step
// continues in the meantime.
const memoryLoss = 10 * time.Second

// forgot reports whether the batch system forgot the job's last resize. In this case the job holds
// the nodes that it held before the resize, and the resize was done shortly before the last reading
// that succeeded. The result is false if a node of the job is lost.
func (s *jobs) forgot(r *managed.Job, held []string) bool {
	lost := slices.ContainsFunc(s.readings.snapshot.Nodes, func(n adapter.Node) bool {
		return n.Lost && slices.Contains(r.Nodes, n.Name) && !slices.Contains(held, n.Name)
	})
	return !lost && r.NodesForgotten == nil && len(r.NodesBefore) > 0 && managed.SameNodes(held, r.NodesBefore) && adapter.Instant(r.ResizedAt).After(s.readings.before.Add(-memoryLoss))
}

// repeatResize records that the job's last resize has to be repeated.
func (s *jobs) repeatResize(r *managed.Job, held []string) error {
	nodes := managed.KeepOrder(r.NodesBefore, held)
	r.NodesForgotten, r.ForgottenAt = slices.Clone(r.Nodes), s.eventLog.clock.Now().Unix()
	if len(r.NodesForgotten) < len(held) { // the forgotten resize was a shrink, so the nodes that the job keeps come first
		nodes = managed.KeepOrder(r.NodesForgotten, held)
	}
	r.SetNodes(nodes, s.eventLog.clock.Now().Unix())
	text := fmt.Sprintf("holds %d nodes again: the batch system lost its last seconds; it will be resized to %d again", len(held), len(r.NodesForgotten))
	return s.save(r, decide.Event{Kind: "forgotten", Text: text, Fields: map[string]any{"nodes": names(held), "held": names(r.NodesForgotten)}})
}
