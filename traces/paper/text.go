package paper

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// headings are the column headings of the metrics.
var headings = map[string]string{
	"waste": "waste %", "reservation": "reservation", "utilisation": "utilisation %", "makespan": "makespan", "time": "time ms",
	"act": "completion", "awt": "waiting", "expanded": "expanded %", "expansion": "expansion %", "app_waste": "app waste %",
	toNoX: "makespan to noX", toBound: "makespan to bound",
}

// Text returns the rows as two or three tables for a terminal, in the form of the paper: min, avg and max, ours above the published ones.
func Text(rows []Row) string {
	var names []string
	by := map[string]map[string]Row{}
	for _, r := range rows {
		if by[r.Algorithm] == nil {
			names, by[r.Algorithm] = append(names, r.Algorithm), map[string]Row{}
		}
		by[r.Algorithm][r.Metric] = r
	}
	searches := slices.IndexFunc(names, func(name string) bool { _, ok := by[name][toNoX]; return ok })
	if searches < 0 {
		searches = len(names)
	}
	var b strings.Builder
	b.WriteString("Each figure is min, avg and max. Reservation, makespan, completion and waiting are relative to rigid.\n")
	for _, part := range []struct {
		title   string
		names   []string
		metrics []string
	}{
		{"Table 1: the system's figures", names[:searches], metricNames[waste:act]},
		{"Table 2: the users' figures", names[:searches], metricNames[act:]},
		{"Searched orders: the system's figures", names[searches:], append(slices.Clone(metricNames[waste:act]), toNoX, toBound)},
		{"Searched orders: the users' figures", names[searches:], metricNames[act:]},
	} {
		if len(part.names) > 0 {
			fmt.Fprintf(&b, "\n%s\n%s\n", part.title, tabulate(part.names, part.metrics, by))
		}
	}
	return b.String()
}

func tabulate(names, metrics []string, by map[string]map[string]Row) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	header := table.Row{"", ""}
	for _, m := range metrics {
		header = append(header, headings[m])
	}
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	for _, name := range names {
		ours, printed, isPrinted := table.Row{name, "ours"}, table.Row{"", "printed"}, false
		for _, m := range metrics {
			r := by[name][m]
			ours = append(ours, shown(r.Ours, ""))
			if r.Printed == nil {
				printed = append(printed, "")
				continue
			}
			isPrinted = true
			printed = append(printed, shown(r.Printed.Summary, r.Printed.Text))
		}
		t.AppendRow(ours)
		if isPrinted {
			t.AppendRow(printed)
		}
	}
	return t.Render()
}

// shown returns a summary with three digits per value. `average` replaces the mean if it is not "".
func shown(s Summary, average string) string {
	if average == "" {
		average = digits(s.Avg)
	}
	return digits(s.Min) + " " + average + " " + digits(s.Max)
}

func digits(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
