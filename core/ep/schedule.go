package ep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/profile"
)

// Algorithm is a way to place one application: rigid, or fit with an expand limit (CoreGRID 2011, section 5.1), as it is,
// compacted, or with the least waste.
type Algorithm struct {
	Rigid      bool // see the application as its peak for its total duration; the rest is ignored
	Limit      Limit
	Compact    bool // start as late as the completion allows: Compact
	LeastWaste bool // of the schedules with this completion take the one that wastes least: LeastWaste; goes before Compact
}

// ParseAlgorithm reads the paper's names, rigid, noX, 2X, 2X+c, infX and infX+c, and 2X+opt and infX+opt, which it does
// not have; another limit is written in the place of the 2, as in 1.5X.
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

// String is the algorithm's name as ParseAlgorithm reads it.
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

// Place finds one application's place, not before an instant, without occupying it. ok is false when it never fits.
func (a Algorithm) Place(f *Fitter, ep core.EP, p *profile.Profile, notBefore core.Time) (start core.Time, scheduled core.EP, ok bool) {
	start, scheduled, ok = a.place(f, ep, p, notBefore)
	if !ok || len(ep) == 0 {
		return start, nil, ok
	}
	return start, slices.Clone(scheduled), true
}

// PlaceInto is Place with the scheduled profile in memory of the caller's, whose content is lost: for searches that place
// the same applications thousands of times.
func (a Algorithm) PlaceInto(f *Fitter, into, ep core.EP, p *profile.Profile, notBefore core.Time) (start core.Time, scheduled core.EP, ok bool) {
	start, scheduled, ok = a.place(f, ep, p, notBefore)
	return start, append(into[:0], scheduled...), ok
}

// place is Place with a result in the fitter's memory.
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

// Improve does what the algorithm does once Fit has found the place of ep on p with its limit: nothing, compacting, or the
// least waste. The completion is kept.
func (a Algorithm) Improve(f *Fitter, ep core.EP, p *profile.Profile, start core.Time, scheduled core.EP) (core.Time, core.EP) {
	switch {
	case a.LeastWaste:
		return f.LeastWaste(ep, p, a.Limit, start, scheduled)
	case a.Compact:
		return f.Compact(ep, p, a.Limit, start, scheduled)
	}
	return start, scheduled
}

// Schedule places applications one after the other, each beside those before it, from second 0 on: the list scheduling
// of CoreGRID 2011, Algorithm 1. The order says which comes when (nil: as they stand); with the rigid algorithm it is
// conservative back-filling. p is what occupies the machine already; the schedule is added to it. The answer has one
// allocation for each application, whose number in eps it bears.
//
// It fails when an application never fits.
func Schedule(p *profile.Profile, eps []core.EP, order []int, a Algorithm) ([]core.Allocation, error) {
	if order == nil {
		order = InOrder(eps)
	}
	var f Fitter
	plan, steps := make([]core.Allocation, len(eps)), 0
	for _, ep := range eps {
		steps += len(ep)
	}
	memory := make(core.EP, 0, steps) // of all scheduled profiles
	for _, i := range order {
		start, scheduled, ok := a.place(&f, eps[i], p, 0)
		if !ok {
			return nil, fmt.Errorf("application %d of %d never fits: it asks for up to %d nodes; see whether the machine of %d nodes is occupied for ever",
				i+1, len(eps), eps[i].Peak(), p.Nodes())
		}
		p.Add(start, scheduled)
		begin := len(memory)
		memory = append(memory, scheduled...)
		plan[i] = core.Allocation{Job: core.JobID(i), Start: start, EP: memory[begin:len(memory):len(memory)]}
	}
	return plan, nil
}

// InOrder is the order in which the applications stand.
func InOrder(eps []core.EP) []int {
	order := make([]int, len(eps))
	for i := range order {
		order[i] = i
	}
	return order
}

// ByArea puts the largest requested area first.
func ByArea(eps []core.EP) []int { return descending(eps, core.EP.Area) }

// ByLength puts the longest requested duration first (longest processing time, LPT).
func ByLength(eps []core.EP) []int { return descending(eps, core.EP.Total) }

func descending(eps []core.EP, size func(core.EP) int64) []int {
	order := InOrder(eps)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(size(eps[j]), size(eps[i])) })
	return order
}
