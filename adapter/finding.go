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

// ByGravity orders findings, the gravest first.
func ByGravity(a, b Finding) int { return weight(a.Severity) - weight(b.Severity) }

func weight(s Severity) int { return slices.Index([]Severity{Fatal, Warning, Note}, s) }
