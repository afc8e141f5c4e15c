package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"accordion/core"
	"accordion/traces/advise/whatif"
)

// WhatIf is a what-if study in words.
type WhatIf struct {
	Losses  []string // one sentence for each loss
	Smaller []string // one sentence for each gain that the lines make smaller
	About   string   // what was replayed, or why nothing was replayed; in the second case Groups is nil
	Head    []string // names of the columns after the first one
	Groups  []Supposed
	Notes   []string // how to read the table
}

// Supposed is the section of one group of jobs.
type Supposed struct {
	Name string
	Rows []Case
}

// Case is the result of one replay, with one cell per column of WhatIf.Head.
type Case struct {
	Name  string
	Part  bool // the row shows the part of the previous row that is due to the lines
	Cells []string
}

// words returns a study in words, first the jobs that would lose.
func words(s *whatif.Study) *WhatIf {
	switch {
	case s.Lines == 0 && s.FromLog:
		return &WhatIf{About: "There is nothing to suppose: no program of this log was run on several sizes so that these can be compared, and a workload log knows nothing else."}
	case s.Lines == 0:
		return &WhatIf{About: "There is nothing to suppose: no job gets a line."}
	case !s.Replayed:
		return &WhatIf{About: "There is nothing to suppose: no job that is replayed could have carried the line that its like gets."}
	}
	lost, smaller := losses("Others", s.Result.Others.Losses())
	othersLose := len(lost) > 0
	tellLost, tellSmaller := losses("Those that tell", s.Result.Carriers.Losses())
	return &WhatIf{
		Losses: append(lost, tellLost...), Smaller: append(smaller, tellSmaller...),
		About:  fmt.Sprintf("What if %s of %d had told more, on %s?", jobs(s.With.Carriers()), len(s.Site.Jobs), machine(s)),
		Head:   []string{"mean wait", "mean turnaround", "bounded slowdown", "node-hours"},
		Groups: []Supposed{caseGroup("that tell", &s.Result.Carriers), caseGroup("others", &s.Result.Others)},
		Notes:  notes(s, othersLose),
	}
}

// WhatIfText returns a study for a terminal.
func WhatIfText(s *whatif.Study) string { return words(s).text() }

// text returns the words for a terminal.
func (w *WhatIf) text() string {
	if w.Groups == nil {
		return w.About + "\n"
	}
	var b strings.Builder
	all := slices.Concat(w.Losses, w.Smaller)
	for _, l := range all {
		b.WriteString(l + "\n")
	}
	if len(all) > 0 {
		b.WriteByte('\n')
	}
	return b.String() + w.About + "\n\n" + w.table() + "\n" + strings.Join(w.Notes, "\n") + "\n"
}

// machine returns the size of the machine, and where it comes from if it is a guess.
func machine(s *whatif.Study) string {
	text := nodes(s.Site.Machine.Nodes)
	if s.NodesInUse {
		text += " (the most that were in use at once; --nodes)"
	}
	return text
}

// losses returns sentences. `lost` has one for each loss. `smaller` has one for each gain over the site as it
// was that would be larger without the lines.
func losses(who string, all []whatif.Loss) (lost, smaller []string) {
	for i := range all {
		l := &all[i]
		var worse, better []string
		for _, w := range l.Of {
			if !l.Without || l.WorseNow(w.Kind) {
				worse = append(worse, more(w))
			} else {
				better = append(better, more(w))
			}
		}
		var gains []string
		gain := "might gain"
		for _, w := range l.Gains {
			gains = append(gains, less(w))
			if !w.Known || w.High < 0 {
				gain = "gain"
			}
		}
		verb, than := "might", "than as it was"
		if l.Sure() {
			verb = "would"
		}
		if l.Without {
			than = "than under " + l.Policy + " without the lines"
		}
		though := ""
		if len(gains) > 0 {
			though = ", though they " + listed(gains)
			if l.Without {
				though += " than as it was"
			}
		}
		if len(worse) > 0 {
			lost = append(lost, fmt.Sprintf("%s %s lose in the mean: under %s with the lines they %s, %s%s.", who, verb, l.Policy, listed(worse), than, though))
		}
		switch {
		case len(better) > 0 && len(gains) > 0:
			smaller = append(smaller, fmt.Sprintf("%s %s in the mean: under %s with the lines they %s, than as it was. That is less than without the lines: compared with %s alone they %s.",
				who, gain, l.Policy, listed(gains), l.Policy, listed(better)))
		case len(better) > 0:
			smaller = append(smaller, fmt.Sprintf("%s are no worse off under %s with the lines than as it was. Without the lines they would gain: compared with %s alone they %s.",
				who, l.Policy, l.Policy, listed(better)))
		}
	}
	return lost, smaller
}

// more returns in words by how much a mean is larger.
func more(w whatif.Worse) string {
	switch w.Kind {
	case whatif.Wait:
		return fmt.Sprintf("wait %s longer%s", length(w.Value), within(&w.Estimate, length))
	case whatif.Turnaround:
		return fmt.Sprintf("end %s later%s", length(w.Value), within(&w.Estimate, length))
	default:
		return fmt.Sprintf("have a slowdown that is %.2f more%s", w.Value, within(&w.Estimate, decimals))
	}
}

