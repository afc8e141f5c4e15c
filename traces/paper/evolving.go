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

// Evolving is the experiment of the papers on evolving applications (CoreGRID 2011 and RR-7205, section 5): each test's
// applications are scheduled by every algorithm on Nodes nodes, and compared with the rigid schedule of the same ones.
type Evolving struct {
	Tests int    // 1000 in the papers
	Seed  uint64 // of the applications

	// Search is how many orders a search tries for each of the first SearchTests tests; 0: no searches.
	Search int

	// Done is told after each test, and after each search, how much of Work is done. It may be nil. It is called from
	// one goroutine at a time.
	Done func(work int)
}

// SearchTests is how many tests' orders are searched.
const SearchTests = 50

// searched are the algorithms whose order is searched.
var searched = []string{"noX", "2X+c", "infX+c"}

// Work is how many parts the experiment has, for a progress bar.
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
	Printed   *Printed `json:"printed"` // nil: the paper has none
}

// Summary is a figure over all tests: the least, the mean and the largest.
type Summary struct {
	Min float64 `json:"min"`
	Avg float64 `json:"avg"`
	Max float64 `json:"max"`
}

// The metrics, in the order of the papers' tables.
const (
	waste       = iota // % of the requested area that was reserved on top of it
	reservation        // reserved area, relative to rigid
	utilisation        // % of the machine used for computation until the makespan
	makespan           // last completion, relative to rigid
	spent              // the scheduler's own time, in ms
	act                // mean completion, relative to rigid
	awt                // mean start, relative to rigid
	expanded           // % of the applications that last longer than requested
	expansion          // by how many % an application does: over all applications, not tests
	appWaste           // % of an application's requested area that was reserved on top of it: over all applications
	metrics
)

var metricNames = [metrics]string{"waste", "reservation", "utilisation", "makespan", "time", "act", "awt", "expanded", "expansion", "app_waste"}

// Rows of a search have two metrics more.
const (
	toNoX   = "makespan_to_nox"   // makespan relative to that of noX in the order of submission
	toBound = "makespan_to_bound" // makespan relative to the lower bound, below which no schedule is
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

// outcome is one algorithm on one test.
type outcome struct {
	ep.Metrics
	values         [metrics]values
	toNoX, toBound values
}

// test is what all algorithms make of one test's applications.
type test struct {
	outcomes []outcome // as ep.Names
	searches []outcome // as searched; empty without a search
}

// Run makes the experiment on all cores. The rows are a function of Tests, Seed and Search, except for those of the
// metric "time"; they come algorithm by algorithm, those of searches last. An end of ctx ends it with ctx's error.
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

// compare schedules one test's applications by every algorithm.
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
		if a.Rigid { // the first of them
			rigid = o.Metrics
		}
		o.relate(rigid)
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// measured takes the figures of one schedule that need no other.
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

// relate takes the figures that are ratios to the rigid schedule.
func (o *outcome) relate(rigid ep.Metrics) {
	r := o.RelativeTo(rigid)
	for metric, ratio := range map[int]float64{reservation: r.Reservation, makespan: r.Makespan, act: r.Completion, awt: r.Waiting} {
		if ratio >= 0 { // else rigid has none to compare with
			o.values[metric].add(ratio)
		}
	}
}

// search looks for a better order of one test's applications; known are the schedules in the order of submission.
func (e Evolving) search(test int, name string, known []outcome) (outcome, error) {
	a, err := ep.ParseAlgorithm(name)
	if err != nil {
		return outcome{}, err
	}
	eps := Applications(e.Seed, test)
	begin := time.Now()
	found, err := order.Search{Algorithm: a, Seed: uint64(test), Evals: e.Search}.Run(profile.New(Nodes), eps)
	if err != nil {
		return outcome{}, fmt.Errorf("searching an order for test %d, %s: %w", test+1, name, err)
	}
	o := measured(eps, found.Plan, time.Since(begin))
	o.relate(known[0].Metrics)
	o.toNoX.add(float64(found.Makespan) / float64(known[slices.Index(ep.Names(), "noX")].Makespan))
	o.toBound.add(float64(found.Makespan) / float64(found.Bound))
	return o, nil
}

// evolvingRows sums up the tests, in their order: the same sums whatever the number of cores.
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

// searchRows sums up the searches, and the best of each test's.
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

// best is the outcome with the least makespan; its time is that of all searches.
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
