// Package order searches for the order in which list scheduling should place the applications of a whole queue, so
// that all of them end as early as possible. The papers use the order of submission and leave the question open
// (Klein & Pérez, CoreGRID 2011, section 4.3).
//
//	search := order.Search{Algorithm: algorithm, Seed: 1, Evals: 20000}
//	found, err := search.Run(profile.New(100), eps) // no schedule has a makespan below found.Bound
//
// A search is for a known set of applications that do not run yet. It makes no promises: an application may end later so that
// the last application ends earlier. Orders by a rule are in core/ep (InOrder, ByArea, ByLength), and queues to which jobs are
// added over time are in core/sched. Like all of core the package is pure: the caller measures the time of a search (Spent).
package order

import (
	"math/rand/v2"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// Search improves the order in which ep.Schedule places applications, by simulated annealing. In each step an
// application moves, or two swap places. A worse order is accepted sometimes, and less often towards the end of the
// search.
//
// Set Evals, Spent or both. With Evals alone the result depends only on the arguments.
type Search struct {
	Algorithm ep.Algorithm
	Seed      uint64
	Evals     int // the most orders to try; 0 means as many as Spent allows

	// Spent returns how much of the caller's budget is used, from 0 to 1. The search ends at 1. It calls Spent before each
	// order that it tries. If the budget is used up from the beginning, the result is the best of three orders by a rule.
	Spent func() float64
}

// Result is the best order that a search found.
type Result struct {
	Order    []int             // for ep.Schedule
	Plan     []core.Allocation // the schedule of ep.Schedule in this order
	Makespan core.Time         // the last completion, in seconds from 0
	Bound    core.Time         // LowerBound: no schedule ends earlier
	Evals    int               // number of orders tried
}

// heat is the mean increase, as a share of the makespan, that is accepted at the beginning of a search. The
// accepted increase is exponentially distributed. The values 0, 0.005, 0.01, 0.015, 0.02 and 0.03 were compared
// on the paper's first 50 tests with 20,000 evaluations. 0.01 gave the best mean makespan: 0.795 of the
// makespan of noX in order of submission. 0 gave 0.806.
const heat = 0.01

// Run searches for an order. `busy` is the present occupation of the machine, and does not change. Run returns an error
// if an application never fits.
//
// The search starts from the best of the orders by submission, area and length, so it is never worse than these. It
// ends early if the makespan equals the bound.
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

// anneal tries orders until the search ends, and stores the best order in `best`.
func (s Search) anneal(l *lister, best *Result) {
	random := rand.New(rand.NewPCG(s.Seed, 0x6f72646572)) // "order": a stream other than the one that generated the applications
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

// spent returns how much of the search has passed, from 0 to 1.
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

// makespan returns a plan's last completion.
func makespan(plan []core.Allocation) core.Time {
	var last core.Time
	for _, a := range plan {
		last = max(last, a.End())
	}
	return last
}
