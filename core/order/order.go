// Package order looks at the whole queue at once: in which order should list scheduling place the applications, so that
// all of them are done as early as possible? The papers take the order of submission and leave the question open (Klein
// & Pérez, CoreGRID 2011, section 4.3).
//
//	search := order.Search{Algorithm: algorithm, Seed: 1, Evals: 20000}
//	found, err := search.Run(profile.New(100), eps) // found.Makespan; found.Bound, below which no schedule can be
//
// It is for a set of applications that is known and not running yet: nothing here keeps a promise, and an application may
// end later so that the last one ends earlier. Orders by a rule are core/ep's (InOrder, ByArea, ByLength); a queue
// over time is core/sched's matter. Like all of core it is pure: the clock of a search with a time limit is the caller's.
package order

import (
	"math/rand/v2"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// Search improves the order in which ep.Schedule places applications, by simulated annealing: an application
// changes its place in the order, or two change places; an order that is worse is taken at times, the less often the
// more of the search is over.
//
// Give Evals, Spent or both. With Evals alone the result is a function of the arguments.
type Search struct {
	Algorithm ep.Algorithm
	Seed      uint64
	Evals     int // orders to try at most; 0: as many as Spent allows

	// Spent is how much of the caller's budget is gone, from 0 to 1, where the search ends. It is asked before each order
	// that is tried. The best order so far is always at hand: a budget of nothing gives the best of three rules.
	Spent func() float64
}

// Result is the best order found.
type Result struct {
	Order    []int             // as ep.Schedule takes it
	Plan     []core.Allocation // what ep.Schedule makes of it
	Makespan core.Time         // the last completion, in seconds from 0
	Bound    core.Time         // no schedule at all ends earlier: LowerBound
	Evals    int               // orders tried
}

// heat is the share of the makespan by which a worse order may be worse at the beginning of a search, in the mean of an
// exponential distribution. Of 0, 0.005, 0.01, 0.015, 0.02 and 0.03 it gave the best makespans in the mean of the paper's
// first 50 tests with 20,000 evaluations: 0.795 of noX in the order of submission, and 0.806 with 0.
const heat = 0.01

// Run searches. busy is what occupies the machine already; it is left alone. It fails when an application never fits.
//
// The search starts from the best of the orders by submission, area and length, so it is never worse than these. It
// ends early when the makespan meets the bound.
func (s Search) Run(busy *profile.Profile, eps []core.EP) (Result, error) {
	l := newLister(busy, eps, s.Algorithm, mostSnapshots)
	best := Result{Bound: LowerBound(busy, eps, s.Algorithm), Makespan: core.Forever}
	for _, rule := range []func([]core.EP) []int{ep.InOrder, ep.ByArea, ep.ByLength} {
		plan, err := ep.Schedule(busy.Clone(), eps, rule(eps), s.Algorithm)
		if err != nil {
			return Result{}, err
		}
		best.Evals++
		if end := makespan(plan); best.Plan == nil || end < best.Makespan {
			best.Order, best.Plan, best.Makespan = rule(eps), plan, end
		}
	}
	if len(eps) > 1 {
		s.anneal(l, &best)
	}
	plan, err := ep.Schedule(busy.Clone(), eps, best.Order, s.Algorithm)
	if err != nil {
		return Result{}, err
	}
	best.Plan, best.Makespan = plan, makespan(plan)
	return best, nil
}

// anneal tries orders until the search's end, and keeps the best one in best.
func (s Search) anneal(l *lister, best *Result) {
	random := rand.New(rand.NewPCG(s.Seed, 0x6f72646572)) // "order": not the stream that made the applications
	l.begin(best.Order)
	for best.Makespan > best.Bound {
		spent := s.spent(best.Evals)
		if spent >= 1 {
			return
		}
		best.Evals++
		first, last := l.vary(random)
		worst := l.makespan() + core.Time(heat*(1-spent)*random.ExpFloat64()*float64(best.Makespan))
		if !l.try(first, last, worst) {
			continue
		}
		l.take()
		if end := l.makespan(); end < best.Makespan {
			best.Makespan = end
			best.Order = append(best.Order[:0], l.now.order...)
		}
	}
}

// spent is how much of the search is over, 0 to 1.
func (s Search) spent(evals int) float64 {
	var spent float64
	switch {
	case s.Evals > 0:
		spent = float64(evals) / float64(s.Evals)
	case s.Spent == nil:
		return 1
	}
	if s.Spent != nil {
		spent = max(spent, s.Spent())
	}
	if spent >= 0 {
		return spent
	}
	return 1 // not a number
}

// makespan is a plan's last completion.
func makespan(plan []core.Allocation) core.Time {
	var last core.Time
	for _, a := range plan {
		last = max(last, a.End())
	}
	return last
}
