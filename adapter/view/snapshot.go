package view

import (
	"accordion/adapter"
	"accordion/core"
)

// Snapshot is all that the pages in a browser show of a cluster at one instant. The loop makes a new one each time and never touches it again: whoever
// has it may read it from any goroutine, and nobody may change it.
type Snapshot struct {
	Read   core.Time // Unix second of the reading it was made from
	Now    core.Time // Unix second of the cycle
	Soft   string    // as Status has it
	Manage string    // the same
	Queue  Queue
	Nodes  []SnapshotNode // of the pool, in natural order
	Closed []SnapshotClosure
	Hidden adapter.Hidden
	Broken map[adapter.Key]Breach // promises of jobs that run, as far as they could not be kept
}

// SnapshotNode is a node of the pool.
type SnapshotNode struct {
	Name  string
	State string // "": in service; else one of the words below
	Why   string // the batch system's word, where it is not in service
	Out   bool   // the plan does without it: it has been out of service for longer than a moment
}

// What SnapshotNode.State may be.
const (
	NodeAway   = "away" // drained, or not known: a job may run there still
	NodeLost   = "lost"
	NodeAsleep = "asleep"
)

// SnapshotClosure is a Closure with its nodes, as a host list.
type SnapshotClosure struct {
	Closure
	On string
}

// Breach is a promise that could not be kept.
type Breach struct {
	Promised core.Time // Unix second of the end as it was promised
	Slipped  core.Time // seconds by which the end moved when it was last told
	Cause    string    // late application, late shrinker, ordinary overrun, lost node, batch system
}
