package patient

import (
	"cmp"

	"accordion/core"
)

// age is when a job becomes due, and its rank among equals.
type age struct {
	due  core.Time
	came uint32
}

// before says which of two jobs that are due goes before the other.
func (a age) before(b age) bool {
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.came, b.came)) < 0
}
