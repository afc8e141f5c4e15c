package figures

import (
	"fmt"
	"slices"

	"accordion/traces/paper/delegated"
)

// Row is one value of a figure.
type Row struct {
	Figure  string   `json:"figure"` // with its panel, such as 7a
	Series  string   `json:"series"`
	X       float64  `json:"x"`
	Ours    Summary  `json:"ours"`
	Printed *Summary `json:"printed"` // always nil, because the paper has only curves, and a few numbers in its text (the claims)
}

// Summary is a value over the seeds: least, mean and largest.
type Summary struct {
	Min float64 `json:"min"`
	Avg float64 `json:"avg"`
	Max float64 `json:"max"`
}

func summary(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	return Summary{slices.Min(values), mean(values), slices.Max(values)}
}

// metric is what a panel shows.
type metric struct {
	panel, title string
	of           func(result) float64
}

// Panels of Figures 7 to 9.
var (
	unique = metric{"a", "unique configurations", func(r result) float64 { return float64(r.Unique) }}
	bytes  = metric{"b", "MB exchanged", func(r result) float64 { return float64(r.Bytes()) / 1e6 }}
	rmsOps = metric{"c", "million operations of the RMS", func(r result) float64 { return float64(r.OperationsRMS) / 1e6 }}
	appOps = metric{"d", "million operations of the applications", func(r result) float64 { return float64(r.OperationsApplications) / 1e6 }}
	allOps = metric{"e", "million operations in all", func(r result) float64 { return float64(r.Operations()) / 1e6 }}
	took   = metric{"f", "simulation time, s", func(r result) float64 { return r.seconds }}

	panels = []metric{unique, bytes, rmsOps, appOps, allOps, took}

	// Panels that are not in the paper.
	passes   = metric{"-passes", "passes", func(r result) float64 { return float64(r.Passes) }}
	indexed  = metric{"-indexed", "million steps of the indexed board, beside the operations of the RMS", func(r result) float64 { return float64(r.OperationsIndexed) / 1e6 }}
	chain    = metric{"-chain", "most passes after one event", func(r result) float64 { return float64(r.LongestChain) }}
	ends     = metric{"-end", "mean end, s", func(r result) float64 { return r.MeanEnd() }}
	together = metric{"-together", "unique configurations if all cem applications kept theirs together", func(r result) float64 {
		return float64(r.Unique - r.UniqueCEM + r.UniqueCEMAll)
	}}
	difference = metric{"-difference", "differences instead of whole views, % of the bytes of changes", func(r result) float64 {
		return 100 * float64(r.BytesDifference) / float64(max(1, r.BytesChange))
	}}
	cemHosts = metric{"-hosts", "hosts of a cem application", func(r result) float64 { return float64(r.CEMHosts) }}
	several  = metric{"", "share of cem applications on several clusters", func(r result) float64 { return float64(r.several) / delegated.Jobs }}
	wasted   = metric{"", "waste, million host-seconds", func(r result) float64 { return float64(r.Waste) / 1e6 }}

	beside = []metric{indexed, passes, chain, ends, difference}
)

// values returns a metric at a point by seed, or nil if it was not run.
func (d *Data) values(p point, m metric) []float64 {
	var all []float64
	for _, r := range d.results[p] {
		all = append(all, m.of(r))
	}
	return all
}

func (d *Data) mean(p point, m metric) float64 { return mean(d.values(p, m)) }

// means returns the means of a metric at some points.
func (d *Data) means(points []point, m metric) []float64 {
	var all []float64
	for _, p := range points {
		all = append(all, d.mean(p, m))
	}
	return all
}

// along returns the points of a series.
func along(xs []int, at func(x int) point) []point {
	var all []point
	for _, x := range xs {
		all = append(all, at(x))
	}
	return all
}

// series has the curves of one panel.
type series struct {
	name   string
	xs     []int
	points []point
}

// panel is a chart.
type panel struct {
	figure, title, axis string
	metric              metric
	series              []series
}

// panels returns the charts of Figures 7, 8, 9 and 11 that were made.
func (d *Data) panels() []panel {
	var all []panel
	add := func(figure, axis string, metrics []metric, some ...series) {
		for _, m := range metrics {
			all = append(all, panel{figure + m.panel, m.title, axis, m, some})
		}
	}
	two := func(xs []int, at func(x int, rms string) point) []series {
		var both []series
		for _, rms := range []string{delegated.Delegated, delegated.OAR} {
			both = append(both, series{rms, xs, along(xs, func(x int) point { return at(x, rms) })})
		}
		return both
	}
	e := d.experiment
	every := slices.Concat(panels, beside)
	if slices.Contains(d.names, "fig7") {
		add("7", "moldable jobs, %", every, two(shares, func(x int, rms string) point { return e.single(x, 1, rms) })...)
	}
	if slices.Contains(d.names, "fig8") {
		add("8", "clusters", every, two(clusters, func(x int, rms string) point { return e.single(moldableJobs, x, rms) })...)
	}
	if slices.Contains(d.names, "fig9") {
		some := []series{{"W0", clusters, along(clusters, e.w0)}, {"W1", clusters, along(clusters, func(n int) point { return e.w1(n, place) })}}
		for _, cem := range cemShares {
			some = append(some, series{fmt.Sprintf("W2 %d %%", cem), clusters, along(clusters, func(n int) point { return e.w2(n, cem) })})
		}
		add("9", "clusters", append(slices.Clone(every), together), some...)
		if e.All {
			d.sweep(add)
		}
	}
	if slices.Contains(d.names, "fig11") {
		var some []series
		for _, cem := range wasteCEM {
			some = append(some, series{fmt.Sprintf("%d %% cem", cem), fairStarts, along(fairStarts, func(f int) point { return e.waste(cem, f) })})
		}
		add("11", "fair-start delay, s", []metric{wasted}, some...)
	}
	return all
}

// sweep adds W1 with its cem application in each place.
func (d *Data) sweep(add func(figure, axis string, metrics []metric, some ...series)) {
	var places []int
	for at := 1; at <= delegated.Jobs; at++ {
		places = append(places, at)
	}
	var some []series
	for _, n := range clusters {
		some = append(some, series{fmt.Sprintf("W1, %d clusters", n), places, along(places, func(at int) point { return d.experiment.w1(n, at) })})
	}
	add("9-place-", "place of the cem application", panels, some...)
}

// Rows returns all values of all figures that were made.
func (d *Data) Rows() []Row {
	var all []Row
	for _, p := range d.panels() {
		for _, s := range p.series {
			for i, at := range s.points {
				all = append(all, Row{Figure: p.figure, Series: s.name, X: float64(s.xs[i]), Ours: summary(d.values(at, p.metric))})
			}
		}
	}
	for _, w := range d.delays {
		name := fmt.Sprintf("work %g h, fair-start %d s", w.hours, w.fair)
		low, high := w.interval()
		all = append(all,
			Row{Figure: "10-late", Series: name, X: float64(w.adaptation), Ours: Summary{w.late(), w.late(), w.late()}},
			Row{Figure: "10-interval", Series: name, X: float64(w.adaptation), Ours: Summary{low, w.mean(), high}},
			Row{Figure: "10", Series: name, X: float64(w.adaptation), Ours: summary(w.seconds)})
	}
	return all
}
