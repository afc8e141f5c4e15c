package advise

import (
	"fmt"
	"math"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"accordion/core"
	"accordion/traces/advise/whatif"
)

// text is what a terminal shows of a what-if: first who would lose.
func (s *supposed) text() string {
	switch {
	case s.lines == 0 && s.of != nil:
		return "There is nothing to suppose: no program of this log was run on several sizes so that these can be compared, and a workload log knows nothing else.\n"
	case s.lines == 0:
		return "There is nothing to suppose: no job gets a line.\n"
	case !s.replays:
		return "There is nothing to suppose: no job that is replayed could have carried the line that its like gets.\n"
	}
	var b strings.Builder
	others, tell := s.result.Others.Losses(), s.result.Tell.Losses()
	b.WriteString(losses("Others", others))
	b.WriteString(losses("Those that tell", tell))
	if len(others)+len(tell) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "What if %s of %d had told more, on %s?\n\n", jobs(s.with.Told()), len(s.site.Jobs), s.machine())
	b.WriteString(s.table())
	b.WriteString(s.notes(len(others) == 0))
	return b.String()
}

func (s *supposed) machine() string {
	text := nodes(s.site.Machine.Nodes)
	if s.inUse {
		text += " (the most that were in use at once; --nodes)"
	}
	return text
}

// losses is a sentence for each that somebody would have.
func losses(who string, all []whatif.Loss) string {
	var b strings.Builder
	for _, l := range all {
		verb, than := "might", "than as it was"
		if l.Sure() {
			verb = "would"
		}
		if l.Without {
			than = "than under " + l.Policy + " without the lines"
		}
		var what []string
		for _, w := range l.Of {
			switch w.Kind {
			case whatif.Wait:
				what = append(what, fmt.Sprintf("wait %s longer%s", length(w.Value), within(&w.Estimate, length)))
			case whatif.Turnaround:
				what = append(what, fmt.Sprintf("are over %s later%s", length(w.Value), within(&w.Estimate, length)))
			case whatif.Slowdown:
				what = append(what, fmt.Sprintf("have a slowdown that is %.2f more%s", w.Value, within(&w.Estimate, func(v float64) string { return fmt.Sprintf("%.2f", v) })))
			}
		}
		fmt.Fprintf(&b, "%s %s lose in the mean: under %s with the lines they %s, %s.\n", who, verb, l.Policy, listed(what), than)
	}
	return b.String()
}

