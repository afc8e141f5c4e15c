package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"accordion/traces/replay"
	"accordion/traces/workload"
)

// column is a figure that is compared.
type column struct {
	name string
	of   func(*replay.Metrics) float64
}

var columns = []column{
	{"mean wait", func(m *replay.Metrics) float64 { return m.Waiting.Mean }},
	{"slowdown", func(m *replay.Metrics) float64 { return m.Slowdown.Mean }},
	{"longest wait", func(m *replay.Metrics) float64 { return m.Waiting.Max }},
	{"evolving: wait", func(m *replay.Metrics) float64 { return m.Of(workload.Evolving).Waiting }},
	{"evolving: slowdown", func(m *replay.Metrics) float64 { return m.Of(workload.Evolving).Slowdown }},
	{"others: wait", func(m *replay.Metrics) float64 { return m.Of(workload.Rigid).Waiting }},
	{"others: slowdown", func(m *replay.Metrics) float64 { return m.Of(workload.Rigid).Slowdown }},
}

// least is a wait, in seconds, below which a ratio says nothing.
const least = 1

// spread is ratios to EASY: their geometric mean, and the worst.
type spread struct {
	mean, worst float64
	n           int
}

// ratios is the spread of a column under a policy; of no ratio at all n is 0.
func ratios(results []result, policy int, c column) spread {
	s := spread{}
	sum := 0.0
	for _, r := range results {
		if base := c.of(&r.Metrics[0]); base >= least && r.Metrics[policy].Jobs > 0 {
			x := c.of(&r.Metrics[policy]) / base
			sum += math.Log(max(x, 1e-6))
			s.worst, s.n = max(s.worst, x), s.n+1
		}
	}
	s.mean = math.Exp(sum / float64(max(s.n, 1)))
	return s
}

func (s spread) String() string {
	switch s.n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.2f", s.mean)
	}
	return fmt.Sprintf("%.2f (%.2f)", s.mean, s.worst)
}

// replayed says whether any of the results has that policy.
func replayed(results []result, policy int) bool {
	return slices.ContainsFunc(results, func(r result) bool { return r.Metrics[policy].Jobs > 0 })
}

// page is docs/gains.md.
func page(all []result, seeds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Who gains

Real workload logs, replayed as if a share of their jobs had told how they evolve: a mountain (they begin and end on few nodes), and at 30 %% ramps, too.
Each figure is that under another policy divided by that under EASY, in which these jobs hold their peak throughout, on the same jobs: below 1 is
better. It is a geometric mean over cases, with the worst of them in brackets: the log's size kept as the peak and its work kept (`+"`--same peak`, `--same area`"+`), %d drawings each (one for
conservative back-filling, which sees peaks only, too). `+"`repeated`"+` has no row on Curie, where it takes an hour or more of processor time. Jobs ask for what the log says that they
asked for. On LLNL-Thunder nobody waits, and on NASA-iPSC hardly anybody; LLNL-Atlas has a queue at 1.25 and 1.5 times its load. Made by

    go run ./scripts/gains %s-o docs/gains.md

`, seeds, chosen(all))
	losses(&b, all)
	for _, share := range shares {
		overall(&b, all, share)
	}
	b.WriteString("## Log by log\n\n")
	for _, name := range names(all) {
		oneLog(&b, all, name)
	}
	return b.String()
}

// names are the logs, in their order.
func names(all []result) (found []string) {
	for _, r := range all {
		if !slices.Contains(found, r.Log) {
			found = append(found, r.Log)
		}
	}
	return found
}

// chosen is the option by which only some of the logs were replayed; "" when all were.
func chosen(all []result) string {
	if found := names(all); len(found) < len(logs) {
		return fmt.Sprintf("-logs %q ", strings.Join(found, ","))
	}
	return ""
}

// of is the results of a log and a share.
func of(all []result, name string, share int) (some []result) {
	for _, r := range all {
		if r.Log == name && r.Share == share {
			some = append(some, r)
		}
	}
	return some
}

// losses are what is worse than under EASY, the worst first. What hardly anybody notices is not in it.
func losses(b *strings.Builder, all []result) {
	type loss struct {
		what string
		spread
	}
	var worse []loss
	for _, name := range names(all) {
		for _, share := range shares {
			for p := 1; p < len(policies); p++ {
				if policies[p] == slow { // it is there to be compared with, and nobody's choice
					continue
				}
				for _, c := range columns {
					if share == 0 && strings.HasPrefix(c.name, "others") { // they are all
						continue
					}
					if s := ratios(of(all, name, share), p, c); s.n > 0 && s.mean > 1.02 {
						worse = append(worse, loss{fmt.Sprintf("| `%s` | %s | %d %% | %s |", policies[p], name, share, c.name), s})
					}
				}
			}
		}
	}
	slices.SortStableFunc(worse, func(a, b loss) int { return cmp.Compare(b.mean, a.mean) })
	b.WriteString("## Where somebody loses\n\nAll means above 1.02 but those of conservative back-filling, the worst first.\n\n| policy | log | evolving | | to EASY |\n|---|---|---|---|---|\n")
	for _, l := range worse {
		fmt.Fprintf(b, "%s %v |\n", l.what, l.spread)
	}
	b.WriteString("\n")
}

// overall is a table of all logs: the mean of their means, and the worst log's.
func overall(b *strings.Builder, all []result, share int) {
	head(b, fmt.Sprintf("## All %d logs, %d %% evolving", len(names(all)), share))
	for p := 1; p < len(policies); p++ {
		some := slices.DeleteFunc(names(all), func(name string) bool { return !replayed(of(all, name, share), p) })
		if len(some) == 0 {
			continue
		}
		title := policies[p]
		if len(some) < len(names(all)) {
			title += fmt.Sprintf(" (%d of them)", len(some))
		}
		row(b, title, func(c column) spread {
			s, sum := spread{}, 0.0
			for _, name := range some {
				if one := ratios(of(all, name, share), p, c); one.n > 0 {
					sum += math.Log(one.mean)
					s.worst, s.n = max(s.worst, one.mean), s.n+1
				}
			}
			s.mean = math.Exp(sum / float64(max(s.n, 1)))
			return s
		})
	}
	b.WriteString("\n")
}

// oneLog is the tables of a log.
func oneLog(b *strings.Builder, all []result, name string) {
	m := &of(all, name, shares[0])[0].Metrics[0]
	head(b, fmt.Sprintf("### %s\n\n%d jobs on %d nodes; under EASY, where nobody evolves, they wait %.1f h in the mean and %.0f h at most.", name, m.Jobs, m.Nodes, m.Waiting.Mean/3600, m.Waiting.Max/3600))
	for _, share := range shares {
		for p := 1; p < len(policies); p++ {
			if !replayed(of(all, name, share), p) {
				continue
			}
			row(b, fmt.Sprintf("%d %%, %s", share, policies[p]), func(c column) spread { return ratios(of(all, name, share), p, c) })
		}
	}
	b.WriteString("\n")
}

func head(b *strings.Builder, title string) {
	fmt.Fprintf(b, "%s\n\n| |", title)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
}

func row(b *strings.Builder, name string, of func(column) spread) {
	fmt.Fprintf(b, "| %s |", name)
	for _, c := range columns {
		fmt.Fprintf(b, " %v |", of(c))
	}
	b.WriteString("\n")
}
