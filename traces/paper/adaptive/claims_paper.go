package adaptive

import (
	"math"
	"slices"

	"accordion/core"
	"accordion/core/sizing"
	"accordion/traces/workload"
)

// Claims returns the rows of all claims, first the claims of the paper in its order, then our own.
func (d *Data) Claims() []Row {
	return slices.Concat(d.generator(), d.responses(), d.classes(), d.sizes(), d.variants(), d.downeys(), d.curve(), d.ours(), d.onLogs())
}

// both has both interpretations of the paper.
var both = []reading{printed, fitted}

// generator returns claim 1: the classes of the workload (section 5.4), which must agree.
func (d *Data) generator() []Row {
	var all []Row
	for c, print := range [classes]struct{ share, nodes float64 }{{100, 12}, {42.7, 8}, {26.6, 9}, {30.7, 20}} {
		share, nodes := exactly(print.share, .7), exactly(print.nodes, .8)
		all = append(all, d.known("1.share", w1, "share of the jobs, %", c, share, func(k drawn) float64 { return k.shares[c] }),
			d.known("1.nodes", w1, "nodes", c, nodes, func(k drawn) float64 { return k.nodes[c] }))
	}
	offered := func(k drawn) float64 { return k.offered }
	return append(all[1:], d.known("1.load", w1, "offered load", 0, none, offered), d.known("1.load", w2, "offered load", 0, none, offered))
}

// known returns a row of a value that is known before any run.
func (d *Data) known(id string, s setting, metric string, class int, by rule, of func(drawn) float64) Row {
	var values []float64
	for _, k := range d.drawn[s] {
		values = append(values, of(k))
	}
	return d.row(id, s, "", metric, class, values, by)
}

// responses returns claim 2: mean responses (abstract, sections 5.4 and 6). For the first response the paper has two numbers.
func (d *Data) responses() []Row {
	var all []Row
	for _, s := range []setting{w1, w2} {
		for _, r := range both {
			all = append(all,
				d.ratio("2.scojo/trad", s, r, response(0), scojo, traditional, near(.30)),
				d.ratio("2.scojo/trad.half", s, r, response(0), scojo, traditional, near(.50)),
				d.ratio("2.cirne/trad", s, r, response(0), cirne, traditional, near(.70)),
				d.ratio("2.scojo/cirne", s, r, response(0), scojo, cirne, near(.41)))
		}
	}
	return all
}

// classes returns claim 3: SCOJO-P compared with Cirne and Berman, by class.
func (d *Data) classes() []Row {
	var all []Row
	for _, r := range both {
		for _, q := range []struct {
			quantity
			s       setting
			printed float64
		}{
			{response(short), w1, 1. / 3}, {response(medium), w1, 1. / 3}, {response(long), w1, .5},
			{wait(short), w1, 1. / 3}, {wait(medium), w1, 1. / 3}, {wait(long), w1, .25},
			{wait(long), w2, .33}, {response(long), w2, .52},
		} {
			all = append(all, d.ratio("3.scojo/cirne", q.s, r, q.quantity, scojo, cirne, near(q.printed)))
		}
	}
	return all
}

// sizes returns claims 4 to 6: utilization, and which jobs shrink and grow.
func (d *Data) sizes() []Row {
	var all []Row
	for _, r := range both {
		all = append(all, d.value("4.scojo", w1, r, scojo, utilisation, near(78.6)), d.value("4.cirne", w1, r, cirne, utilisation, near(89.69)))
	}
	expands := words("tends to expand: more grow than shrink", 1, math.Inf(1))
	for _, r := range both {
		for _, s := range []setting{w1, w2} {
			all = append(all, d.value("5.expands", s, r, cirne, grown(0), expands))
		}
		all = append(all, d.value("5.factor", w1, r, cirne, factor(0), near(.8)), d.value("5.factor", w1, r, cirne, factor(short), near(.72)))
	}
	all = exclude(all, "5.expands", "5.factor")
	for _, r := range both {
		for _, f := range []struct {
			id        string
			a         approach
			class     int
			low, high float64
		}{
			{"6.factor", scojo, 0, .4, .5}, {"6.factor", scojo, short, .44, .58}, {"6.factor", scojo, medium, .44, .58}, {"6.factor", scojo, long, .3, .4},
			{"6.factor.blind", blind, long, .36, .47},
		} {
			all = append(all, d.value(f.id, w1, r, f.a, factor(f.class), between(f.low, f.high).impossible(f.high, d.least(w1, f.class))))
		}
	}
	for _, s := range []setting{w1, w2} {
		for c, f := range [classes][2]float64{{.4, .5}, {.44, .58}, {.44, .58}, {.3, .4}} {
			all = append(all, d.tried("6.modifier", s, scojo, modifierAt(c), between(f[0], f[1])))
		}
	}
	return all
}

