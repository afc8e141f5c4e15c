package figures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Verdict is the result for a claim.
type Verdict string

// The verdicts.
const (
	Holds  Verdict = "holds"
	Partly Verdict = "partly" // holds in some places, which Why names
	Order  Verdict = "order"  // only the order of magnitude agrees, within a factor of 10
	Fails  Verdict = "fails"
	Open   Verdict = "open" // the necessary runs were not made
)

// Claim is a statement of the paper, with the result of our runs.
type Claim struct {
	ID       string  `json:"claim"`
	Printed  string  `json:"printed"`
	Ours     string  `json:"ours"`
	Verdict  Verdict `json:"verdict"`
	Expected string  `json:"expected"` // the result of an independent program
	Depends  bool    `json:"depends"`  // the result depends on an interpretation of the paper that was chosen because it fits, and so confirms nothing
	Why      string  `json:"why"`      // the rule, and where it holds

	figure string
}

// finding is the result of a rule.
type finding struct {
	ours    string
	verdict Verdict
	where   string
}

// claim is a statement with its rule.
type claim struct {
	id, figure, printed string
	expected            string
	depends             bool
	rule                string
	find                func(*Data) finding
}

// Claims returns the verdicts for the figures that were made. The others are Open.
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

// everywhere returns the verdict for a claim that should hold in each of some places. A place is a number of something, such as clusters.
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

// parts returns the verdict for a claim with several statements.
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

// near returns the verdict for a number: it holds within 25 %, and its order of magnitude within a factor of 10.
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

// list returns numbers as text, with three digits.
func list(values []float64) string {
	var all []string
	for _, v := range values {
		all = append(all, digits(v))
	}
	return strings.Join(all, ", ")
}

// ratios returns a[i]/b[i].
func ratios(a, b []float64) []float64 {
	all := make([]float64, len(a))
	for i := range a {
		all[i] = a[i] / b[i]
	}
	return all
}

// below reports for each ratio whether it is below a limit.
func below(values []float64, limit float64) []bool {
	all := make([]bool, len(values))
	for i, v := range values {
		all[i] = v < limit
	}
	return all
}

// pair has the two series of a figure.
type pair struct{ ours, oar []point }

func (d *Data) fig7() pair {
	e := d.experiment
	return pair{along(shares, func(x int) point { return e.single(x, 1, "delegated") }), along(shares, func(x int) point { return e.single(x, 1, "oar") })}
}

func (d *Data) fig8() pair {
	e := d.experiment
	return pair{along(clusters, func(x int) point { return e.single(moldableJobs, x, "delegated") }), along(clusters, func(x int) point { return e.single(moldableJobs, x, "oar") })}
}

// ratio returns the ratios of ours to OAR's, for the means of a metric.
func (d *Data) ratio(p pair, m metric) []float64 {
	return ratios(d.means(p.ours, m), d.means(p.oar, m))
}

// spread returns the range of a metric over the seeds, at some points.
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

// late returns by how many per cent applications end later on average than on the OAR-like system, by point and by seed.
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

// read returns the mean of a metric at a point of another interpretation of the paper, or 0 if the point was
// not run.
func (d *Data) read(p point, m metric) float64 {
	var all []float64
	for _, r := range d.readings[p] {
		all = append(all, m.of(r))
	}
	return mean(all)
}

// counted returns a number with its noun.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// spanned takes the largest value of a metric under each other interpretation of the paper, and returns the
// range of these values as text. It returns "" if the other interpretations were not run.
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
