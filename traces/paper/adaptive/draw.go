package adaptive

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is one figure as a file.
type Chart struct {
	File  string // its name: figure-4.svg
	Write func(io.Writer) error
}

var (
	ink     = color.NRGBA{R: 0x1d, G: 0x21, B: 0x29, A: 0xff}
	colours = []color.NRGBA{
		{R: 0x5b, G: 0x62, B: 0x70, A: 0xff}, {R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, {R: 0x3a, G: 0xa0, B: 0xdc, A: 0xff}, {R: 0xd5, G: 0x5e, B: 0x00, A: 0xff},
	}
)

// Charts are the figures that were made, an SVG each: means over the seeds, with their 95 % intervals.
func (d *Data) Charts() []Chart {
	var all []Chart
	panels := map[string]int{}
	for _, f := range d.figures() {
		name := "figure-" + f.name[len("fig"):]
		if f.name == "fig7" {
			name += string(rune('a' + panels[f.name]))
			panels[f.name]++
		}
		all = append(all, Chart{File: name + ".svg", Write: func(w io.Writer) error { return d.draw(f, w) }})
	}
	return all
}

// draw draws one figure.
func (d *Data) draw(f figure, w io.Writer) error {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = f.title, f.axis
	p.Title.TextStyle.Font, p.Title.TextStyle.Color = sans(12), ink
	p.Y.Label.TextStyle.Font, p.Legend.TextStyle.Font, p.Legend.Top = sans(10), sans(9), true
	p.X.Tick.Label.Font, p.Y.Tick.Label.Font = sans(8), sans(9)
	width := vg.Inch * 5 / vg.Length(len(f.groups)*(len(shown)+1))
	top := 0.0
	for i, a := range shown {
		b := bars{}
		for g := range f.groups {
			e := d.bar(f, a, g)
			b.Values = append(b.Values, e.mean)
			b.halves = append(b.halves, e.slack())
			top = math.Max(top, e.mean+e.slack())
		}
		drawn, err := plotter.NewBarChart(b.Values, width)
		if err != nil {
			return fmt.Errorf("drawing %s: %w", f.name, err)
		}
		drawn.Color, drawn.LineStyle.Width = colours[i], 0
		drawn.Offset = width * vg.Length(2*i-len(shown)+1) / 2
		b.chart, b.offset = drawn, drawn.Offset
		p.Add(drawn, b)
		p.Legend.Add(string(a), drawn)
	}
	p.NominalX(f.groups...)
	p.Y.Min, p.Y.Max = 0, max(top, 1e-9)*1.25 // room for the legend
	canvas := vgsvg.New(6*vg.Inch, 4*vg.Inch)
	page := draw.New(canvas)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	p.Draw(draw.Crop(page, vg.Points(10), -vg.Points(16), vg.Points(8), -vg.Points(8)))
	_, err := canvas.WriteTo(w)
	return err
}

// bars draws the intervals over the bars of a chart.
type bars struct {
	plotter.Values
	halves []float64
	offset vg.Length
	chart  *plotter.BarChart
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := draw.LineStyle{Color: ink, Width: vg.Points(0.7)}
	for i, half := range b.halves {
		at := x(b.chart.XMin+float64(i)) + b.offset
		c.StrokeLine2(style, at, y(max(b.Values[i]-half, 0)), at, y(b.Values[i]+half))
	}
}

func sans(points float64) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(points))
}