// exclude sets the verdict of rows that belong to one claim of the paper, if no interpretation of the paper
// meets all of them.
func exclude(rows []Row, ids ...string) []Row {
	for _, r := range both {
		if !slices.ContainsFunc(rows, func(row Row) bool {
			return row.Reading == string(r) && slices.Contains(ids, row.ID) && row.Verdict != Holds
		}) {
			return rows // this interpretation meets all of them
		}
	}
	for i := range rows {
		if slices.Contains(ids, rows[i].ID) {
			rows[i].Verdict = Contradicts
			rows[i].rule += "; no reading has both"
		}
	}
	return rows
}

// search is a value of the search for a modifier.
type search struct {
	metric string
	class  int
	of     func(m modified) float64
}

var trials = search{"modifiers tried", all, func(m modified) float64 { return m.trials[all] }}

func modifierAt(c int) search {
	return search{"modifier at start", c, func(m modified) float64 { return m.modifier[c] }}
}

// tried returns a row of the search for a modifier.
func (d *Data) tried(id string, s setting, a approach, of search, by rule) Row {
	var values []float64
	for _, m := range d.modified[point{s, a}] {
		values = append(values, of.of(m))
	}
	return d.row(id, s, printed, of.metric, of.class, values, by)
}

// little is the rule for the claim that SCOJO-P is only a little worse without prediction (section 5.4).
var little = words("only a little worse: 1 to 1.1 times", 1, 1.1)

// variants returns claims 7 to 11.
func (d *Data) variants() []Row {
	var all []Row
	for _, r := range both {
		for _, s := range []setting{w1, w2} {
			all = append(all, d.ratio("7.blind/scojo", s, r, response(0), blind, scojo, little))
		}
		all = append(all, d.across("8.scojo", w1Some, w1, r, response(0), scojo, near(.96)), d.across("8.cirne", w1Some, w1, r, response(0), cirne, near(1.05)))
	}
	worse := rule{"worse than with .90: the interval is above 1", math.NaN(), func(e estimate) Verdict { return when(e.Mean-e.Slack() > 1) }}
	for _, other := range []approach{"ideal .7", "ideal .8", "ideal 1"} {
		all = append(all, d.ratio("9."+string(other), w1, printed, response(0), other, scojo, worse))
	}
	for _, s := range []setting{w1, w2} {
		all = append(all, d.tried("10.trials", s, scojo, trials, words("very few: at most 10", 0, 10)))
	}
	for _, s := range []setting{w1, w2} {
		all = append(all, d.ratio("11.cirne/scojo", s, printed, seconds, cirne, scojo, words("by more than a factor of 10", 10, math.Inf(1))))
	}
	return all
}

