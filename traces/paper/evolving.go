package paper

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/order"
	"accordion/core/profile"
)

// Evolving is the experiment of the papers on evolving applications (CoreGRID 2011 and RR-7205, section 5). Every algorithm schedules the
// applications of each test on Nodes nodes. The results are compared with the rigid schedule of the same applications.
type Evolving struct {
	Tests int    // 1000 in the papers
	Seed  uint64 // seed of the applications

	// Search is the number of orders that a search tries for each of the first SearchTests tests; 0 means that there are no searches.
	Search int

	// Done is called after each test and each search with the finished part of Work, from one goroutine at a time. It may be nil.
	Done func(work int)
}

// SearchTests is the number of tests with a search.
const SearchTests = 50

// searched are the algorithms with a search.
var searched = []string{"noX", "2X+c", "infX+c"}

// Work returns the number of parts of the experiment, for a progress bar.
func (e Evolving) Work() int { return e.Tests + e.searches()*len(searched) }

func (e Evolving) searches() int {
	if e.Search <= 0 {
		return 0
	}
	return min(e.Tests, SearchTests)
}

// Row is one figure of one algorithm.
type Row struct {
	Algorithm string   `json:"algorithm"`
	Metric    string   `json:"metric"`
	Ours      Summary  `json:"ours"`
	Printed   *Printed `json:"printed"` // the paper's figure; nil if the paper has none
}

// Summary is the smallest, mean and largest value of a figure over all tests.
type Summary struct {
	Min float64 `json:"min"`
	Avg float64 `json:"avg"`
	Max float64 `json:"max"`
}

// The metrics, in the order of the papers' tables.
const (
	waste       = iota // area reserved beyond the requested area, in % of the requested area
	reservation        // reserved area, relative to rigid
	utilisation        // computing area, in % of the machine until the makespan
	makespan           // last completion, relative to rigid
	spent              // time of the scheduler in ms
	act                // mean completion, relative to rigid
	awt                // mean start, relative to rigid
	expanded           // applications that last longer than requested, in %
	expansion          // how much longer an application lasts, in %; over all applications, not tests
	appWaste           // area reserved for an application beyond its requested area, in %; over all applications
	metrics
)

var metricNames = [metrics]string{"waste", "reservation", "utilisation", "makespan", "time", "act", "awt", "expanded", "expansion", "app_waste"}

// Two more metrics in rows of searches.
const (
	toNoX   = "makespan_to_nox"   // makespan relative to the makespan of noX in the order of submission
	toBound = "makespan_to_bound" // makespan relative to the lower bound of all schedules
)

// values are samples of one figure.
type values struct {
	sum         float64
	count       int
	least, most float64
}

func (v *values) add(x float64) { v.join(values{x, 1, x, x}) }

func (v *values) join(w values) {
	switch {
	case w.count == 0:
		return
	case v.count == 0:
		v.least, v.most = w.least, w.most
	}
	v.sum, v.count = v.sum+w.sum, v.count+w.count
	v.least, v.most = min(v.least, w.least), max(v.most, w.most)
}

func (v *values) summary() Summary {
	return Summary{v.least, v.sum / float64(max(v.count, 1)), v.most}
}

// outcome is the result of one algorithm in one test.
type outcome struct {
	ep.Metrics
	values         [metrics]values
	toNoX, toBound values
}

// test is the results of all algorithms in one test.
type test struct {
	outcomes []outcome // one per element of ep.Names
	searches []outcome // one per element of searched; empty without searches
}

// Run runs the experiment on all cores. The rows depend only on Tests, Seed and Search, except for the metric "time". They are sorted by
// algorithm, searches last. If ctx ends, Run returns its error.
func (e Evolving) Run(ctx context.Context) ([]Row, error) {
	if e.Tests < 1 {
		return nil, fmt.Errorf("the experiment needs at least 1 test, not %d", e.Tests)
	}
	tests := make([]test, e.Tests)
	if err := Each(ctx, e.Tests, e.Done, func(i int) (err error) {
		tests[i].outcomes, err = compare(Applications(e.Seed, i))
		return err
	}); err != nil {
		return nil, err
	}
	for i := range e.searches() {
		tests[i].searches = make([]outcome, len(searched))
	}
	done := func(work int) {
		if e.Done != nil {
			e.Done(e.Tests + work)
		}
	}
	if err := Each(ctx, e.searches()*len(searched), done, func(i int) error {
		t, algorithm := i/len(searched), i%len(searched)
		found, err := e.search(t, searched[algorithm], tests[t].outcomes)
		tests[t].searches[algorithm] = found
		return err
	}); err != nil {
		return nil, err
	}
	rows := evolvingRows(tests)
	if e.searches() > 0 {
		rows = append(rows, searchRows(tests[:e.searches()])...)
	}
	return rows, nil
}

