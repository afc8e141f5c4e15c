package render

import (
	"fmt"
	"io"
	"strings"

	"accordion/core"
	"accordion/traces/advise"
)

// Explain returns what one run held and used, which line it could have carried, and the advice for its group.
func Explain(runs []advise.Run, r *advise.Run, o advise.Options) string {
	own := advise.ForRun(r, o)
	report := advise.Make(runs, o)
	return story(r, &own) + ofGroup(&report, r, &own)
}

// ExplainJSON writes the line that one run could have carried.
func ExplainJSON(w io.Writer, r *advise.Run, o advise.Options) error {
	own := advise.ForRun(r, o)
	return encode(w, adviceOf(&own, 0))
}

// story returns what one run held and used, and which line it could have carried.
func story(r *advise.Run, own *advise.Advice) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Job %s, %s of %s, held %s for %s: %s node-hours.\n", r.ID, short(r.Name), short(r.User), nodes(r.Held), core.FormatDuration(r.End-r.Start), hours(nodeHours(own.Held)))
	if !r.Completed {
		b.WriteString("It did not complete: it may have ended before its steps were over.\n")
	}
	if own.Kind == advise.LeftAlone {
		fmt.Fprintf(&b, "There is no line for it: %s.\n", own.Why)
		if len(own.EP) > 1 {
			b.WriteString("\n" + indent(advise.Draw(own.EP, 60, 8)))
		}
		return b.String()
	}
	var sizes []string
	for _, s := range own.EP {
		sizes = append(sizes, fmt.Sprint(s.Nodes))
	}
	if len(sizes) == 1 {
		fmt.Fprintf(&b, "Its steps never used more than %s: ask for so many, and %s node-hours (%s) are free for others.\n\n    %s\n",
			nodes(own.EP[0].Nodes), hours(nodeHours(own.Saved)), percent(own.Saved, own.Held), own.Line)
		return b.String()
	}
	fmt.Fprintf(&b, "Its steps used %s and %s:\n\n", strings.Join(sizes[:len(sizes)-1], ", "), sizes[len(sizes)-1])
	b.WriteString(indent(advise.Draw(own.EP, 60, 8)))
	fmt.Fprintf(&b, "\nWith this line it would have held %s node-hours less (%s); its steps are told a little longer than they took:\n\n    %s\n",
		hours(nodeHours(own.Saved)), percent(own.Saved, own.Held), own.Line)
	b.WriteString("\nIn the script, the line goes to the top, and a step boundary between its programs:\n\n")
	b.WriteString(script(r, own))
	return b.String()
}

// script returns the outline of a job's script: its programs, as the accounting names them, and a call of accordion step at each boundary.
func script(r *advise.Run, own *advise.Advice) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    %s\n", own.Line)
	before := -1 // index of the last program that was written
	for i, w := range own.Boundaries {
		b.WriteString(programs(r, before+1, w.BeforeStep))
		before = w.BeforeStep - 1
		if w.BeforeStep < 0 {
			before = len(r.Steps) - 1
		}
		fmt.Fprintf(&b, "    %-35s # from %d to %s\n", `eval "$(accordion step)" || exit`, own.EP[i].Nodes, nodes(own.EP[i+1].Nodes))
	}
	b.WriteString(programs(r, before+1, -1))
	return b.String()
}

// programs returns the steps of a run with indexes from `from` to `to`-1, or to the last step if `to` is negative. If there are many steps
// it leaves out those in the middle.
func programs(r *advise.Run, from, to int) string {
	if to < 0 {
		to = len(r.Steps)
	}
	var b strings.Builder
	const most = 4
	for i := from; i < to; i++ {
		if to-from > most && i == from+most/2 {
			fmt.Fprintf(&b, "    %-35s # %d more\n", "…", to-from-most)
			i = to - most/2
		}
		fmt.Fprintf(&b, "    srun … %-28s # %s\n", short(r.Steps[i].Name), nodes(len(r.Steps[i].Nodes)))
	}
	return b.String()
}

// ofGroup returns the advice for all runs of the same job.
func ofGroup(report *advise.Report, r *advise.Run, own *advise.Advice) string {
	if a := report.For(own); a != nil {
		start := fmt.Sprintf("\nIts like was run %d times (%s of %s on %s). ", a.Runs, short(a.Name), short(a.User), nodes(a.Requested))
		if a.Sequence != "" {
			start = fmt.Sprintf("\nIts like was run %d times (%s of %s on %s), %d of these on %s one after the other, as this one. ", a.Of, short(a.Name), short(a.User), nodes(a.Requested), a.Runs, a.Sequence)
		}
		if a.Kind == advise.LeftAlone {
			return start + "There is no line: " + a.Why + ".\n"
		}
		if a.Checked > 0 {
			start += fmt.Sprintf("The line for all was made of the first %d; %d of the last %d would have been on time with it:\n", a.Runs-a.Checked, a.OnTime, a.Checked)
		} else {
			start += "The line for all:\n"
		}
		return start + fmt.Sprintf("\n    %s\n\nIt would save %s node-hours a month.\n", a.Line, hours(report.Monthly(a.Saved)))
	}
	if own.Kind != advise.LeftAlone && r.Completed {
		return "\nIts like was run too seldom for a line that is known to hold, or wasted little in all.\n"
	}
	return ""
}

// indent puts four spaces before each line.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return b.String()
}