// less returns in words by how much a mean is smaller.
func less(w whatif.Worse) string {
	by := w.Estimate
	by.Value, by.Low, by.High = -by.Value, -by.High, -by.Low
	switch w.Kind {
	case whatif.Wait:
		return fmt.Sprintf("wait %s less%s", length(by.Value), within(&by, length))
	case whatif.Turnaround:
		return fmt.Sprintf("end %s sooner%s", length(by.Value), within(&by, length))
	default:
		return fmt.Sprintf("have a slowdown that is %.2f less%s", by.Value, within(&by, decimals))
	}
}

func decimals(v float64) string { return fmt.Sprintf("%.2f", v) }

// listed returns "a, b and c".
func listed(all []string) string {
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// within returns the interval in parentheses, or "" if it is not known.
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

// length returns a mean time as text. Below 10 s it has a decimal. From an hour on it is in whole minutes.
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

// table returns the cases, one section per group.
func (w *WhatIf) table() string {
	t := pretty.NewWriter()
	t.SetStyle(pretty.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.DrawBorder = false
	var columns []pretty.ColumnConfig
	header := pretty.Row{""}
	for n, name := range w.Head {
		header = append(header, name)
		columns = append(columns, pretty.ColumnConfig{Number: n + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(header)
	for _, g := range w.Groups {
		t.AppendSeparator()
		t.AppendRow(pretty.Row{g.Name})
		for _, c := range g.Rows {
			row := pretty.Row{"  " + c.Name}
			if c.Part {
				row[0] = "    " + c.Name
			}
			for _, cell := range c.Cells {
				row = append(row, cell)
			}
			t.AppendRow(row)
		}
	}
	return t.Render() + "\n"
}

// caseGroup returns the cases of one group. The first case has values, the others have differences.
func caseGroup(who string, g *whatif.Group) Supposed {
	out := Supposed{Name: fmt.Sprintf("%d %s", g.Jobs, who)}
	for k := range g.Rows {
		r := &g.Rows[k]
		c, part := Case{Name: r.Policy}, Case{Name: "what the lines add", Part: true}
		if k == 0 {
			c.Name += ", as it was"
			c.Cells = []string{length(r.Of[whatif.Wait].Value), length(r.Of[whatif.Turnaround].Value), fmt.Sprintf("%.2f", r.Of[whatif.Slowdown].Value), hours(r.Of[whatif.NodeHours].Value)}
			out.Rows = append(out.Rows, c)
			continue
		}
		if r.Lines {
			c.Name += ", with the lines"
		}
		for kind, f := range r.Of {
			c.Cells = append(c.Cells, changed(whatif.Kind(kind), f.Value, f.Now))
			if f.Alone != nil {
				part.Cells = append(part.Cells, changed(whatif.Kind(kind), f.Value, *f.Alone))
			}
		}
		if out.Rows = append(out.Rows, c); part.Cells != nil {
			out.Rows = append(out.Rows, part)
		}
	}
	return out
}

// fewSeconds is the mean wait below which a change is given in seconds, because a percentage would mislead.
const fewSeconds = 10

// changed returns a difference in percent, or in seconds for a wait below fewSeconds.
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

// signed returns a length of time with its sign.
func signed(v float64) string {
	if v < 0 {
		return "−" + length(-v)
	}
	return "+" + length(v)
}

// percentage returns a share in percent, with its sign and one decimal.
func percentage(share float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f", 100*share), "-", "−", 1)
}

// notes returns how to read the table, and its limits.
func notes(s *whatif.Study, othersLose bool) (all []string) {
	say := func(format string, values ...any) { all = append(all, fmt.Sprintf(format, values...)) }
	say("In percent of %s as it was (of waits below 10 seconds: in time), and what the lines add to a policy in percent of that policy; in parentheses 95 %% intervals, from the %s drawn anew (--seed %d).",
		whatif.Baseline, count(s.Result.Weeks, "week"), s.Seed)
	if s.OnlyUser != "" {
		say("All that was read is of %s: those beside whom these jobs waited are missing, and the waits are not true.", short(s.OnlyUser))
	}
	if s.Result.Weeks < 8 {
		say("So few weeks say little about others: read more months for narrower intervals that hold.")
	}
	if !othersLose {
		say("Nobody else would lose in the mean.")
	}
	if n := s.With.Evolving; n > 0 {
		say("%s a profile: each step begins when the line says so. (On a cluster one that is ready sooner goes on at once, where that delays nobody.)", carry(n))
	}
	if n := s.With.Moldable; n > 0 {
		say("%s several sizes, and are on each as fast as their like was there. %s starts them on the size that they had.", carry(n), whatif.Baseline)
	}
	if n := s.With.Fewer; n > 0 {
		say("%s a smaller number of nodes.", carry(n))
	}
	if n := s.With.Late; n > 0 {
		say("%s of the same kind would not have kept to the line: in the replay they carry none, and count as others.", jobs(n))
	}
	if !s.LimitsKnown {
		say("No job's time limit is known: each asks for what it took, which flatters the site as it was. Add TimelimitRaw to what sacct prints.")
	}
	if text := s.Site.LeftOut.String(); text != "" {
		say("Not replayed: %s.", text)
	}
	if n := s.Result.NeverBegan; n > 0 {
		say("%s found no place in one of the replays, and are in no figure.", jobs(n))
	}
	return all
}

// carry returns "1 job carries" or "2 jobs carry".
func carry(n int) string {
	if n == 1 {
		return "1 job carries"
	}
	return fmt.Sprintf("%d jobs carry", n)
}

func jobs(n int) string { return count(n, "job") }
