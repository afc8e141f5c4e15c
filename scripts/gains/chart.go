package main

import (
	"io"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"accordion/traces/paper/chart"
	"accordion/traces/workload"
)

// The case in the headline: 30 % of the jobs evolve under the policy patient. Their profile is a mountain whose
// peak is the size in the log.
const (
	headlineShare  = 30
	headlinePolicy = "patient"
)

// headlineCase reports whether a result belongs to the case in the headline.
func headlineCase(r result) bool {
	return r.Share == headlineShare && r.Shape == workload.Mountain && r.Same == workload.SamePeak
}

// headlines returns the names of the logs in the headline, which are from real machines at their own load. For each
// log it returns the mean wait of all jobs under a policy, in percent of the mean wait under EASY.
func headlines(all []result, policyName string) (names []string, percent []float64) {
	for _, l := range logs {
		var some []result
		for _, r := range all {
			if r.Log == l.name && headlineCase(r) {
				some = append(some, r)
			}
		}
		if s := ratios(some, slices.Index(policies, policyName), columns[0]); l.real() && s.n > 0 {
			names, percent = append(names, l.name), append(percent, 100*s.mean)
		}
	}
	return names, percent
}

// real reports whether the log is from a real machine at its own load.
func (l log) real() bool { return l.ScaleLoad == 0 && l.name != "lublin_256" }

// drawHeadlines draws the headline as an SVG chart with a bar for each log.
func drawHeadlines(w io.Writer, all []result) error {
	names, percent := headlines(all, headlinePolicy)
	p := chart.New("Mean wait in percent of EASY's: lower is better")
	slices.Reverse(names) // the first log must be at the top
	slices.Reverse(percent)
	bars, err := plotter.NewBarChart(plotter.Values(percent), vg.Points(18))
	if err != nil {
		return err
	}
	bars.Horizontal, bars.Color, bars.LineStyle.Width = true, chart.Colours[0], 0
	p.Add(bars)
	p.NominalY(names...)
	p.X.Min, p.X.Max = 0, 100
	return chart.Write(p, w)
}
