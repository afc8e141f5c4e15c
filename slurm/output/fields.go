package output

import (
	"fmt"
	"strconv"

	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/number"
)

// A Reader reads fields and keeps the first error.
type Reader struct{ Err error }

// Fail keeps an error, if it is the first.
func (e *Reader) Fail(name string, err error) {
	if err != nil && e.Err == nil {
		e.Err = fmt.Errorf("%s: %w", name, err)
	}
}

// Number reads a number of at most 32 bits.
func (e *Reader) Number(name, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<32 {
		e.Fail(name, fmt.Errorf("%q is not a number: %w", s, ErrForm))
		return 0
	}
	return n
}

// Count reads a number of nodes, tasks or CPUs.
func (e *Reader) Count(name, s string) int {
	n, err := count(s)
	e.Fail(name, err)
	return n
}

// most is a bound; 0 where there is none.
func (e *Reader) most(name, s string) int {
	if number.Unlimited(s) {
		return 0
	}
	return e.Count(name, s)
}

// Signed reads a number that may be negative.
func (e *Reader) Signed(name, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		e.Fail(name, fmt.Errorf("%q is not a number: %w", s, ErrForm))
	}
	return n
}

// Memory reads an amount of memory, in MB.
func (e *Reader) Memory(name, s string) int64 {
	n, err := megabytes(s)
	e.Fail(name, err)
	return n
}

// Limit is core.Forever where it cannot be read: a job that may run on keeps its nodes.
func (e *Reader) Limit(name, s string) core.Time {
	t, err := number.Limit(s)
	e.Fail(name, err)
	return t
}

// Instant reads a point in time.
func (e *Reader) Instant(name, s string) core.Time {
	t, err := instant(s)
	e.Fail(name, err)
	return t
}

// Nodes reads a list of hosts, in natural order; seen are those that were read before.
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
