package compare

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"accordion/core/policy"
	"accordion/traces/interval"
	"accordion/traces/replay"
	"accordion/traces/report"
	"accordion/traces/workload"
)

// Case is one of several workloads that differ in which jobs are evolving.
type Case struct {
	Share   float64          // share of evolving jobs, 0 to 1
	Seed    uint64           // seed with which these jobs were drawn
	Metrics []replay.Metrics // one per policy
}

// Cases returns one case per share and seed, without metrics. A share of 0 has one case, unless moldable jobs are drawn, because all seeds
// give the same workload.
func Cases(shares []float64, first uint64, seeds int, x workload.WhatIf) (all []Case) {
	for _, share := range shares {
		n := seeds
		if share == 0 && x.Moldable == 0 {
			n = 1
		}
		for i := range n {
			all = append(all, Case{Share: share, Seed: first + uint64(i)})
		}
	}
	return all
}

// ReplayCases replays the workload with the jobs of each case changed by x, and fills in the metrics of the cases. It returns how many cases were
// replayed, and an error if the context ended before the last one. `progress` is called with the number of replayed jobs; it may be nil.
func ReplayCases(ctx context.Context, w workload.Workload, policies []policy.Policy, x workload.WhatIf, cases []Case, progress func(jobs int)) (replayed int, err error) {
	for i := range cases {
		c := &cases[i]
		drawn := w
		drawn.Jobs = slices.Clone(w.Jobs)
		x.Evolving, x.Seed = c.Share, c.Seed
		x.Apply(&drawn)
		runs, err := Replay(ctx, drawn, policies, func(n int) {
			if progress != nil {
				progress(i*len(w.Jobs)*len(policies) + n)
			}
		})
		if err != nil {
			return i, err
		}
		for _, run := range runs {
			c.Metrics = append(c.Metrics, run.Metrics)
		}
	}
	return len(cases), nil
}

// sharesRow is a row of the table of shares.
type sharesRow struct {
	name    string
	unit    report.Unit
	of      func(*replay.Metrics) float64
	applies func(*replay.Metrics) bool
}

// overall has the rows for all jobs. byKind has the rows for evolving jobs and the rows for the others.
var (
	overall = []sharesRow{
		{"mean wait", report.Seconds, func(m *replay.Metrics) float64 { return m.Waiting.Mean }, nil},
		{"bounded slowdown", report.Number, func(m *replay.Metrics) float64 { return m.Slowdown.Mean }, nil},
		{"longest wait", report.Seconds, func(m *replay.Metrics) float64 { return m.Waiting.Max }, nil},
	}
	byKind = []sharesRow{
		{"evolving jobs: wait", report.Seconds, waits(workload.Evolving), has(workload.Evolving)},
		{"evolving jobs: slowdown", report.Number, slowdown(workload.Evolving), has(workload.Evolving)},
		{"other jobs: wait", report.Seconds, waits(workload.Rigid), has(workload.Rigid)},
		{"other jobs: slowdown", report.Number, slowdown(workload.Rigid), has(workload.Rigid)},
	}
)

// Shares returns a table for a terminal with a column for each share: the values of the first policy, and the
// differences of the others on the same jobs in percent. If there are several seeds, a cell has their mean and
// half of its 95 % interval. The column of 0 % is the effect of the policy alone; the rest is the effect of the
// profiles.
func Shares(names []string, cases []Case) string {
	var shares []float64
	of := map[float64][]Case{}
	for _, c := range cases {
		if len(of[c.Share]) == 0 {
			shares = append(shares, c.Share)
		}
		of[c.Share] = append(of[c.Share], c)
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	header, columns := table.Row{"evolving"}, []table.ColumnConfig{{Number: 1}}
	for i, share := range shares {
		header = append(header, fmt.Sprintf("%g %%", math.Round(1e4*share)/100))
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(columns)
	for i, name := range names {
		t.AppendSeparator()
		t.AppendRow(table.Row{name})
		rows := overall
		if i > 0 {
			rows = slices.Concat(overall, byKind)
		}
		for _, r := range rows {
			row, says := table.Row{"  " + r.name}, false
			for _, share := range shares {
				cell := r.cell(of[share], i)
				row, says = append(row, cell), says || cell != ""
			}
			if says {
				t.AppendRow(row)
			}
		}
	}
	return t.Render() + "\n" + todays(names)
}

// cell returns a value of a policy for the cases of one share, or "" if it makes no sense.
func (r sharesRow) cell(cases []Case, policy int) string {
	var values []float64
	for i := range cases {
		m, first := &cases[i].Metrics[policy], &cases[i].Metrics[0]
		switch {
		case r.applies != nil && !r.applies(first):
		case policy == 0:
			values = append(values, r.of(first))
		case r.of(first) != 0:
			values = append(values, 100*(r.of(m)/r.of(first)-1))
		case r.of(m) == 0:
			values = append(values, 0)
		}
	}
	if len(values) == 0 {
		return ""
	}
	e := interval.Of(values)
	switch half := e.Slack(); {
	case policy > 0 && half < .05: // there is one seed, or the seeds hardly differ
		return fmt.Sprintf("%+.1f %%", e.Mean)
	case policy == 0 && half > 0:
		return value(r.unit, e.Mean) + " ± " + value(r.unit, half)
	case policy == 0:
		return value(r.unit, e.Mean)
	default:
		return fmt.Sprintf("%+.1f %% ± %.1f", e.Mean, half)
	}
}
