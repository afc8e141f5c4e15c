package managed

import (
	"fmt"

	"accordion/adapter"
	"accordion/core"
)

// Part makes a managed job of the plan a part of an application: it is rigid, others decide when it starts and ends, and nothing is
// remembered of it but what is known now.
type Part struct {
	Application int64
	Rank        core.Time // it goes before the jobs that were submitted after this second
	Begin       core.Time // where it waits: not before; 0: at once
	Margin      core.Time // seconds by which its limit is longer than its walltime
	Unmade      bool      // its cluster is still to make its job: there is nothing to show
	Ahead       bool      // where it waits: its nodes are reserved ahead, as those of others that wait
}

// partPrefix begins the names of reservations for parts.
const partPrefix = adapter.Prefix + "app-"

// PartReservation names the reservation of an application's part here.
func PartReservation(application int64) string { return fmt.Sprintf("%s%d", partPrefix, application) }

// GhostReservation names that which keeps the part's nodes for nobody, after it is done.
func GhostReservation(application int64) string { return PartReservation(application) + "-ghost" }

// IsPartReservation says whether a reservation of the name is for a part.
func IsPartReservation(name string) bool {
	return len(name) > len(partPrefix) && name[:len(partPrefix)] == partPrefix
}
