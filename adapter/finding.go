package adapter

import (
	"fmt"
	"slices"
)

// Severity is how serious a finding is.
type Severity string

// The severities, the most serious first.
const (
	Fatal   Severity = "fatal"   // the sidecar must not run on this cluster
	Warning Severity = "warning" // the sidecar may run, but a feature is limited
	Note    Severity = "note"    // no limitation, only information

	// Unanswered is as serious as Fatal. The batch system did not answer, so nothing is known about
	// it, but it may answer later.
	Unanswered Severity = "unanswered"
)

// Finding is one result of checking a cluster before the sidecar runs there.
type Finding struct {
	Severity Severity
	What     string // the fact and its consequence
	Fix      string // what to do about it; "" if there is nothing to do
}

// String returns the finding on one line.
func (f Finding) String() string {
	if f.Fix == "" {
		return fmt.Sprintf("%s: %s", f.Severity, f.What)
	}
	return fmt.Sprintf("%s: %s. %s", f.Severity, f.What, f.Fix)
}

// Failures returns how many of the findings are reasons not to run the sidecar on the cluster.
func Failures(found []Finding) int {
	n := 0
	for _, f := range found {
		if f.Severity == Fatal || f.Severity == Unanswered {
			n++
		}
	}
	return n
}

// NoAnswerError is the error of a batch system that did not answer. The batch system may answer
// later, and nothing is known to be wrong with it.
type NoAnswerError struct{ Err error }

func (n *NoAnswerError) Error() string { return n.Err.Error() }
func (n *NoAnswerError) Unwrap() error { return n.Err }

// ByGravity compares findings by severity, the most serious first.
func ByGravity(a, b Finding) int { return weight(a.Severity) - weight(b.Severity) }

func weight(s Severity) int { return slices.Index([]Severity{Unanswered, Fatal, Warning, Note}, s) }
