package render

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"accordion/core"
	"accordion/traces/advise"
)

func date(at core.Time) string { return time.Unix(at, 0).Format("2006-01-02 15:04") }

// hours returns node-hours with three significant digits, and without decimals from 100 on.
func hours(h float64) string {
	switch {
	case h >= 100:
		return fmt.Sprintf("%.0f", h)
	case h >= 1:
		return fmt.Sprintf("%.1f", h)
	}
	return fmt.Sprintf("%.2f", h)
}

func nodeHours(area int64) float64 { return float64(area) / 3600 }

func percent(part, whole int64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

// Text returns the report for a terminal, with at most `top` rows per table.
func Text(report *advise.Report, in *Input, top int) string {
	var b strings.Builder
	advised, left := split(report.Advice)
	if len(advised) > 0 {
		b.WriteString(lines(report, advised[:min(top, len(advised))]))
	}
	if more := len(advised) - top; more > 0 {
		fmt.Fprintf(&b, "… and %s (--top)\n", count(more, "more line"))
	}
	for i, a := range left {
		if i == 0 {
			b.WriteString("\nLeft alone, though nodes were held that no step used:\n")
		}
		if i == top {
			fmt.Fprintf(&b, "  … and %s (--top)\n", count(len(left)-top, "more job"))
			break
		}
		fmt.Fprintf(&b, "  %s %s on %s, %s: %s node-hours a month; %s\n", short(a.User), short(a.Name), nodes(a.Requested), runsOf(&a), hours(report.Monthly(a.Saved)), a.Why)
	}
	b.WriteString(sizings(report.Sizes, top))
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	if in.Source.isLog() {
		b.WriteString(logSummary(report, in))
	} else {
		b.WriteString(summary(report, advised, in))
	}
	return strings.TrimLeft(b.String(), "\n")
}

// split divides advice into the groups with a line and the groups that are left alone. These groups are last in
// `all`.
func split(all []advise.Advice) (advised, left []advise.Advice) {
	for i, a := range all {
		if a.Kind == advise.LeftAlone {
			return all[:i], all[i:]
		}
	}
	return all, nil
}

// lines returns the table of the advised lines.
func lines(report *advise.Report, advised []advise.Advice) string {
	t := pretty.NewWriter()
	t.SetStyle(pretty.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.DrawBorder = false
	right := func(n int) pretty.ColumnConfig {
		return pretty.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	t.SetColumnConfigs([]pretty.ColumnConfig{right(3), right(4), right(5), right(6), right(7), right(8)})
	t.AppendHeader(pretty.Row{"user", "job", "nodes", "runs", "example", "on time", "node-hours saved\na month", "of held", "line"})
	for _, a := range advised {
		onTime := "-"
		if a.Checked > 0 {
			onTime = fmt.Sprintf("%d of %d", a.OnTime, a.Checked)
		}
		t.AppendRow(pretty.Row{short(a.User), short(a.Name), a.Requested, strings.TrimSuffix(runsOf(&a), " runs"), a.Latest, onTime, hours(report.Monthly(a.Saved)), percent(a.Saved, a.Held), a.Line})
	}
	text := t.Render() + "\n"
	if slices.ContainsFunc(advised, func(a advise.Advice) bool { return a.Sequence != "" }) {
		text += "\"5 of 9\" runs: the others evolve otherwise. The line is for those whose steps have its sizes, one after the other: who submits knows which these are.\n"
	}
	return text
}

// widestName is the maximum length of a name on a terminal, in characters. JSON has the whole name.
const widestName = 48

// short cuts a name for a terminal.
func short(name string) string { return text.Snip(name, widestName, "…") }

// runsOf returns "9 runs", or "5 of 9 runs" if the other runs of the group have another sequence of sizes.
func runsOf(a *advise.Advice) string {
	if a.Of > 0 {
		return fmt.Sprintf("%d of %d runs", a.Runs, a.Of)
	}
	return fmt.Sprintf("%d runs", a.Runs)
}

// sizings returns the jobs that ran on several sizes.
func sizings(all []advise.Sizing, top int) string {
	var b strings.Builder
	for i := range all {
		if i == 0 {
			b.WriteString("\nRun on several sizes; with a line the job starts on the one on which it is over first:\n")
		}
		if i == top {
			fmt.Fprintf(&b, "  … and %s (--top)\n", count(len(all)-top, "more job"))
			break
		}
		s := &all[i]
		fmt.Fprintf(&b, "  %s %s: %s\n    %s\n", short(s.User), short(s.Name), s.Line, aboutSizing(s))
	}
	return b.String()
}

// aboutSizing returns how many runs a line of sizes was computed from, how well it fits them, and which sizes it leaves out.
func aboutSizing(s *advise.Sizing) string {
	text := count(s.Runs, "run")
	if s.Checked > 0 {
		text += fmt.Sprintf(", %d of the last %d on time", s.OnTime, s.Checked)
	}
	if s.Curve != "" {
		text += fmt.Sprintf("; the curve is within %.0f %% of what was seen", math.Ceil(100*s.MaxError))
	}
	for _, z := range s.Sizes {
		if z.Slower {
			text += fmt.Sprintf("; not on %s, where it was no faster", nodes(z.Nodes))
		}
	}
	return text
}

// logSummary returns the sums of a workload log, and what such a log does not contain.
func logSummary(report *advise.Report, in *Input) string {
	runs := 0
	for i := range report.Sizes {
		runs += report.Sizes[i].Runs
	}
	text := fmt.Sprintf("Of %d jobs %d are runs of %s, each on several sizes.\n", len(in.Runs), runs, count(len(report.Sizes), "program"))
	if runs == 0 {
		text = fmt.Sprintf("Of %d jobs no program was run on several sizes so that these can be compared: there is no line.\n", len(in.Runs))
	}
	return text + logLimits(in.Source)
}

// logLimits returns what a workload log does not contain.
func logLimits(s Source) string {
	text := "A workload log knows sizes and times: not what steps a job had (so there is no #EP), nor what its input was.\n"
	if s == UnnamedLog {
		text += "This one does not name programs, either: all that a user has in one queue passes for one job. Look twice at its lines.\n"
	}
	return text
}

// summary returns the sums of an accounting, and counts the jobs without advice by reason.
func summary(report *advise.Report, advised []advise.Advice, in *Input) string {
	var b strings.Builder
	var saved int64
	users := map[string]bool{}
	for _, a := range advised {
		saved += a.Saved
		users[a.User] = true
	}
	fmt.Fprintf(&b, "In %s %s held %s node-hours.", span(report.Period), count(len(in.Runs), "job"), hours(nodeHours(report.Held)))
	switch {
	case in.Source == OAR: // OAR does not record job steps
		b.WriteByte('\n')
	case len(advised) == 0:
		b.WriteString(" No profile would have saved a twentieth of what its job held.\n")
	default:
		fmt.Fprintf(&b, " With %s, of %s, it would have been %s less (%s).\n", count(len(advised), "line"), count(len(users), "user"), hours(nodeHours(saved)), percent(saved, report.Held))
		b.WriteString("On time: of the last third of the runs, which the line was not made of. Where a line begins a step, the script says `accordion step`:\n`accordion advise JOB` tells between which programs.\n")
	}
	var silent []string
	for _, s := range []struct {
		n    int
		what string
	}{{report.NoAdvice.FullyUsed, "use what they hold"}, {report.NoAdvice.TooFewRuns, "are run too seldom (--runs)"}, {report.NoAdvice.NoSteps, stepless(in.Source)},
		{report.NoAdvice.NotCompleted, "did not complete"}} {
		if s.n > 0 {
			silent = append(silent, fmt.Sprintf("%d %s", s.n, s.what))
		}
	}
	if len(silent) > 0 {
		fmt.Fprintf(&b, "Of the others %s.\n", strings.Join(silent, ", "))
	}
	return b.String()
}

// stepless returns why runs have no steps.
func stepless(s Source) string {
	if s == OAR {
		return "are known to OAR by their nodes and times alone"
	}
	return "start nothing with srun"
}

// span returns the length of a period, in days from two days on.
func span(period core.Time) string {
	if days := (period + 43200) / 86400; days > 1 {
		return fmt.Sprintf("%d days", days)
	}
	return core.FormatDuration(period)
}

// count returns "1 job" or "2 jobs".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func nodes(n int) string { return count(n, "node") }