// downeys returns claim 12: the workload W1 with the speed-ups of Cirne and Berman.
func (d *Data) downeys() []Row {
	var all []Row
	for c, print := range [classes]struct{ share, nodes float64 }{{100, 69}, {61, 61}, {28, 89}, {11, 65}} {
		all = append(all, d.known("12.nodes", downey, "nodes", c, near(print.nodes), func(k drawn) float64 { return k.nodes[c] }))
		if c > 0 {
			all = append(all, d.known("12.share", downey, "share of the jobs, %", c, near(print.share), func(k drawn) float64 { return k.shares[c] }))
		}
	}
	ratio := func(id string, q quantity, over, under approach, by rule) {
		all = append(all, d.ratio(id, downey, printed, q, over, under, by))
	}
	ratio("12.scojo/cirne", response(0), scojo, cirne, words("slightly better: .8 to 1", .8, 1))
	for c := range classes {
		ratio("12.scojo/cirne", slowdown(c), scojo, cirne, words("clearly better: at most .8", 0, .8))
	}
	ratio("12.cirne/trad", response(0), cirne, traditional, words("not much better: .8 to 1", .8, 1))
	ratio("12.cirne/submitted", response(0), cirne, submitted, words("not much better: .8 to 1", .8, 1))
	ratio("12.blind/scojo", response(0), blind, scojo, words("better: below 1", 0, 1))
	value := func(id string, a approach, q quantity, print float64) {
		all = append(all, d.value(id, downey, printed, a, q, near(print)))
	}
	for c, print := range [classes]float64{.1, .15, .07, .17} {
		value("12.factor", scojo, factor(c), print)
	}
	value("12.factor.blind", blind, factor(long), .23)
	for i, print := range [3]float64{3, 5.5, .62} {
		value("12.submitted", scojo, toSubmitted(short+i), print)
	}
	for i, print := range [3]float64{.22, .22, .6} {
		value("12.factor.cirne", cirne, factor(short+i), print)
	}
	return append(all, d.across("12.floor/scojo", floors, downey, printed, response(0), scojo, words("no gain: not below 1", 1, math.Inf(1))))
}

// curve returns claim 13, about the simple speed-up. It needs no seeds.
func (d *Data) curve() []Row {
	right := 0.0
	for n := 1; n <= nodes/2; n++ {
		w := workload.Workload{Machine: core.Machine{Nodes: nodes}, Jobs: []workload.Job{{Run: 1_000_000, Request: 1_000_000, Size: n}}}
		workload.WhatIf{Moldable: 1, Curve: workload.Piecewise}.Apply(&w)
		if sizing.New(core.Job{Choices: w.Jobs[0].Choices}, sizing.AsListed).Nodes == n {
			right++
		}
	}
	plain := func(id, metric string, value float64, by rule) Row {
		row := d.row(id, w1, "", metric, 0, []float64{value}, by)
		row.Seeds = 0
		return row
	}
	all := []Row{plain("13.best", "sizes up to 64 that are the best of their curve", right, exactly(nodes/2, 0))}
	for _, s := range []struct{ n, printed float64 }{{2, 1}, {4, .46}, {8, .29}, {1e6, .23}} {
		sigma := (.8*s.n - .65*s.n) / (.65*s.n - 1) // (S_max − S_opt) / (S_opt − 1), section 4.6
		metric := "σ of " + digits(s.n) + " nodes"
		if s.n > nodes {
			metric = "σ of many nodes"
		}
		all = append(all, plain("13.sigma", metric, sigma, exactly(s.printed, .005)))
	}
	return all
}

// The rules of our claims about our order compared with SCOJO-P.
var (
	better   = rule{"better: the interval is below 1", math.NaN(), func(e estimate) Verdict { return when(e.Mean+e.Slack() < 1) }}
	notWorse = words("not worse: the interval is not above 1", 0, 1)
)

// ours returns claim 14 on the paper's workloads: our order, and other sizes in the paper's order.
func (d *Data) ours() []Row {
	var all []Row
	for _, s := range []setting{w1, w2, w1Some, w2Some} {
		beats := better
		if s == w2Some {
			beats = notWorse
		}
		add := func(q quantity, a approach, by rule) {
			all = append(all, d.ratio("14."+string(a)+"/scojo", s, printed, q, a, scojo, by))
		}
		add(response(0), share, beats)
		for c := short; c <= long; c++ {
			add(slowdown(c), share, beats)
		}
		add(longest, share, words("at most 1.6 times as long", 0, 1.6))
		add(nodeHours, share, notWorse)
		for _, a := range []approach{"sizes", "least", "earliest"} {
			add(response(0), a, none)
		}
	}
	return all
}
