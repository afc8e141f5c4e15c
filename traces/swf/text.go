package swf

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"accordion/core"
)

// Text returns the survey as plain text.
func (s *Survey) Text() string {
	var b strings.Builder
	s.writeSummary(&b)
	s.writeQuantiles(&b)
	s.writeWeeks(&b)
	if wrong := s.Wrong(); len(wrong) > 0 {
		b.WriteString("\nwhat looks wrong\n")
		for _, line := range wrong {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	return b.String()
}

// Wrong returns what is wrong in the log, one line per kind: first violations of the format, then anomalies.
func (s *Survey) Wrong() []string {
	all := slices.Clone(s.Problems)
	if s.Machine == 0 {
		all = append(all, "the size of the machine is unknown: "+s.whyUnsized())
	}
	for _, a := range s.Anomalies {
		all = append(all, a.String())
	}
	return all
}

// whyUnsized returns why the header does not have the size of the machine.
func (s *Survey) whyUnsized() string {
	var wrong *SizeError
	if errors.As(s.unsized, &wrong) {
		return fmt.Sprintf("the header's %s is no whole number of processors", core.Shown(wrong.Line))
	}
	return "the header has neither MaxProcs nor MaxNodes"
}

func (s *Survey) writeSummary(b *strings.Builder) {
	row := func(name, format string, a ...any) { fmt.Fprintf(b, "%-11s  %s\n", name, fmt.Sprintf(format, a...)) }
	row("log", "%s", cut(printable(s.Log)))
	if s.Computer != "" {
		row("computer", "%s", cut(printable(s.Computer)))
	}
	if s.Machine > 0 {
		row("machine", "%d processors", s.Machine)
	} else {
		row("machine", "unknown: %s (give --nodes)", s.whyUnsized())
	}
	row("jobs", "%d of %d users", s.Jobs, s.Users)
	if s.Bursts > 0 {
		row("bursts", "%d lines of parts of these jobs, not counted again", s.Bursts)
	}
	var ends []string
	for _, name := range slices.Sorted(maps.Keys(s.Status)) {
		ends = append(ends, fmt.Sprintf("%d %s", s.Status[name], name))
	}
	if len(ends) > 0 {
		row("status", "%s", strings.Join(ends, ", "))
	}
	if s.Evolving > 0 {
		row("evolving", "%d jobs have a profile", s.Evolving)
	}
	if s.Jobs > 0 {
		row("submitted", "%s to %s (%s)", s.when(s.FirstSubmit), s.when(s.LastSubmit), core.FormatDuration(s.LastSubmit-s.FirstSubmit))
		row("last end", "%s", s.when(s.LastEnd))
		row("sizes", "%.1f %% serial, %.1f %% powers of two", 100*s.Serial, 100*s.PowersOfTwo)
		row("work", "%.4g processor-hours%s", s.Area/3600, s.used())
	}
}

func (s *Survey) used() string {
	if s.Utilisation == 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f %% of the machine from the first submission to the last end", 100*s.Utilisation)
}

// when returns a second of the log as a date and time, if the log has its start.
func (s *Survey) when(second int64) string { return s.format(second, "2006-01-02 15:04:05 MST") }

func (s *Survey) format(second int64, form string) string {
	const year10000 = 253402300800
	if s.Start == Unknown || s.Start+second >= year10000 {
		return fmt.Sprintf("second %d", second)
	}
	return time.Unix(s.Start+second, 0).In(s.zone).Format(form)
}

func (s *Survey) writeQuantiles(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-16s %10s %10s %10s %10s %10s %10s %10s %10s %10s %10s\n", "",
		"jobs", "mean", "least", "10 %", "25 %", "median", "75 %", "90 %", "99 %", "most")
	for _, row := range []struct {
		name string
		q    Quantiles
	}{{"processors", s.Size}, {"run time, s", s.Run}, {"requested, s", s.Request}, {"waited, s", s.Wait}, {"between jobs, s", s.Interarrival}} {
		q := row.q
		if q.Known == 0 {
			fmt.Fprintf(b, "%-16s %10s\n", row.name, "unknown")
			continue
		}
		fmt.Fprintf(b, "%-16s %10d %10.1f %10d %10d %10d %10d %10d %10d %10d %10d\n", row.name, q.Known, q.Mean, q.Min, q.P10, q.P25, q.P50, q.P75, q.P90, q.P99, q.Max)
	}
}

// barWidth is the length of a full week's bar, in characters.
const barWidth = 40

// writeWeeks draws the load of each week. If the machine is unknown, the bars are relative to the week with the largest load.
func (s *Survey) writeWeeks(b *strings.Builder) {
	if len(s.Weeks) == 0 {
		return
	}
	full := 0.0
	for _, w := range s.Weeks {
		full = max(full, w.Area)
	}
	title := "work submitted, processor-hours"
	if s.Machine > 0 {
		title = "load submitted"
		full = max(full, float64(s.Machine)*week)
	}
	fmt.Fprintf(b, "\n%-16s %7s  %s\n", "week from", "jobs", title)
	for _, w := range s.Weeks {
		value := fmt.Sprintf("%.4g", w.Area/3600)
		if s.Machine > 0 {
			value = fmt.Sprintf("%.2f", w.Load)
		}
		bar := 0
		if full > 0 {
			bar = int(math.Round(barWidth * w.Area / full))
		}
		fmt.Fprintf(b, "%-16s %7d  %5s %s\n", s.format(w.From, time.DateOnly), w.Jobs, value, strings.Repeat("█", bar))
	}
}

// printable removes control characters from a text of the log, so that it cannot change the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 || r == '\ufffd' {
			return '?'
		}
		return r
	}, text)
}

// cut shortens a text to the width that the name of its row leaves.
func cut(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
