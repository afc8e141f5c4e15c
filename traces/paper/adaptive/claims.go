package adaptive

import (
	"fmt"
	"math"

	"accordion/traces/interval"
)

// Verdict is what becomes of a claim.
type Verdict string

// The verdicts. A row without a printed value has none.
const (
	Holds       Verdict = "holds"
	Not         Verdict = "not"
	Contradicts Verdict = "contradicts itself" // what the paper prints excludes itself, whatever the runs come to
)

// Row is a number that the paper prints, or one that stands beside it, and ours.
type Row struct {
	ID       string   `json:"id"`
	Workload string   `json:"workload"`
	Moldable int      `json:"moldable"` // per cent of the jobs
	Reading  string   `json:"reading"`
	Metric   string   `json:"metric"`
	Class    string   `json:"class"`
	Printed  *float64 `json:"printed"` // nil: there is none; of a range its middle
	Mean     float64  `json:"mean"`
	Half     *float64 `json:"half"`     // of the 95 % interval; nil of one seed, and where there are no seeds
	OfMeans  *float64 `json:"of_means"` // of a ratio: that of the means; else nil
	Seeds    int      `json:"seeds"`
	Verdict  Verdict  `json:"verdict"`

	four float64 // the mean of the first four seeds, as many as the paper has
	rule string
}

// rule judges an estimate.
type rule struct {
	words   string
	printed float64 // NaN: nothing
	judge   func(e estimate) Verdict
}

// none is for what nobody printed.
var none = rule{printed: math.NaN(), judge: func(estimate) Verdict { return "" }}

// when is the verdict on a condition.
func when(holds bool) Verdict {
	if holds {
		return Holds
	}
	return Not
}

// near is for a printed number: within the interval, or 10 % of the number where that is more.
func near(printed float64) rule {
	return rule{"interval, or 10 %", printed, func(e estimate) Verdict {
		return when(math.Abs(e.Mean-printed) <= max(e.Slack(), 0.1*math.Abs(printed)))
	}}
}

// exactly is for a printed number that must be met.
func exactly(printed, off float64) rule {
	return rule{fmt.Sprintf("within %g", off), printed, func(e estimate) Verdict { return when(math.Abs(e.Mean-printed) <= off) }}
}

// between is for a printed range.
func between(low, high float64) rule {
	return rule{fmt.Sprintf("%g to %g", low, high), (low + high) / 2, func(e estimate) Verdict {
		return when(e.Mean >= low-e.Slack() && e.Mean <= high+e.Slack())
	}}
}

// words are for a claim in words that means a range; there is no printed number.
func words(text string, low, high float64) rule {
	r := between(low, high)
	r.words, r.printed = text, math.NaN()
	return r
}

// impossible is a rule whose printed range lies below what can be at all, where it does.
func (r rule) impossible(high, least float64) rule {
	if high >= least {
		return r
	}
	r.words += fmt.Sprintf("; none can be below %.2f", least)
	r.judge = func(estimate) Verdict { return Contradicts }
	return r
}

// quantity is something measured of a run.
type quantity struct {
	metric string
	class  int
	of     func(r *result) float64
}

func response(c int) quantity {
	return quantity{"response", c, func(r *result) float64 { return r.of[c].response }}
}

func wait(c int) quantity {
	return quantity{"wait", c, func(r *result) float64 { return r.of[c].wait }}
}

func slowdown(c int) quantity {
	return quantity{"slowdown", c, func(r *result) float64 { return r.of[c].slowdown }}
}

func factor(c int) quantity {
	return quantity{"factor", c, func(r *result) float64 { return r.of[c].factor }}
}

func toSubmitted(c int) quantity {
	return quantity{"factor to submitted", c, func(r *result) float64 { return r.of[c].submitted }}
}

var (
	utilisation = quantity{"utilisation", all, func(r *result) float64 { return r.utilisation }}
	longest     = quantity{"longest wait", all, func(r *result) float64 { return r.longest }}
	nodeHours   = quantity{"node-hours", all, func(r *result) float64 { return r.nodeHours }}
	seconds     = quantity{"processor time", all, func(r *result) float64 { return r.seconds }}
)

// grown is how many jobs grow, for one that shrinks.
func grown(c int) quantity {
	return quantity{"grown / shrunk", c, func(r *result) float64 { return r.of[c].grown / max(r.of[c].shrunk, 1) }}
}

// values are a quantity, seed by seed.
func (d *Data) values(s setting, a approach, q quantity) []float64 {
	runs := d.results[point{s, a}]
	all := make([]float64, len(runs))
	for i := range runs {
		all[i] = q.of(&runs[i])
	}
	return all
}

// value is a row for a quantity.
func (d *Data) value(id string, s setting, r reading, a approach, q quantity, by rule) Row {
	return d.row(id, s, r, q.metric, q.class, d.values(s, r.of(a), q), by)
}

// ratio is a row for a quantity under one approach to that under another one, on the same workloads.
func (d *Data) ratio(id string, s setting, r reading, q quantity, over, under approach, by rule) Row {
	a, b := d.values(s, r.of(over), q), d.values(s, r.of(under), q)
	row := d.row(id, s, r, q.metric, q.class, each(a, b, quotient), by)
	ofMeans := mean(a) / mean(b)
	row.OfMeans = &ofMeans
	return row
}

// across is ratio of one approach on two kinds of workloads.
func (d *Data) across(id string, over, under setting, r reading, q quantity, a approach, by rule) Row {
	x, y := d.values(over, r.of(a), q), d.values(under, r.of(a), q)
	row := d.row(id, over, r, q.metric, q.class, each(x, y, quotient), by)
	ofMeans := mean(x) / mean(y)
	row.OfMeans = &ofMeans
	return row
}

// row is one of values, a seed each.
func (d *Data) row(id string, s setting, r reading, metric string, class int, values []float64, by rule) Row {
	e := interval.Of(values)
	row := Row{
		ID: id, Workload: s.String(), Moldable: s.moldable, Reading: string(r), Metric: metric, Class: classNames[class],
		Mean: e.Mean, Seeds: len(values), Verdict: by.judge(e), four: mean(values[:min(4, len(values))]), rule: by.words,
	}
	if !math.IsNaN(by.printed) {
		row.Printed = &by.printed
	}
	if !math.IsNaN(e.Half) {
		row.Half = &e.Half
	}
	return row
}

// least is how small a mean factor can be at all: the least listed size of each job.
func (d *Data) least(s setting, c int) float64 {
	return mean(d.values(s, scojo, quantity{of: func(r *result) float64 { return r.of[c].least }}))
}
