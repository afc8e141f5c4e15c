package ep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/profile"
)

// Algorithm is a way to place one application (CoreGRID 2011, section 5.1): as the rigid baseline, or by Fit with an expansion
// limit. The schedule of Fit is then kept, compacted, or replaced by the schedule that wastes least.
type Algorithm struct {
	Rigid      bool // treat the application as its peak for its total duration; ignore the other fields
	Limit      Limit
	Compact    bool // start as late as the completion allows (Fitter.Compact)
	LeastWaste bool // choose the schedule with this completion that wastes least; takes precedence over Compact
}

// ParseAlgorithm parses the paper's names rigid, noX, 2X, 2X+c, infX and infX+c, and the further names 2X+opt and
// infX+opt. Any other limit can replace the 2, as in 1.5X.
func ParseAlgorithm(name string) (Algorithm, error) {
	var a Algorithm
	base, compact := strings.CutSuffix(name, "+c")
	base, least := strings.CutSuffix(base, "+opt")
	limit, isLimit := strings.CutSuffix(base, "X")
	a.Compact, a.LeastWaste = compact, least
	switch {
	case name == "rigid":
		return Algorithm{Rigid: true}, nil
	case name == "noX":
		return Algorithm{Limit: NoExpansion}, nil
	case compact && least:
	case isLimit:
		if l, err := ParseLimit(limit); err == nil {
			a.Limit = l
			return a, nil
		}
	}
	return a, fmt.Errorf("algorithm %s is not one of %s", core.Shown(name), AlgorithmNames)
}

// String returns the name that ParseAlgorithm reads.
func (a Algorithm) String() string {
	switch {
	case a.Rigid:
		return "rigid"
	case a.Limit <= NoExpansion: // there is nothing to improve
		return "noX"
	case a.LeastWaste:
		return a.Limit.String() + "X+opt"
	case a.Compact:
		return a.Limit.String() + "X+c"
	}
	return a.Limit.String() + "X"
}

// Place finds the place of one application, not before notBefore. It does not occupy the place in p. ok is false if the
// application never fits.
func (a Algorithm) Place(f *Fitter, ep core.EP, p *profile.Profile, notBefore core.Time) (start core.Time, scheduled core.EP, ok bool) {
	start, scheduled, ok = a.place(f, ep, p, notBefore)
	if !ok || len(ep) == 0 {
		return start, nil, ok
	}
	return start, slices.Clone(scheduled), true
}

// PlaceInto does what Place does, but overwrites `into`, which is the caller's memory, and returns the
// scheduled profile in it. It is for searches that place the same applications thousands of times.
func (a Algorithm) PlaceInto(f *Fitter, into, ep core.EP, p *profile.Profile, notBefore core.Time) (start core.Time, scheduled core.EP, ok bool) {
	start, scheduled, ok = a.place(f, ep, p, notBefore)
	return start, append(into[:0], scheduled...), ok
}

// place returns the result of Place in the fitter's memory.
func (a Algorithm) place(f *Fitter, ep core.EP, p *profile.Profile, notBefore core.Time) (start core.Time, scheduled core.EP, ok bool) {
	if a.Rigid {
		ep, a = core.EP{{Duration: ep.Total(), Nodes: ep.Peak()}}, Algorithm{}
	}
	start, ok = f.fit(&f.fitted, ep, p.Without(0, nil), a.Limit, notBefore, endless)
	if !ok {
		return start, nil, false
	}
	switch {
	case a.LeastWaste:
		if at, ok := f.improve(ep, p, a.Limit, start, f.fitted); ok {
			return at, f.thrifty, true
		}
	case a.Compact:
		if late, ok := f.compact(ep, p, a.Limit, start, f.fitted); ok {
			return late, f.late, true
		}
	}
	return start, f.fitted, true
}

// Improve applies the second part of the algorithm to a result of Fit for ep on p with its limit: nothing,
// compacting, or least waste. The completion does not change.
func (a Algorithm) Improve(f *Fitter, ep core.EP, p *profile.Profile, start core.Time, scheduled core.EP) (core.Time, core.EP) {
	switch {
	case a.LeastWaste:
		return f.LeastWaste(ep, p, a.Limit, start, scheduled)
	case a.Compact:
		return f.Compact(ep, p, a.Limit, start, scheduled)
	}
	return start, scheduled
}

// Schedule places applications one after the other, from second 0 on, without moving those already placed: the list
// scheduling of CoreGRID 2011, Algorithm 1. `order` has the indexes of the applications in the order in which they are placed.
// If `order` is nil they are placed as listed. With the rigid algorithm this is conservative back-filling. p is the present
// occupation of the machine; Schedule adds the schedule to p. The result has one allocation for each application, with the
// application's index in eps as Job.
//
// Schedule returns an error if an application never fits.
func Schedule(p *profile.Profile, eps []core.EP, order []int, a Algorithm) ([]core.Allocation, error) {
	if order == nil {
		order = InOrder(eps)
	}
	var f Fitter
	plan, steps := make([]core.Allocation, len(eps)), 0
	for _, ep := range eps {
		steps += len(ep)
	}
	memory := make(core.EP, 0, steps) // holds all scheduled profiles
	for _, i := range order {
		start, scheduled, ok := a.place(&f, eps[i], p, 0)
		if !ok {
			return nil, fmt.Errorf("application %d of %d never fits: it asks for up to %d nodes; check whether the machine of %d nodes is occupied forever",
				i+1, len(eps), eps[i].Peak(), p.Nodes())
		}
		p.Add(start, scheduled)
		begin := len(memory)
		memory = append(memory, scheduled...)
		plan[i] = core.Allocation{Job: core.JobID(i), Start: start, EP: memory[begin:len(memory):len(memory)]}
	}
	return plan, nil
}

// InOrder returns the indexes of the applications in the order listed.
func InOrder(eps []core.EP) []int {
	order := make([]int, len(eps))
	for i := range order {
		order[i] = i
	}
	return order
}

// ByArea returns the indexes sorted by requested area, the largest first.
func ByArea(eps []core.EP) []int { return descending(eps, core.EP.Area) }

// ByLength returns the indexes sorted by requested duration, the longest first (longest processing time, LPT).
func ByLength(eps []core.EP) []int { return descending(eps, core.EP.Total) }

func descending(eps []core.EP, size func(core.EP) int64) []int {
	order := InOrder(eps)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(size(eps[j]), size(eps[i])) })
	return order
}