// listed is "a, b and c".
func listed(all []string) string {
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// within is the interval in words.
func within(e *whatif.Estimate, write func(float64) string) string {
	if !e.Known {
		return ""
	}
	signed := func(v float64) string {
		if v < 0 {
			return "−" + write(-v)
		}
		return write(v)
	}
	return fmt.Sprintf(" (95 %%: %s to %s)", signed(e.Low), signed(e.High))
}

// length is a mean of seconds.
func length(v float64) string {
	switch s := core.Time(math.Round(v)); {
	case v < 10:
		return fmt.Sprintf("%.1fs", v)
	case s < 3600:
		return core.FormatDuration(s)
	default:
		return core.FormatDuration((s + 30) / 60 * 60)
	}
}

// table has a part for those that tell and one for all others.
func (s *supposed) table() string {
	t := pretty.NewWriter()
	t.SetStyle(pretty.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.DrawBorder = false
	var columns []pretty.ColumnConfig
	for n := range whatif.Kinds {
		columns = append(columns, pretty.ColumnConfig{Number: n + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(pretty.Row{"", "mean wait", "mean turnaround", "bounded slowdown", "node-hours"})
	for _, g := range []struct {
		who string
		whatif.Group
	}{{"that tell", s.result.Tell}, {"others", s.result.Others}} {
		t.AppendSeparator()
		t.AppendRow(pretty.Row{fmt.Sprintf("%d %s", g.Jobs, g.who)})
		for k := range g.Rows {
			rows(t, &g.Rows[k], k == 0)
		}
	}
	return t.Render() + "\n"
}

// rows are those of one case: the first has values, the others differences.
func rows(t pretty.Writer, r *whatif.Row, first bool) {
	if first {
		f := &r.Of
		t.AppendRow(pretty.Row{"  " + r.Policy + ", as it was", length(f[whatif.Wait].Value), length(f[whatif.Turnaround].Value), fmt.Sprintf("%.2f", f[whatif.Slowdown].Value),
			hours(f[whatif.NodeHours].Value)})
		return
	}
	now, alone := pretty.Row{"  " + r.Policy}, pretty.Row{"    what the lines add"}
	if r.Lines {
		now[0] = "  " + r.Policy + ", with the lines"
	}
	for kind, f := range r.Of {
		now = append(now, changed(whatif.Kind(kind), f.Value, f.Now))
		if f.Alone != nil {
			alone = append(alone, changed(whatif.Kind(kind), f.Value, *f.Alone))
		}
	}
	if t.AppendRow(now); len(alone) > 1 {
		t.AppendRow(alone)
	}
}

// fewSeconds of a mean are too few to have a percentage.
const fewSeconds = 10

// changed is a difference in percent of what it is a difference from; of nearly nothing in seconds.
func changed(kind whatif.Kind, value float64, c whatif.Change) string {
	none := whatif.Estimate{Known: c.By.Known}
	seconds := kind == whatif.Wait && value-c.By.Value < fewSeconds
	switch share := c.Share; {
	case c.By == none:
		return "="
	case seconds && !c.By.Known:
		return signed(c.By.Value)
	case seconds:
		return fmt.Sprintf("%s (%s to %s)", signed(c.By.Value), signed(c.By.Low), signed(c.By.High))
	case !share.Known:
		return percentage(share.Value) + " %"
	default:
		return fmt.Sprintf("%s %% (%s to %s)", percentage(share.Value), percentage(share.Low), percentage(share.High))
	}
}

// signed is a length of time more or less.
func signed(v float64) string {
	if v < 0 {
		return "−" + length(-v)
	}
	return "+" + length(v)
}

// percentage has a sign, and one place.
func percentage(share float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f", 100*share), "-", "−", 1)
}

// notes say how to read the table, and what it is not.
func (s *supposed) notes(nobody bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nIn percent of %s as it was (of waits below 10 seconds: in time), and what the lines add to a policy in percent of that policy; in parentheses 95 %% intervals, from the %s drawn anew (--seed %d).\n",
		asItWas, count(s.result.Weeks, "week"), s.seed)
	if s.only != "" {
		fmt.Fprintf(&b, "All that was read is of %s: those beside whom these jobs waited are missing, and the waits are not true.\n", s.only)
	}
	if s.result.Weeks < 8 {
		b.WriteString("So few weeks say little about others: read more months for narrower intervals that hold.\n")
	}
	if nobody {
		b.WriteString("Nobody else would lose in the mean.\n")
	}
	if n := s.with.Evolving; n > 0 {
		fmt.Fprintf(&b, "%s a profile: each step begins when the line says so. (On a cluster one that is ready sooner goes on at once, where that delays nobody.)\n", carry(n))
	}
	if n := s.with.Moldable; n > 0 {
		fmt.Fprintf(&b, "%s several sizes, and are on each as fast as their like was there. %s starts them on the size that they had.\n", carry(n), asItWas)
	}
	if n := s.with.Fewer; n > 0 {
		fmt.Fprintf(&b, "%s a smaller number of nodes.\n", carry(n))
	}
	if n := s.with.Late; n > 0 {
		fmt.Fprintf(&b, "%s of the same kind would not have kept to the line: in the replay they carry none, and count as others.\n", jobs(n))
	}
	if !s.limits {
		b.WriteString("No job's time limit is known: each asks for what it took, which flatters the site as it was. Add TimelimitRaw to what sacct prints.\n")
	}
	if text := s.site.LeftOut.String(); text != "" {
		fmt.Fprintf(&b, "Not replayed: %s.\n", text)
	}
	if n := s.result.NeverBegan; n > 0 {
		fmt.Fprintf(&b, "%s found no place in one of the replays, and are in no figure.\n", jobs(n))
	}
	return b.String()
}

func carry(n int) string {
	if n == 1 {
		return "1 job carries"
	}
	return fmt.Sprintf("%d jobs carry", n)
}

func jobs(n int) string { return count(n, "job") }
