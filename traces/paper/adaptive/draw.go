package adaptive

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"accordion/traces/paper/chart"
)

// colors are the colors of the approaches.
var colors = []color.NRGBA{chart.Colours[5], chart.Colours[0], chart.Colours[6], chart.Colours[1]}

// Charts returns the figures that were computed, one SVG each: means over the seeds with their 95 % intervals.
func (d *Data) Charts() []chart.Chart {
	var all []chart.Chart
	panels := map[string]int{}
	for _, f := range d.figures() {
		name := "figure-" + f.name[len("fig"):]
		if f.name == "fig7" {
			name += string(rune('a' + panels[f.name]))
			panels[f.name]++
		}
		all = append(all, chart.Chart{File: name + ".svg", Write: func(w io.Writer) error { return d.draw(f, w) }})
	}
	return all
}

// draw draws one figure.
func (d *Data) draw(f figure, w io.Writer) error {
	p := chart.New(f.title)
	p.Y.Label.Text = f.axis
	width := vg.Inch * 5 / vg.Length(len(f.groups)*(len(shown)+1))
	top := 0.0
	for i, a := range shown {
		b := bars{}
		for g := range f.groups {
			e := d.bar(f, a, g)
			b.Values = append(b.Values, e.Mean)
			b.halves = append(b.halves, e.Slack())
			top = math.Max(top, e.Mean+e.Slack())
		}
		drawn, err := plotter.NewBarChart(b.Values, width)
		if err != nil {
			return fmt.Errorf("draw %s: %w", f.name, err)
		}
		drawn.Color, drawn.LineStyle.Width = colors[i], 0
		drawn.Offset = width * vg.Length(2*i-len(shown)+1) / 2
		b.least, b.offset = drawn.XMin, drawn.Offset
		p.Add(drawn, b)
		p.Legend.Add(string(a), drawn)
	}
	chart.Nominal(p, f.groups)
	p.Y.Min, p.Y.Max = 0, max(top, 1e-9)*1.35 // room for the legend
	return chart.Write(p, w)
}

// bars draws the intervals above the bars of a chart.
type bars struct {
	plotter.Values
	halves []float64
	offset vg.Length
	least  float64 // place of the first group
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := draw.LineStyle{Color: chart.Ink, Width: vg.Points(0.7)}
	for i, half := range b.halves {
		at := x(b.least+float64(i)) + b.offset
		c.StrokeLine2(style, at, y(max(b.Values[i]-half, 0)), at, y(b.Values[i]+half))
	}
}
