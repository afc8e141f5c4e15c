package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"accordion/core/policy"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// column is a figure that the tables compare.
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

// least is a mean wait in seconds. Ratios of smaller mean waits are meaningless.
const least = 1

// spread holds the geometric mean and the worst of several ratios to EASY.
type spread struct {
	mean, worst float64
	n           int
}

// ratios returns the spread of a column under a policy relative to EASY. The field n is 0 if there are no ratios.
func ratios(results []result, policy int, c column) spread {
	return quotients(results, policy, c, func(r *result) float64 { return c.of(&r.Metrics[0]) })
}

// quotients returns the spread of a column under a policy relative to the values of `base`.
func quotients(results []result, policy int, c column, base func(*result) float64) spread {
	s := spread{}
	sum := 0.0
	for i := range results {
		if r := &results[i]; base(r) >= least && r.Metrics[policy].Jobs > 0 {
			x := c.of(&r.Metrics[policy]) / base(r)
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

// replayed reports whether any of the results has the policy.
func replayed(results []result, policy int) bool {
	return slices.ContainsFunc(results, func(r result) bool { return r.Metrics[policy].Jobs > 0 })
}

// page returns the text of docs/gains.md.
func page(all []result, seeds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Who gains

For users, administrators and researchers who ask what profiles would bring. Real workload logs are replayed as if
some of their jobs had said how they evolve.

![The mean wait of all jobs under the policy patient, in percent of that under EASY back-filling, for each log](gains.svg)

%s

## How it was measured

An evolving job is drawn from the log's jobs: it begins and ends on few nodes (a mountain), and at 30 %% also as a ramp. Its peak is the log's size.
Under EASY it holds that peak throughout, as it has to today. So the jobs are the same under each policy, and a figure is the quotient of two waits or slowdowns: below 1 is
better than EASY. A figure is the geometric mean over %d drawings (one for `+"`conservative` and `repeated`"+`). The worst drawing stands in brackets.
Policies that plan a place for every waiting job take hours on Curie, and have no row there. Jobs ask for what the log says that they
asked for. On LLNL-Thunder nobody waits, and on NASA-iPSC hardly anybody; LLNL-Atlas has a queue at 1.25 and 1.5 times its load. Made by

    go run ./scripts/gains %s-o docs/gains.md

`, headlineText(all), seeds, chosen(all))
	peak := same(all, workload.SamePeak)
	for _, share := range shares {
		overall(&b, peak, share, nil)
	}
	losses(&b, peak)
	area := same(all, workload.SameArea)
	b.WriteString(`## If jobs keep their work, not their peak

Here an evolving job does the work of the log's job, so its peak is larger than the log's size. Under EASY it then holds more than it ever
held, and a comparison with that EASY flatters every other policy. The last column compares the mean wait with EASY on the log as it is.

`)
	asItIs := map[string]float64{}
	for _, r := range all {
		if r.Share == 0 {
			asItIs[r.Log] = columns[0].of(&r.Metrics[0])
		}
	}
	for _, share := range shares[1:] {
		overall(&b, area, share, asItIs)
	}
	b.WriteString("## Log by log\n\n")
	for _, name := range names(all) {
		oneLog(&b, peak, name)
	}
	return b.String()
}

// headlineText returns the sentences at the beginning of the page.
func headlineText(all []result) string {
	found, percent := headlines(all, headlinePolicy)
	if len(found) == 0 {
		return "None of the chosen logs is of a real machine at its own load."
	}
	worse := 0
	for _, l := range lossesOf(same(all, workload.SamePeak)) {
		if l.policy == headlinePolicy && l.share == headlineShare {
			worse++
		}
	}
	kept := "No mean of all jobs, of evolving jobs or of the others, is worse than under EASY by more than 2 %."
	if worse > 0 {
		are := "means at 30 % are"
		if worse == 1 {
			are = "mean at 30 % is"
		}
		kept = fmt.Sprintf("Not everything gets better: %d %s worse than under EASY by more than 2 %% ([where somebody loses](#where-somebody-loses)).", worse, are)
	}
	kinds := [2]spread{}
	for i, c := range []column{columns[3], columns[5]} {
		var some []result
		for _, r := range all {
			if headlineCase(r) && slices.Contains(found, r.Log) {
				some = append(some, r)
			}
		}
		kinds[i] = ratios(some, slices.Index(policies, headlinePolicy), c)
	}
	var alone []float64 // mean waits under the policy in workloads without evolving jobs
	for _, name := range found {
		alone = append(alone, 100*ratios(of(all, name, 0), slices.Index(policies, headlinePolicy), columns[0]).mean)
	}
	unset := ""
	if others, usual := headlines(all, policy.Default); len(others) > 0 {
		unset = fmt.Sprintf("A sidecar uses this policy where its configuration has `[plan] policy = \"%s\"`; by its default, `%s`, the cut is %s %% on %s.\n",
			headlinePolicy, policy.Default, span(100-slices.Max(usual), 100-slices.Min(usual), "%.0f"), logsInWords(others))
	}
	return fmt.Sprintf("If 30 %% of the jobs say how they evolve, the policy `patient` cuts the mean wait of all jobs by %s %% on %s.\n"+
		"Jobs that evolve wait %.0f %% less on average, and jobs that say nothing %.0f %% less.\n"+
		"The comparison is with EASY back-filling of the same jobs, where an evolving job holds its peak throughout.\n"+
		"The policy alone, where no job evolves, changes the mean wait by %s %%; the rest is what the profiles bring.\n"+
		"%s%s\n\nYour own log tells what it would bring you: `accordion compare LOG --evolving 30%%`.",
		span(100-slices.Max(percent), 100-slices.Min(percent), "%.0f"), logsInWords(found), 100-100*kinds[0].mean, 100-100*kinds[1].mean,
		span(slices.Min(alone)-100, slices.Max(alone)-100, "%+.0f"), unset, kept)
}

// span returns a range of numbers, or one number if both ends look the same.
func span(from, to float64, format string) string {
	low, high := fmt.Sprintf(format, from), fmt.Sprintf(format, to)
	if low == high {
		return low
	}
	return low + " to " + high
}

// logsInWords returns the number of logs with their names.
func logsInWords(names []string) string {
	if len(names) == 1 {
		return "the log of " + names[0]
	}
	return fmt.Sprintf("%d real logs (%s)", len(names), strings.Join(names, ", "))
}

// same returns the results for one value of --same. Workloads without evolving jobs have only one result, which is
// stored under the first value.
func same(all []result, way workload.Same) (some []result) {
	for _, r := range all {
		if r.Same == way {
			some = append(some, r)
		}
	}
	return some
}

// names returns the names of the logs in their order.
func names(all []result) (found []string) {
	for _, r := range all {
		if !slices.Contains(found, r.Log) {
			found = append(found, r.Log)
		}
	}
	return found
}

// chosen returns the option that selects the replayed logs, or "" if all were replayed.
func chosen(all []result) string {
	if found := names(all); len(found) < len(logs) {
		return fmt.Sprintf("-logs %q ", strings.Join(found, ","))
	}
	return ""
}

// of returns the results for a log and a share.
func of(all []result, name string, share int) (some []result) {
	for _, r := range all {
		if r.Log == name && r.Share == share {
			some = append(some, r)
		}
	}
	return some
}

// loss is a mean figure that is worse than under EASY.
type loss struct {
	policy, log string
	share       int
	column      string
	spread
}

// lossesOf returns the figures whose ratio to EASY is above 1.02, the worst first.
func lossesOf(all []result) (worse []loss) {
	for _, name := range names(all) {
		for _, share := range shares {
			for p := 1; p < len(policies); p++ {
				if policies[p] == slow {
					continue
				}
				for _, c := range columns {
					if share == 0 && strings.HasPrefix(c.name, "others") { // without evolving jobs, the other jobs are all jobs
						continue
					}
					if s := ratios(of(all, name, share), p, c); s.n > 0 && s.mean > 1.02 {
						worse = append(worse, loss{policies[p], name, share, c.name, s})
					}
				}
			}
		}
	}
	slices.SortStableFunc(worse, func(a, b loss) int { return cmp.Compare(b.mean, a.mean) })
	return worse
}

// losses writes the table of losses.
func losses(b *strings.Builder, all []result) {
	b.WriteString("## Where somebody loses\n\nAll means above 1.02 but those of conservative back-filling, the worst first.\n\n| policy | log | evolving | | to EASY |\n|---|---|---|---|---|\n")
	for _, l := range lossesOf(all) {
		fmt.Fprintf(b, "| `%s` | %s | %d %% | %s | %v |\n", l.policy, l.log, l.share, l.column, l.spread)
	}
	b.WriteString("\n")
}

// overall writes a table over all logs, with the mean of their means and with the worst log. If `asItIs` is not
// nil, it holds the mean wait of each log under EASY without evolving jobs, and the table has a last column
// relative to these waits.
func overall(b *strings.Builder, all []result, share int, asItIs map[string]float64) {
	title := fmt.Sprintf("## All %d logs, %d %% evolving", len(names(all)), share)
	last := ""
	if asItIs != nil {
		title, last = fmt.Sprintf("### All %d logs, %d %% evolving, with the work of the log's jobs", len(names(all)), share), " against the log as it is |"
	}
	head(b, title, last)
	for p := 1; p < len(policies); p++ {
		some := slices.DeleteFunc(names(all), func(name string) bool { return !replayed(of(all, name, share), p) })
		if len(some) == 0 {
			continue
		}
		title := policies[p]
		if len(some) < len(names(all)) {
			title += fmt.Sprintf(" (%d of them)", len(some))
		}
		over := func(one func(name string) spread) spread {
			s, sum := spread{}, 0.0
			for _, name := range some {
				if one := one(name); one.n > 0 {
					sum += math.Log(one.mean)
					s.worst, s.n = max(s.worst, one.mean), s.n+1
				}
			}
			s.mean = math.Exp(sum / float64(max(s.n, 1)))
			return s
		}
		row(b, title, func(c column) spread {
			return over(func(name string) spread { return ratios(of(all, name, share), p, c) })
		})
		if asItIs != nil {
			fmt.Fprintf(b, " %v |", over(func(name string) spread {
				return quotients(of(all, name, share), p, columns[0], func(*result) float64 { return asItIs[name] })
			}))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// oneLog writes the tables of a log.
func oneLog(b *strings.Builder, all []result, name string) {
	m := &of(all, name, shares[0])[0].Metrics[0]
	head(b, fmt.Sprintf("### %s\n\n%d jobs on %d nodes; under EASY, where nobody evolves, they wait %.1f h in the mean and %.0f h at most.", name, m.Jobs, m.Nodes, m.Waiting.Mean/3600, m.Waiting.Max/3600), "")
	for _, share := range shares {
		for p := 1; p < len(policies); p++ {
			if !replayed(of(all, name, share), p) {
				continue
			}
			row(b, fmt.Sprintf("%d %%, %s", share, policies[p]), func(c column) spread { return ratios(of(all, name, share), p, c) })
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
}

// head writes a title and the header row of a table. If `last` is not "", the table has this last column.
func head(b *strings.Builder, title, last string) {
	fmt.Fprintf(b, "%s\n\n| |", title)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c.name)
	}
	b.WriteString(last + "\n|---|" + strings.Repeat("---|", len(columns)+strings.Count(last, "|")) + "\n")
}

// row writes a row, but not the end of its line.
func row(b *strings.Builder, name string, of func(column) spread) {
	fmt.Fprintf(b, "| %s |", name)
	for _, c := range columns {
		fmt.Fprintf(b, " %v |", of(c))
	}
}
