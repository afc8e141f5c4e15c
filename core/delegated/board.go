package delegated

import (
	"accordion/core"
	"accordion/core/profile"
)

// Board records, for a pass, the occupation of each cluster from now on, and which part of that occupation each application has
// seen. Clusters and viewers are identified by small numbers, which the RMS assigns.
//
// There are two boards, which give the same messages. Use Indexed, which is based on core/profile. Linear is simple enough to be checked by
// reading, and its steps are the basic operations that RR-7389 defines.
type Board interface {
	// Begin clears the board for a pass: from now on nothing is occupied. `hosts` has the number of hosts of each cluster.
	Begin(now core.Time, hosts []int)
	// Occupy marks hosts of a cluster as occupied in [from, to). `from` is not before the second of the pass.
	// If `to` is core.Forever there is no end.
	Occupy(cluster int, from, to core.Time, hosts int)
	// Put replaces a cluster's occupation from the second of the pass on. `points` are as Profile.Points returns them.
	Put(cluster int, points []profile.Point)
	// FirstFit returns the earliest second, at or after `from`, from which the number of hosts of a cluster is free for d seconds.
	// ok is false if there is none. A result later than `until` may be wrong or missing.
	FirstFit(cluster, hosts int, d, from, until core.Time) (start core.Time, ok bool)

	// Look compares the occupation from second `now` on with what a viewer has seen of it. It appends a Change
	// for each cluster that differs, and records that the viewer has seen the occupation. `now` is not before
	// the last Begin.
	Look(viewer int, now core.Time, into []Change) []Change
	// Forget forgets what a viewer has seen. The next Look for this viewer returns a change of every cluster.
	Forget(viewer int)

	// Seen returns a cluster's occupation as of the viewer's last Look, or nil if the viewer has seen none. The result is read
	// only.
	Seen(viewer, cluster int) []profile.Point

	// Steps returns how many steps of its lists and indexes the board has visited. Copies and comparisons do not count.
	Steps() int64
}

// Change is a cluster's part of a message. Its points belong to the board. They stay valid until the same viewer's next change of the same
// cluster.
type Change struct {
	Cluster int
	Hosts   int             // number of hosts of the cluster
	Points  []profile.Point // occupied hosts, from the second of the message on

	// Head and Tail count the points at the beginning and at the end of Points that the viewer knows already. A message may leave
	// these points out.
	Head, Tail int
}