// compare schedules one test's applications with every algorithm.
func compare(eps []core.EP) ([]outcome, error) {
	var outcomes []outcome
	var rigid ep.Metrics
	for _, name := range ep.Names() {
		a, err := ep.ParseAlgorithm(name)
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		plan, err := ep.Schedule(profile.New(Nodes), eps, nil, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		o := measured(eps, plan, time.Since(begin))
		if a.Rigid { // rigid is the first algorithm
			rigid = o.Metrics
		}
		o.relate(rigid)
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// measured returns the figures of a schedule that need no other schedule.
func measured(eps []core.EP, plan []core.Allocation, took time.Duration) outcome {
	o := outcome{Metrics: ep.Measure(Nodes, eps, plan)}
	o.values[waste].add(o.Waste)
	o.values[utilisation].add(o.Utilisation)
	o.values[spent].add(took.Seconds() * 1000)
	o.values[expanded].add(o.Expanded)
	for i, a := range plan {
		length, area := eps[i].Total(), eps[i].Area()
		o.values[expansion].add(100 * float64(a.EP.Total()-length) / float64(length))
		o.values[appWaste].add(100 * float64(a.EP.Area()-area) / float64(area))
	}
	return o
}

// relate computes the figures that are relative to the rigid schedule.
func (o *outcome) relate(rigid ep.Metrics) {
	r := o.RelativeTo(rigid)
	for metric, ratio := range map[int]float64{reservation: r.Reservation, makespan: r.Makespan, act: r.Completion, awt: r.Waiting} {
		if ratio >= 0 { // a negative ratio means that the rigid schedule has no such figure
			o.values[metric].add(ratio)
		}
	}
}

// search searches for a better order of one test's applications. `known` has the schedules in the order of submission.
func (e Evolving) search(test int, name string, known []outcome) (outcome, error) {
	a, err := ep.ParseAlgorithm(name)
	if err != nil {
		return outcome{}, err
	}
	eps := Applications(e.Seed, test)
	begin := time.Now()
	found, err := order.Search{Algorithm: a, Seed: uint64(test), Evals: e.Search}.Run(profile.New(Nodes), eps)
	if err != nil {
		return outcome{}, fmt.Errorf("search an order for test %d, %s: %w", test+1, name, err)
	}
	o := measured(eps, found.Plan, time.Since(begin))
	o.relate(known[0].Metrics)
	o.toNoX.add(float64(found.Makespan) / float64(known[slices.Index(ep.Names(), "noX")].Makespan))
	o.toBound.add(float64(found.Makespan) / float64(found.Bound))
	return o, nil
}

// evolvingRows summarizes the tests in their order, so that the sums do not depend on the number of cores.
func evolvingRows(tests []test) []Row {
	var rows []Row
	for i, name := range ep.Names() {
		var all outcome
		for _, t := range tests {
			all.join(t.outcomes[i])
		}
		rows = append(rows, all.rows(name)...)
	}
	return rows
}

// searchRows summarizes the searches, and the best one of each test.
func searchRows(tests []test) []Row {
	var rows []Row
	for i, name := range append(searched[:len(searched):len(searched)], "best") {
		var all outcome
		for _, t := range tests {
			if i < len(searched) {
				all.join(t.searches[i])
				continue
			}
			all.join(best(t.searches))
		}
		name += "+search"
		rows = append(rows, all.rows(name)...)
		rows = append(rows, Row{Algorithm: name, Metric: toNoX, Ours: all.toNoX.summary()}, Row{Algorithm: name, Metric: toBound, Ours: all.toBound.summary()})
	}
	return rows
}

// best returns the outcome with the smallest makespan, with the time of all searches together.
func best(searches []outcome) outcome {
	o := searches[0]
	took := 0.0
	for _, s := range searches {
		took += s.values[spent].sum
		if s.Makespan < o.Makespan {
			o = s
		}
	}
	o.values[spent] = values{}
	o.values[spent].add(took)
	return o
}

func (o *outcome) join(p outcome) {
	for i := range o.values {
		o.values[i].join(p.values[i])
	}
	o.toNoX.join(p.toNoX)
	o.toBound.join(p.toBound)
}

func (o *outcome) rows(name string) []Row {
	rows := make([]Row, metrics)
	for i := range rows {
		rows[i] = Row{Algorithm: name, Metric: metricNames[i], Ours: o.values[i].summary()}
		if all, ok := printedEvolving[name]; ok {
			rows[i].Printed = &all[i]
		}
	}
	return rows
}
