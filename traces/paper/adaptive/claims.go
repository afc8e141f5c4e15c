package adaptive

import (
	"fmt"
	"math"

	"accordion/traces/interval"
)

// Verdict is the result of a claim.
type Verdict string

// The verdicts. A row without a published value has none.
const (
	Holds       Verdict = "holds"
	Not         Verdict = "not"
	Contradicts Verdict = "contradicts itself" // the published values exclude each other, whatever the runs give
)

// Row is a published number, or a related one, with our result.
type Row struct {
	ID       string   `json:"id"`
	Workload string   `json:"workload"`
	Moldable int      `json:"moldable"` // percentage of the jobs
	Reading  string   `json:"reading"`
	Metric   string   `json:"metric"`
	Class    string   `json:"class"`
	Printed  *float64 `json:"printed"` // published number, or the middle of a published range; nil if there is none
	Mean     float64  `json:"mean"`
	Half     *float64 `json:"half"`     // half of the 95 % interval; nil for one seed, and without seeds
	OfMeans  *float64 `json:"of_means"` // the ratio of the means; nil if the row is not a ratio
	Seeds    int      `json:"seeds"`
	Verdict  Verdict  `json:"verdict"`

	four float64 // mean of the first four seeds, because the paper has four
	rule string
}

// rule computes the verdict on an estimate.
type rule struct {
	words   string
	printed float64 // published number; NaN if there is none
	judge   func(e estimate) Verdict
}

// none is the rule for values that are not published.
var none = rule{printed: math.NaN(), judge: func(estimate) Verdict { return "" }}

// when returns the verdict on a condition.
func when(holds bool) Verdict {
	if holds {
		return Holds
	}
	return Not
}

// near returns the rule for a published number: it must be within our interval, or our value within 10 % of the number.
func near(printed float64) rule {
	return rule{"interval, or 10 %", printed, func(e estimate) Verdict {
		return when(math.Abs(e.Mean-printed) <= max(e.Slack(), 0.1*math.Abs(printed)))
	}}
}

// exactly returns the rule for a published number from which our value may differ by at most `off`.
func exactly(printed, off float64) rule {
	return rule{fmt.Sprintf("within %g", off), printed, func(e estimate) Verdict { return when(math.Abs(e.Mean-printed) <= off) }}
}

// between returns the rule for a published range.
func between(low, high float64) rule {
	return rule{fmt.Sprintf("%g to %g", low, high), (low + high) / 2, func(e estimate) Verdict {
		return when(e.Mean >= low-e.Slack() && e.Mean <= high+e.Slack())
	}}
}

// words returns the rule for a claim in words, without a published number. The claim means a range of values.
func words(text string, low, high float64) rule {
	r := between(low, high)
	r.words, r.printed = text, math.NaN()
	return r
}

// impossible returns the rule r, but with the verdict Contradicts if the upper end of its published range is below the smallest possible
// value.
func (r rule) impossible(high, least float64) rule {
	if high >= least {
		return r
	}
	r.words += fmt.Sprintf("; none can be below %.2f", least)
	r.judge = func(estimate) Verdict { return Contradicts }
	return r
}

// quantity is a measured value of a run.
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

// grown returns the number of growing jobs per shrinking job.
func grown(c int) quantity {
	return quantity{"grown / shrunk", c, func(r *result) float64 { return r.of[c].grown / max(r.of[c].shrunk, 1) }}
}

// values returns a quantity for each seed.
func (d *Data) values(s setting, a approach, q quantity) []float64 {
	runs := d.results[point{s, a}]
	all := make([]float64, len(runs))
	for i := range runs {
		all[i] = q.of(&runs[i])
	}
	return all
}

// value returns the row of a quantity.
func (d *Data) value(id string, s setting, r reading, a approach, q quantity, by rule) Row {
	return d.row(id, s, r, q.metric, q.class, d.values(s, r.of(a), q), by)
}

// ratio returns the row of a quantity under one approach relative to another one, on the same workloads.
func (d *Data) ratio(id string, s setting, r reading, q quantity, over, under approach, by rule) Row {
	a, b := d.values(s, r.of(over), q), d.values(s, r.of(under), q)
	row := d.row(id, s, r, q.metric, q.class, each(a, b, quotient), by)
	ofMeans := mean(a) / mean(b)
	row.OfMeans = &ofMeans
	return row
}

// across returns the row of a quantity on one kind of workloads relative to another one, under the same approach.
func (d *Data) across(id string, over, under setting, r reading, q quantity, a approach, by rule) Row {
	x, y := d.values(over, r.of(a), q), d.values(under, r.of(a), q)
	row := d.row(id, over, r, q.metric, q.class, each(x, y, quotient), by)
	ofMeans := mean(x) / mean(y)
	row.OfMeans = &ofMeans
	return row
}

// row returns the row of values, one per seed.
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

// least returns the smallest possible mean factor, which results if each job has the smallest size that it
// lists.
func (d *Data) least(s setting, c int) float64 {
	return mean(d.values(s, scojo, quantity{of: func(r *result) float64 { return r.of[c].least }}))
}
