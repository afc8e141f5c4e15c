package adaptive

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"accordion/traces/interval"
)

// shown are the approaches in every figure.
var shown = []approach{traditional, scojo, blind, cirne}

// figure is a figure of the paper: bars of a quantity in groups, one bar per approach.
type figure struct {
	name, title string
	setting     setting
	groups      []string
	axis        string
	of          func(r *result, group int) float64
}

// byClassOf returns a figure whose groups are the classes.
func byClassOf(name, title, axis string, s setting, of func(f *figures) float64) figure {
	return figure{name, title, s, classNames[:], axis, func(r *result, group int) float64 { return of(&r.of[group]) }}
}

// adaptations returns Figure 8 or 12.
func adaptations(name, title string, s setting) figure {
	f := figure{name: name, title: title, setting: s, axis: "jobs"}
	for _, way := range []string{"S", "E"} {
		for _, class := range []string{"S", "M", "L"} {
			f.groups = append(f.groups, way+class)
		}
	}
	f.of = func(r *result, group int) float64 {
		if group < 3 {
			return r.of[short+group].shrunk
		}
		return r.of[short+group-3].grown
	}
	return f
}

// histogram returns a panel of Figure 7.
func histogram(class int) figure {
	f := figure{name: "fig7", title: "Figure 7: responses of " + classNames[class] + " jobs, W1", setting: w1, axis: "jobs"}
	for k := range categories {
		f.groups = append(f.groups, digits(math.Pow(10, float64(k)/3)))
	}
	f.of = func(r *result, group int) float64 { return r.of[class].histogram[group] }
	return f
}

// drawnFigures are the figures of the paper. Figure 7 has a panel per class.
var drawnFigures = []figure{
	byClassOf("fig4", "Figure 4: mean response, W1", "hours", w1, func(f *figures) float64 { return f.response }),
	byClassOf("fig5", "Figure 5: mean wait, W1", "hours", w1, func(f *figures) float64 { return f.wait }),
	byClassOf("fig6", "Figure 6: mean bounded slowdown, W1", "", w1, func(f *figures) float64 { return f.slowdown }),
	histogram(short), histogram(medium), histogram(long),
	adaptations("fig8", "Figure 8: jobs that shrink (S) or grow (E), W1", w1),
	byClassOf("fig9", "Figure 9: mean response, W2", "hours", w2, func(f *figures) float64 { return f.response }),
	byClassOf("fig10", "Figure 10: mean wait, W2", "hours", w2, func(f *figures) float64 { return f.wait }),
	byClassOf("fig11", "Figure 11: mean bounded slowdown, W2", "", w2, func(f *figures) float64 { return f.slowdown }),
	adaptations("fig12", "Figure 12: jobs that shrink (S) or grow (E), W2", w2),
	byClassOf("fig13", "Figure 13: mean response, W1, Downey's speed-ups", "hours", downey, func(f *figures) float64 { return f.response }),
	byClassOf("fig14", "Figure 14: mean bounded slowdown, W1, Downey's speed-ups", "", downey, func(f *figures) float64 { return f.slowdown }),
}

// figureOf returns the figure with a name.
func figureOf(name string) (figure, bool) {
	i := slices.IndexFunc(drawnFigures, func(f figure) bool { return f.name == name })
	if i < 0 {
		return figure{}, false
	}
	return drawnFigures[i], true
}

// figures returns the figures that were computed.
func (d *Data) figures() []figure {
	return slices.DeleteFunc(slices.Clone(drawnFigures), func(f figure) bool { return !slices.Contains(d.names, f.name) })
}

// bar returns one bar: a mean over the seeds, with its interval.
func (d *Data) bar(f figure, a approach, group int) estimate {
	return interval.Of(d.values(f.setting, a, quantity{of: func(r *result) float64 { return f.of(r, group) }}))
}

// Rows returns the bars of the figures that were computed. The paper does not print their values.
func (d *Data) Rows() []Row {
	var rows []Row
	for _, f := range d.figures() {
		for _, a := range shown {
			for g, group := range f.groups {
				g := quantity{metric: f.title, of: func(r *result) float64 { return f.of(r, g) }}
				row := d.value(f.name+"."+string(a), f.setting, printed, a, g, none)
				row.Class = group
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// Text returns the figures that were computed as tables for a terminal.
func (d *Data) Text() string {
	var b strings.Builder
	for _, f := range d.figures() {
		t := newTable()
		header := table.Row{""}
		for _, a := range shown {
			header = append(header, a)
		}
		t.AppendHeader(append(header, "printed"))
		for g, group := range f.groups {
			row := table.Row{group}
			for _, a := range shown {
				row = append(row, said(d.bar(f, a, g)))
			}
			t.AppendRow(append(row, "no printed value"))
		}
		unit := ""
		if f.axis != "" {
			unit = " (" + f.axis + ")"
		}
		fmt.Fprintf(&b, "%s%s\n%s\n\n", f.title, unit, t.Render())
	}
	return b.String()
}

func newTable() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	return t
}

// said returns a mean with its interval.
func said(e estimate) string {
	if math.IsNaN(e.Half) {
		return digits(e.Mean)
	}
	return digits(e.Mean) + " ± " + digits(e.Half)
}
