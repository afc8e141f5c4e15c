package output

import (
	"fmt"
	"strconv"

	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/number"
)

// A Reader parses fields and keeps the first error.
type Reader struct{ Err error }

// Fail keeps err if it is the first error.
func (e *Reader) Fail(name string, err error) {
	if err != nil && e.Err == nil {
		e.Err = fmt.Errorf("%s: %w", name, err)
	}
}

// Number parses a number of at most 32 bits.
func (e *Reader) Number(name, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<32 {
		e.Fail(name, fmt.Errorf("%q is not a number: %w", s, ErrForm))
		return 0
	}
	return n
}

// Count parses a number of nodes, tasks or CPUs.
func (e *Reader) Count(name, s string) int {
	n, err := count(s)
	e.Fail(name, err)
	return n
}

// most parses a maximum. It returns 0 if there is no maximum.
func (e *Reader) most(name, s string) int {
	if number.Unlimited(s) {
		return 0
	}
	return e.Count(name, s)
}

// Signed parses a number that may be negative.
func (e *Reader) Signed(name, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		e.Fail(name, fmt.Errorf("%q is not a number: %w", s, ErrForm))
	}
	return n
}

// Memory parses an amount of memory. It returns MB.
func (e *Reader) Memory(name, s string) int64 {
	n, err := megabytes(s)
	e.Fail(name, err)
	return n
}

// Limit parses a time limit, in seconds. It returns core.Forever if it cannot parse the limit, because a job that
// may run longer keeps its nodes.
func (e *Reader) Limit(name, s string) core.Time {
	t, err := number.Limit(s)
	e.Fail(name, err)
	return t
}

// Instant parses a point in time.
func (e *Reader) Instant(name, s string) core.Time {
	t, err := instant(s)
	e.Fail(name, err)
	return t
}

// Nodes parses a host list and returns its names in natural order. `seen` caches the lists that were parsed before.
func (e *Reader) Nodes(list string, seen map[string][]string) []string {
	if names, ok := seen[list]; ok {
		return names
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		e.Fail("NodeList", err)
		return nil
	}
	hostlist.Sort(names)
	seen[list] = names
	return names
}
