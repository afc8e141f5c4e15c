package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"accordion/traces/replay"
	"accordion/traces/report"
)

// today is the policy that stands for today's batch systems.
const today = "easy"

// Summary returns the comparison of some policies on one workload, for a terminal: a table with the differences to the first policy, a
// sentence about which jobs lose, and one about which column is today's scheduling.
func Summary(names []string, runs []Run) string {
	metrics := make([]replay.Metrics, len(runs))
	for i := range runs {
		metrics[i] = runs[i].Metrics
	}
	return Text(names, metrics, true) + Losers(names, metrics) + todays(names)
}

// todays returns a sentence about the policy that stands for today's batch systems, or "" if it is not among the names.
func todays(names []string) string {
	if !slices.Contains(names, today) {
		return ""
	}
	return today + " is today's scheduling: EASY back-filling, where evolving jobs hold their peak throughout.\n"
}

// Text returns the metrics of some replays as a table for a terminal, one column per replay. `headings` has one heading per column. `differences`
// adds the differences to the first column, if all replays are of the same workload.
func Text(headings []string, metrics []replay.Metrics, differences bool) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	header := table.Row{""}
	columns := []table.ColumnConfig{{Number: 1}}
	for i, h := range headings {
		header = append(header, text.Snip(h, widestHeading, "…"))
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(columns)
	group := Metrics[0].Group
	for _, line := range Lines(&metrics[0]) {
		if line.Group != group {
			t.AppendSeparator()
			group = line.Group
		}
		row := table.Row{line.Name}
		for i := range metrics {
			cell := value(line.Unit, line.Of(&metrics[i]))
			if differences && i > 0 {
				cell += " " + difference(line.Unit, line.Of(&metrics[i]), line.Of(&metrics[0]))
			}
			row = append(row, cell)
		}
		t.AppendRow(row)
	}
	return t.Render() + "\n"
}

// widestHeading is the maximum length of a column's name in characters. It may be the name of a log's file.
const widestHeading = 48

// value returns a value in its unit.
func value(u report.Unit, v float64) string {
	switch u {
	case report.Seconds:
		return seconds(v)
	case report.Share:
		return fmt.Sprintf("%.1f %%", 100*v)
	case report.NodeSeconds:
		return decimal(v / 3600)
	}
	return decimal(v)
}

// decimal returns a number with three significant digits, and whole numbers from a thousand on.
func decimal(v float64) string {
	switch {
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 999.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// seconds returns a length of time in its two largest units: 1h54m, 3d02h, 45.2s.
func seconds(v float64) string {
	s := int64(math.Round(v))
	switch {
	case v < 59.95:
		return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + "s"
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400-30:
		m := (s + 30) / 60
		return fmt.Sprintf("%dh%02dm", m/60, m%60)
	}
	h := (s + 1800) / 3600
	return fmt.Sprintf("%dd%02dh", h/24, h%24)
}

// difference returns how far a value is from the first, in parentheses. Percentages differ by percentage
// points.
func difference(u report.Unit, v, first float64) string {
	switch {
	case v == first:
		return "(=)"
	case u == report.Share:
		return fmt.Sprintf("(%+.1f)", 100*(v-first))
	case first == 0:
		return "(+" + value(u, v) + ")"
	}
	change := 100 * (v - first) / first
	if math.Abs(change) < 9.95 {
		return fmt.Sprintf("(%+.1f %%)", change)
	}
	return fmt.Sprintf("(%+.0f %%)", change)
}
