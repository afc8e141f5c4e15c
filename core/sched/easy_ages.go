package sched

import "accordion/core"

// age is when a job becomes due, and its rank among equals.
type age struct {
	due  core.Time
	came uint32
}

// before says which of two jobs that are due goes before the other.
func (a age) before(b age) bool {
	return a.due < b.due || a.due == b.due && a.came < b.came
}
