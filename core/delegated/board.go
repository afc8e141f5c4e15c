package delegated

import (
	"accordion/core"
	"accordion/core/profile"
)

// Board is what a pass draws on: how much of each cluster is occupied from now on; and what each application has seen of it.
// Clusters and viewers go by small numbers, which the RMS gives.
//
// There are two: Indexed, on core/profile, is the one to use. Linear is short enough to be checked by eye, and its steps are the
// basic operations of RR-7389 as they are defined there. Both give the same messages.
type Board interface {
	// Begin wipes the board for a pass: nothing is occupied from now on. Hosts are those of each cluster.
	Begin(now core.Time, hosts []int)
	// Occupy adds hosts of a cluster in [from, to); neither is before the pass. An end of core.Forever is none.
	Occupy(cluster int, from, to core.Time, hosts int)
	// Put makes points what stands on a cluster: from the second of the pass on, as Profile.Points has them.
	Put(cluster int, points []profile.Point)
	// FirstFit is the earliest second, not before from, from which so many hosts of a cluster are free for d seconds. A
	// caller who has no use for one behind until is told none, or one behind it. ok is false when there is none.
	FirstFit(cluster, hosts int, d, from, until core.Time) (start core.Time, ok bool)

	// Look compares, for each cluster, what a viewer has seen with what stands there from now on, which is not before the
	// last Begin. It appends the clusters on which these differ as functions of time, and what stands there is then what the
	// viewer has seen.
	Look(viewer int, now core.Time, into []Change) []Change
	// Forget makes a viewer one who has seen nothing: his next look is a change of every cluster.
	Forget(viewer int)

	// Seen is what a viewer has seen of a cluster, from his last look on; nil when nothing. It is read only.
	Seen(viewer, cluster int) []profile.Point

	// Steps is how many steps of its own lists and indexes a board has visited so far, copies and comparisons apart.
	Steps() int64
}

// Change is what a message says of one cluster. Its points belong to the board: they stay as they are until the same
// viewer's next change of the same cluster.
type Change struct {
	Cluster int
	Hosts   int             // that it has
	Points  []profile.Point // how many are occupied, from the second of the message on

	// Head and Tail are how many points, at the beginning and at the end, are those that the viewer knows already, as seen
	// from the second of the message on: a message may leave them out.
	Head, Tail int
}
