package managed

import (
	"fmt"

	"accordion/adapter"
	"accordion/core"
)

// A Part describes a managed job that is a part of an application (delegated scheduling). A part is
// rigid, and adapter/delegated decides when it starts and ends. The journal has no record of a
// part.
type Part struct {
	Application int64
	Rank        core.Time // second that gives the rank: the part comes before jobs that were submitted in that second or later
	Begin       core.Time // second before which a waiting part does not start; 0 if it may start now
	Margin      core.Time // seconds by which the job's time limit is longer than the part's walltime
	Unmade      bool      // the part's job has not been submitted to the batch system yet
	Ahead       bool      // nodes are reserved ahead for a waiting part, as for other waiting jobs
}

// partPrefix begins the names of reservations for parts.
const partPrefix = adapter.Prefix + "app-"

// PartReservation returns the name of the reservation of an application's part on this cluster.
func PartReservation(application int64) string { return fmt.Sprintf("%s%d", partPrefix, application) }

// GhostReservation returns the name of the reservation that keeps a part's nodes unused after the
// part has ended (RR-7389).
func GhostReservation(application int64) string { return PartReservation(application) + "-ghost" }

// IsPartReservation reports whether a reservation of this name is for a part.
func IsPartReservation(name string) bool {
	return len(name) > len(partPrefix) && name[:len(partPrefix)] == partPrefix
}
