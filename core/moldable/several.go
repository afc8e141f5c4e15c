package moldable

import (
	"fmt"
	"slices"

	"accordion/core"
)

// Selection returns how many of the offered hosts an application takes on each cluster, and for how long: f′ of RR-7389,
// appendix A.3. It takes no more hosts than offered, and at least one host if any is offered. A Selection is monotone: if more
// hosts are offered, on any cluster, the time is never longer. It may return its own memory, which the next call overwrites.
type Selection func(offered []int) (taken []int, walltime core.Time)

// NotMonotoneError is the error of a Selection that returned a longer time when it was offered more.
type NotMonotoneError struct {
	More, Fewer         []int // hosts offered on each cluster
	WithMore, WithFewer core.Time
}

func (e *NotMonotoneError) Error() string {
	return fmt.Sprintf("the selection takes %d s when offered %v hosts, but %d s when offered %v, which is less: offered more it must never be longer",
		e.WithMore, e.More, e.WithFewer, e.Fewer)
}

// WrongChoiceError is the error of a Selection that took hosts that it cannot have.
type WrongChoiceError struct {
	Offered, Taken []int // hosts on each cluster
	Walltime       core.Time
}

func (e *WrongChoiceError) Error() string {
	return fmt.Sprintf("the selection took %v hosts for %d s when offered %v: it must take at least one host, of no cluster more than offered, for 1 to %d s",
		e.Taken, e.Walltime, e.Offered, core.MaxTotal)
}

// Complex finds requests for an application that selects hosts of several clusters together: Algorithm 2 of RR-7389, appendix
// A.3, with three corrections. The printed version keeps an offer that it reduced at one start for all later starts, compares
// with a variable that does not exist, and continues when no host is left to offer.
//
// A Complex caches the results of the selection, because calls of the selection may be expensive. Only one goroutine at a time
// may use it.
type Complex struct {
	selection Selection
	answers   map[uint64]*answer // answers by a hash of the offer; after a collision the next free hash is used
	recent    []*answer          // the last answers, a ring buffer
	walk      walk
	free      []int // number of free hosts on each cluster
	offered   []int
	parts     []Part // memory of the parts of the last request
}

// answer is a result of the selection.
type answer struct {
	offered, taken []int
	walltime       core.Time
}

// mostRecent is the number of earlier answers with which a new one is compared.
const mostRecent = 16

// NewComplex returns a Complex for one application.
func NewComplex(f Selection) *Complex { return &Complex{selection: f, answers: map[uint64]*answer{}} }

// Asked calls `yield` once for each offer with which the selection was called, in no particular order. Offers
// are read only.
func (x *Complex) Asked(yield func(offered []int) bool) {
	for _, a := range x.answers {
		if !yield(a.offered) {
			return
		}
	}
}

// Find returns the earliest to complete of all requests that fit into a view from now on. If several complete
// at the same time, it returns the one that starts first. Its error is a *NotMonotoneError or a
// *WrongChoiceError. The view is read only.
//
// The request is valid until the next call. At each start Find offers the free hosts. If they do not stay free for the time
// of the answer, Find offers only the hosts that stay free for that time, and repeats this until the answer fits. A smaller
// offer never gives a shorter time, so no offer between two of these offers would have fitted.
func (x *Complex) Find(view View, now core.Time) (Found, error) {
	best := Found{Start: core.Forever}
	x.walk.take(view, now)
	x.free, x.offered = resized(x.free, len(view)), resized(x.offered, len(view))
	for t, next := now, now; t < core.Forever && len(view) > 0; t = next {
		var begin int
		begin, next = x.reach(t)
		best.Steps += begin
		if best.OK && best.End() < t {
			break
		}
		a, steps, err := x.fit(view, t)
		best.Steps += steps
		if err != nil {
			return Found{Start: core.Forever, Steps: best.Steps}, err
		}
		if a != nil && (!best.OK || t+a.walltime < best.End()) {
			best.Start, best.Walltime, best.OK = t, a.walltime, true
			x.parts = x.parts[:0]
			for c, n := range a.taken {
				if n > 0 {
					x.parts = append(x.parts, Part{c, n})
				}
			}
			best.Parts = x.parts
		}
	}
	return best, nil
}

func resized(s []int, n int) []int { return slices.Grow(s[:0], n)[:n] }

// reach advances to a time at which steps begin, and updates the numbers of free hosts on all clusters. It returns how many
// steps begin then, and when the next step begins, or core.Forever.
func (x *Complex) reach(t core.Time) (steps int, next core.Time) {
	next = core.Forever
	for c, begin := range x.walk.begin {
		if begin == t {
			x.free[c] = x.walk.free(c)
			x.walk.pass(c)
			steps++
		}
		next = min(next, x.walk.begin[c])
	}
	return steps, next
}

// fit returns the selection's answer that fits from a time on, or nil if there is none.
func (x *Complex) fit(view View, t core.Time) (a *answer, steps int, err error) {
	copy(x.offered, x.free)
	for anything(x.offered) {
		before := a
		if a, err = x.ask(x.offered); err != nil {
			return nil, steps, err
		}
		if before != nil && a.walltime < before.walltime {
			return nil, steps, notMonotone(before, a)
		}
		fits := true
		for c, n := range a.taken {
			if n == 0 {
				continue
			}
			free, looked := view[c].least(x.walk.next[c]-1, t, t+a.walltime)
			steps += looked
			if free < n {
				x.offered[c], fits = free, false
			}
		}
		if fits {
			return a, steps, nil
		}
	}
	return nil, steps, nil
}

func anything(offered []int) bool {
	return slices.ContainsFunc(offered, func(n int) bool { return n > 0 })
}

// ask returns the selection's answer to an offer. It calls the selection once for each offer.
func (x *Complex) ask(offered []int) (*answer, error) {
	mark := uint64(len(offered))
	for _, n := range offered {
		mark = (mark ^ uint64(n)) * 0x9e3779b97f4a7c15
		mark ^= mark >> 32
	}
	for a := x.answers[mark]; a != nil; a = x.answers[mark] {
		if slices.Equal(a.offered, offered) {
			return a, nil
		}
		mark++
	}
	taken, walltime := x.selection(offered)
	a := &answer{slices.Clone(offered), slices.Clone(taken), walltime}
	if !a.possible() {
		return nil, &WrongChoiceError{a.offered, a.taken, walltime}
	}
	for _, b := range x.recent {
		if within(a.offered, b.offered) && a.walltime < b.walltime {
			return nil, notMonotone(b, a)
		}
		if within(b.offered, a.offered) && b.walltime < a.walltime {
			return nil, notMonotone(a, b)
		}
	}
	if len(x.recent) < mostRecent {
		x.recent = append(x.recent, a)
	} else {
		x.recent[len(x.answers)%mostRecent] = a
	}
	x.answers[mark] = a
	return a, nil
}

// possible reports whether an answer takes something, no more than offered, for a permitted time.
func (a *answer) possible() bool {
	if len(a.taken) != len(a.offered) || a.walltime < 1 || a.walltime > core.MaxTotal {
		return false
	}
	for c, n := range a.taken {
		if n < 0 || n > a.offered[c] {
			return false
		}
	}
	return anything(a.taken)
}

// within reports whether b offers at least as much as a on every cluster.
func within(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for c, n := range a {
		if n > b[c] {
			return false
		}
	}
	return true
}

func notMonotone(more, fewer *answer) error {
	return &NotMonotoneError{More: more.offered, Fewer: fewer.offered, WithMore: more.walltime, WithFewer: fewer.walltime}
}
