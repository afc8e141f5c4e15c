// Package chart is what the figures of all papers look like: the page, its fonts and colors. What is drawn on it is each paper's.
//
//	p := chart.New("Figure 4: mean response")
//	p.Add(…)
//	all = append(all, chart.Chart{File: "figure-4.svg", Write: func(w io.Writer) error { return chart.Write(p, w) }})
package chart

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is one panel as a file.
type Chart struct {
	File  string // its name: figure-7a.svg
	Write func(io.Writer) error
}

const (
	width  = 6 * vg.Inch
	height = 4 * vg.Inch
)

// The colors of a page, and those of its series.
var (
	Ink     = color.NRGBA{R: 0x1d, G: 0x21, B: 0x29, A: 0xff}
	Faint   = color.NRGBA{R: 0xe4, G: 0xe2, B: 0xdc, A: 0xff}
	Colours = []color.NRGBA{
		{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, {R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, {R: 0x00, G: 0x92, B: 0x73, A: 0xff}, {R: 0xb4, G: 0x55, B: 0x9a, A: 0xff},
		{R: 0xb9, G: 0x83, B: 0x00, A: 0xff}, {R: 0x5b, G: 0x62, B: 0x70, A: 0xff}, {R: 0x3a, G: 0xa0, B: 0xdc, A: 0xff}, {R: 0x8c, G: 0x5a, B: 0x3c, A: 0xff},
	}
)

// New is an empty page with a title. Its legend is at the top.
func New(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font, p.Title.TextStyle.Color = sans(12), Ink
	p.Legend.TextStyle.Font, p.Legend.Top = sans(9), true
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(10)
		a.Tick.Label.Font, a.Tick.LineStyle.Color = sans(9), Faint
	}
	return p
}

// Write draws a page as SVG.
func Write(p *plot.Plot, w io.Writer) error {
	canvas := vgsvg.New(width, height)
	page := draw.New(canvas)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	p.Draw(draw.Crop(page, vg.Points(10), -vg.Points(16), vg.Points(8), -vg.Points(8)))
	_, err := canvas.WriteTo(w)
	return err
}

func sans(points float64) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(points))
}
