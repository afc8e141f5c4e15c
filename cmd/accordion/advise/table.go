package advise

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

// hours is node-hours as people compare them.
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

// table is what a terminal shows.
func table(report *advise.Report, h *heard, top int) string {
	var b strings.Builder
	told, left := split(report.Advice)
	if len(told) > 0 {
		b.WriteString(lines(report, told[:min(top, len(told))]))
	}
	if more := len(told) - top; more > 0 {
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
	if h.log != nil {
		b.WriteString(h.log.summary(report, h))
	} else {
		b.WriteString(summary(report, told, h))
	}
	return strings.TrimLeft(b.String(), "\n")
}

func split(all []advise.Advice) (told, left []advise.Advice) {
	for i, a := range all {
		if a.Kind == advise.LeftAlone {
			return all[:i], all[i:]
		}
	}
	return all, nil
}

func lines(report *advise.Report, told []advise.Advice) string {
	t := pretty.NewWriter()
	t.SetStyle(pretty.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.DrawBorder = false
	right := func(n int) pretty.ColumnConfig {
		return pretty.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	t.SetColumnConfigs([]pretty.ColumnConfig{right(3), right(4), right(5), right(6), right(7), right(8)})
	t.AppendHeader(pretty.Row{"user", "job", "nodes", "runs", "example", "on time", "node-hours saved\na month", "of held", "line"})
	for _, a := range told {
		onTime := "-"
		if a.Checked > 0 {
			onTime = fmt.Sprintf("%d of %d", a.OnTime, a.Checked)
		}
		t.AppendRow(pretty.Row{short(a.User), short(a.Name), a.Requested, strings.TrimSuffix(runsOf(&a), " runs"), a.Latest, onTime, hours(report.Monthly(a.Saved)), percent(a.Saved, a.Held), a.Line})
	}
	text := t.Render() + "\n"
	if slices.ContainsFunc(told, func(a advise.Advice) bool { return a.Sequence != "" }) {
		text += "\"5 of 9\" runs: the others evolve otherwise. The line is for those whose steps have its sizes, one after the other: who submits knows which these are.\n"
	}
	return text
}

// widestName bounds a name in what a terminal shows, in characters. Programs get all of it (--json).
const widestName = 48

// short cuts a name that is long.
func short(name string) string { return text.Snip(name, widestName, "…") }

// runsOf is "9 runs", or "5 of 9 runs" where the others evolve otherwise.
func runsOf(a *advise.Advice) string {
	if a.Of > 0 {
		return fmt.Sprintf("%d of %d runs", a.Runs, a.Of)
	}
	return fmt.Sprintf("%d runs", a.Runs)
}

// sizings are the jobs that were run on several sizes.
func sizings(all []advise.Sizing, top int) string {
	var b strings.Builder
	for i, s := range all {
		if i == 0 {
			b.WriteString("\nRun on several sizes; with a line the job starts on the one on which it is over first:\n")
		}
		if i == top {
			fmt.Fprintf(&b, "  … and %s (--top)\n", count(len(all)-top, "more job"))
			break
		}
		fmt.Fprintf(&b, "  %s %s: %s\n    %s", short(s.User), short(s.Name), s.Line, count(s.Runs, "run"))
		if s.Checked > 0 {
			fmt.Fprintf(&b, ", %d of the last %d on time", s.OnTime, s.Checked)
		}
		if s.Curve != "" {
			fmt.Fprintf(&b, "; the curve is within %.0f %% of what was seen", math.Ceil(100*s.Off))
		}
		for _, z := range s.Sizes {
			if z.Slower {
				fmt.Fprintf(&b, "; not on %s, where it was no faster", nodes(z.Nodes))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// summary says what all of it comes to, and of whom nothing is said.
func summary(report *advise.Report, told []advise.Advice, h *heard) string {
	var b strings.Builder
	var saved int64
	users := map[string]bool{}
	for _, a := range told {
		saved += a.Saved
		users[a.User] = true
	}
	fmt.Fprintf(&b, "In %s %s held %s node-hours.", span(report.Period), count(len(h.runs), "job"), hours(nodeHours(report.Held)))
	switch {
	case h.oar: // it knows of no steps
		b.WriteByte('\n')
	case len(told) == 0:
		b.WriteString(" No profile would have saved a twentieth of what its job held.\n")
	default:
		fmt.Fprintf(&b, " With %s, of %s, it would have been %s less (%s).\n", count(len(told), "line"), count(len(users), "user"), hours(nodeHours(saved)), percent(saved, report.Held))
		b.WriteString("On time: of the last third of the runs, which the line was not made of. Where a line begins a step, the script says `accordion step`:\n`accordion advise JOB` tells between which programs.\n")
	}
	var silent []string
	for _, s := range []struct {
		n    int
		what string
	}{{report.Left.Sound, "use what they hold"}, {report.Left.Seldom, "are run too seldom (--runs)"}, {report.Left.NoSteps, stepless(h)},
		{report.Left.NotCompleted, "did not complete"}} {
		if s.n > 0 {
			silent = append(silent, fmt.Sprintf("%d %s", s.n, s.what))
		}
	}
	if len(silent) > 0 {
		fmt.Fprintf(&b, "Of the others %s.\n", strings.Join(silent, ", "))
	}
	return b.String()
}

// stepless says of runs without steps why there are none.
func stepless(h *heard) string {
	if h.oar {
		return "are known to OAR by their nodes and times alone"
	}
	return "start nothing with srun"
}

// span is the time of which was read.
func span(period core.Time) string {
	if days := (period + 43200) / 86400; days > 1 {
		return fmt.Sprintf("%d days", days)
	}
	return core.FormatDuration(period)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func nodes(n int) string { return count(n, "node") }
