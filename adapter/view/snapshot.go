package view

import (
	"accordion/adapter"
	"accordion/core"
)

// Snapshot is everything that the pages in a browser show of a cluster at one instant. A Snapshot never changes, so any goroutine may
// read it.
type Snapshot struct {
	Read   core.Time // Unix second of the reading
	Now    core.Time // Unix second of the cycle
	Soft   string    // as in Status
	Manage string    // as in Status
	Queue  Queue
	Nodes  []SnapshotNode // the nodes of the pool, in natural order
	Closed []SnapshotClosure
	Hidden adapter.Hidden
	Broken map[adapter.Key]Breach // running jobs whose promise could not be kept
}

// SnapshotNode is a node of the pool.
type SnapshotNode struct {
	Name  string
	State string // "" means in service; otherwise one of the constants below
	Why   string // the batch system's reason why the node is not in service
	Out   bool   // the plan does not use the node, because it has been out of service for some time
}

// The values of SnapshotNode.State.
const (
	NodeAway   = "away" // the node is drained or unknown, and a job may still run there
	NodeLost   = "lost"
	NodeAsleep = "asleep"
)

// SnapshotClosure is a Closure with the names of its nodes.
type SnapshotClosure struct {
	Closure
	On string // the nodes, as a host list
}

// Breach describes a promise that could not be kept.
type Breach struct {
	Promised core.Time // Unix second of the promised end
	Slipped  core.Time // number of seconds by which the end was later than promised when an event was last recorded
	Cause    string    // such as "late application", "late shrinker", "ordinary overrun", "lost node" or "batch system"
}
