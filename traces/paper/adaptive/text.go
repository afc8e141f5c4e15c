package adaptive

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// ClaimsText returns the table of claims.
func (d *Data) ClaimsText() string { return rowsText(d.Claims()) }

// ReadingsText returns the table of other interpretations of the paper.
func (d *Data) ReadingsText() string {
	t := newTable()
	t.AppendHeader(table.Row{"reading", "workload", "of", "ours ± 95 %", "of means"})
	for _, r := range d.Readings() {
		of := r.Metric
		if r.OfMeans != nil {
			of += ", to that of reading P"
		}
		t.AppendRow(table.Row{r.rule, r.Workload, of, r.shown(), r.ofMeans()})
	}
	return t.Render() + "\n"
}

func rowsText(rows []Row) string {
	t := newTable()
	t.AppendHeader(table.Row{"claim", "of", "class", "printed", "ours ± 95 %", "of means", "4 seeds", "reading", "verdict", "rule"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 10, WidthMax: 48, WidthMaxEnforcer: text.WrapSoft}})
	last := ""
	for _, r := range rows {
		if number, _, _ := strings.Cut(r.ID, "."); number != last {
			if last != "" {
				t.AppendSeparator()
			}
			last = number
		}
		print := ""
		if r.Printed != nil {
			print = digits(*r.Printed)
		}
		t.AppendRow(table.Row{r.ID, fmt.Sprintf("%s, %s %d %%", r.Metric, r.Workload, r.Moldable), r.Class, print, r.shown(), r.ofMeans(), digits(r.four), r.Reading, r.Verdict, r.rule})
	}
	return t.Render() + "\n"
}

// shown returns our value with its interval.
func (r *Row) shown() string {
	if r.Half == nil {
		return digits(r.Mean)
	}
	return digits(r.Mean) + " ± " + digits(*r.Half)
}

// ofMeans returns the ratio of the means, or "".
func (r *Row) ofMeans() string {
	if r.OfMeans == nil {
		return ""
	}
	return digits(*r.OfMeans)
}

// digits returns a number with three significant digits, and as a whole number from a hundred on.
func digits(x float64) string {
	if x >= 100 || x <= -100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
