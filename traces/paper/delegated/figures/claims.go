package figures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Verdict is what becomes of a claim.
type Verdict string

// The verdicts.
const (
	Holds  Verdict = "holds"
	Partly Verdict = "partly" // in some places, which it names
	Order  Verdict = "order"  // the order of magnitude only: within a factor of 10
	Fails  Verdict = "fails"
	Open   Verdict = "open" // the runs that it needs were not made
)

// Claim is a sentence of the paper, and what the runs say of it.
type Claim struct {
	ID       string  `json:"claim"`
	Printed  string  `json:"printed"`
	Ours     string  `json:"ours"`
	Verdict  Verdict `json:"verdict"`
	Expected string  `json:"expected"` // what an independent program found
	Depends  bool    `json:"depends"`  // on a reading that was chosen for its fit: no confirmation
	Why      string  `json:"why"`      // the rule, and where it holds

	figure string
}

// finding is what a rule finds.
type finding struct {
	ours    string
	verdict Verdict
	where   string
}

// claim is a rule.
type claim struct {
	id, figure, printed string
	expected            string
	depends             bool
	rule                string
	find                func(*Data) finding
}

// Claims are the verdicts on the figures that were made, and open where they were not.
func (d *Data) Claims() []Claim {
	var all []Claim
	for _, c := range slices.Concat(claims7, claims8, claims9, claims10, claims11) {
		f := finding{verdict: Open, where: c.figure + " was not made"}
		if slices.Contains(d.names, c.figure) {
			f = c.find(d)
		}
		why := c.rule
		if f.where != "" {
			why += "; " + f.where
		}
		all = append(all, Claim{c.id, c.printed, f.ours, f.verdict, c.expected, c.depends, why, c.figure})
	}
	return all
}

// everywhere is for a claim on each of some places, which are numbers of something.
func everywhere(places []int, of string, right []bool) (Verdict, string) {
	var where []string
	for i, ok := range right {
		if ok {
			where = append(where, strconv.Itoa(places[i]))
		}
	}
	switch len(where) {
	case 0:
		return Fails, ""
	case len(places):
		return Holds, ""
	}
	return Partly, "it does at " + strings.Join(where, ", ") + of
}

// parts is for a claim that says several things.
func parts(things map[string]bool, order ...string) (Verdict, string) {
	var not []string
	for _, name := range order {
		if !things[name] {
			not = append(not, name)
		}
	}
	switch len(not) {
	case 0:
		return Holds, ""
	case len(order):
		return Fails, ""
	}
	return Partly, "not: " + strings.Join(not, ", ")
}

// near is for a number: within 25 % it holds, within a factor of 10 its order does.
func near(ours, printed float64) Verdict {
	switch ratio := ours / printed; {
	case ratio >= 0.75 && ratio <= 1.25:
		return Holds
	case ratio >= 0.1 && ratio <= 10:
		return Order
	}
	return Fails
}

const nearRule = "holds within 25 % of the printed number, order within a factor of 10"

// list writes numbers with three digits.
func list(values []float64) string {
	var all []string
	for _, v := range values {
		all = append(all, digits(v))
	}
	return strings.Join(all, ", ")
}

// ratios are a[i]/b[i].
func ratios(a, b []float64) []float64 {
	all := make([]float64, len(a))
	for i := range a {
		all[i] = a[i] / b[i]
	}
	return all
}

// below says where a ratio is below a limit.
func below(values []float64, limit float64) []bool {
	all := make([]bool, len(values))
	for i, v := range values {
		all[i] = v < limit
	}
	return all
}

// pair is a figure's two series.
type pair struct{ ours, oar []point }

func (d *Data) fig7() pair {
	e := d.experiment
	return pair{along(shares, func(x int) point { return e.single(x, 1, "delegated") }), along(shares, func(x int) point { return e.single(x, 1, "oar") })}
}

func (d *Data) fig8() pair {
	e := d.experiment
	return pair{along(clusters, func(x int) point { return e.single(moldableJobs, x, "delegated") }), along(clusters, func(x int) point { return e.single(moldableJobs, x, "oar") })}
}

// ratio is ours to OAR's, of the means.
func (d *Data) ratio(p pair, m metric) []float64 {
	return ratios(d.means(p.ours, m), d.means(p.oar, m))
}

// spread is the range of the seeds of a metric at some points.
func (d *Data) spread(points []point, m metric) (low, high float64) {
	var all []float64
	for _, p := range points {
		all = append(all, d.values(p, m)...)
	}
	if len(all) == 0 {
		return 0, 0
	}
	return slices.Min(all), slices.Max(all)
}

// late is by how many per cent applications end later on the average than on the OAR-like system, a point and a seed.
func (d *Data) late(p pair) (means, seeds []float64) {
	for i := range p.ours {
		ours, oar := d.values(p.ours[i], ends), d.values(p.oar[i], ends)
		var here []float64
		for k := range ours {
			here = append(here, 100*(ours[k]/oar[k]-1))
		}
		means, seeds = append(means, mean(here)), append(seeds, here...)
	}
	return means, seeds
}

// read is the mean of a metric at a point of another reading; 0 where it was not run.
func (d *Data) read(p point, m metric) float64 {
	var all []float64
	for _, r := range d.readings[p] {
		all = append(all, m.of(r))
	}
	return mean(all)
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// spanned is the range of a metric over the other readings among some points, each reading by its largest. It is empty where
// they were not run.
func (d *Data) spanned(groups [][]point, m metric) string {
	var largest []float64
	for _, g := range groups {
		most := 0.0
		for _, p := range g {
			most = max(most, d.read(p, m))
		}
		if most > 0 {
			largest = append(largest, most)
		}
	}
	if len(largest) == 0 {
		return ""
	}
	return fmt.Sprintf("; over %d readings (%s) %s to %s", len(largest), counted(d.experiment.Readings, "seed"), digits(slices.Min(largest)), digits(slices.Max(largest)))
}
