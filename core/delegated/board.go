package delegated

import (
	"accordion/core"
	"accordion/core/profile"
)

// Board is what a pass draws on: the occupation of each cluster from now on, and what each application has seen of it. Clusters and viewers
// have small numbers, which the RMS gives.
//
// There are two boards, which give the same messages. Use Indexed, which is based on core/profile. Linear is simple enough to be checked by
// reading, and its steps are the basic operations that RR-7389 defines.
type Board interface {
	// Begin clears the board for a pass: from now on nothing is occupied. hosts has the number of hosts of each cluster.
	Begin(now core.Time, hosts []int)
	// Occupy adds hosts of a cluster in [from, to), not before the second of the pass. core.Forever is no end.
	Occupy(cluster int, from, to core.Time, hosts int)
	// Put replaces a cluster's occupation from the second of the pass on. points are as Profile.Points returns them.
	Put(cluster int, points []profile.Point)
	// FirstFit returns the earliest second, not before from, from which a number of hosts of a cluster is free for d seconds. ok is false if
	// there is none. A result after until may be wrong, or missing.
	FirstFit(cluster, hosts int, d, from, until core.Time) (start core.Time, ok bool)

	// Look compares what a viewer has seen with the occupation from now on, which is not before the last Begin. It appends the clusters on
	// which they differ, as functions of time, and records that the viewer has seen the occupation.
	Look(viewer int, now core.Time, into []Change) []Change
	// Forget makes a viewer one that has seen nothing. Its next Look returns a change of every cluster.
	Forget(viewer int)

	// Seen returns what a viewer has seen of a cluster since its last Look, or nil. The result is read only.
	Seen(viewer, cluster int) []profile.Point

	// Steps returns how many steps of its own lists and indexes the board has visited, without copies and comparisons.
	Steps() int64
}

// Change is a cluster's part of a message. Its points belong to the board. They stay valid until the same viewer's next change of the same
// cluster.
type Change struct {
	Cluster int
	Hosts   int             // of the cluster
	Points  []profile.Point // occupied hosts, from the second of the message on

	// Head and Tail are the numbers of points, at the beginning and at the end, that the viewer knows already, as seen from the second of
	// the message on. A message may leave them out.
	Head, Tail int
}
