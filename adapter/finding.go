package adapter

import (
	"fmt"
	"slices"
)

// Severity says how much a finding matters.
type Severity string

// The severities, the gravest first.
const (
	Fatal   Severity = "fatal"   // the sidecar must not run on this cluster
	Warning Severity = "warning" // it may, and something will go less well than it could
	Note    Severity = "note"    // worth knowing

	// Unanswered is as Fatal: the batch system did not answer, so that nothing is known of it, and it may answer later.
	Unanswered Severity = "unanswered"
)

// Finding is one thing that a look at a cluster, before the sidecar runs there, has shown.
type Finding struct {
	Severity Severity
	What     string // what is so, and what it leads to
	Fix      string // what to do about it; "" for a note
}

// String is the finding for people, in one line.
func (f Finding) String() string {
	if f.Fix == "" {
		return fmt.Sprintf("%s: %s", f.Severity, f.What)
	}
	return fmt.Sprintf("%s: %s. %s", f.Severity, f.What, f.Fix)
}

// Failures counts the findings for which the sidecar must not run there.
func Failures(found []Finding) int {
	n := 0
	for _, f := range found {
		if f.Severity == Fatal || f.Severity == Unanswered {
			n++
		}
	}
	return n
}

// NoAnswer is the error of a batch system that did not answer, and may later: nothing of it is known to be wrong.
type NoAnswer struct{ Err error }

func (n *NoAnswer) Error() string { return n.Err.Error() }
func (n *NoAnswer) Unwrap() error { return n.Err }

// ByGravity orders findings, the gravest first.
func ByGravity(a, b Finding) int { return weight(a.Severity) - weight(b.Severity) }

func weight(s Severity) int { return slices.Index([]Severity{Unanswered, Fatal, Warning, Note}, s) }
