// Package chart draws the figures of papers in a common style: the page, its fonts and colors. Callers add the content of a figure.
//
//	p := chart.New("Figure 4: mean response")
//	p.Add(…)
//	all = append(all, chart.Chart{File: "figure-4.svg", Write: func(w io.Writer) error { return chart.Write(p, w) }})
package chart

import (
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is one panel as a file.
type Chart struct {
	File  string // name: figure-7a.svg
	Write func(io.Writer) error
}

const (
	width  = 6 * vg.Inch
	height = 4 * vg.Inch
	margin = vg.Length(10) // points
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

// New returns an empty page with a title of one or several lines. Its legend is at the top left.
func New(title string) *plot.Plot {
	p := plot.New()
	p.Title.TextStyle.Font, p.Title.TextStyle.Color = Sans(12), Ink
	p.Title.Text = wrapped(title, width-2*margin, p.Title.TextStyle.Width)
	p.Title.Padding = vg.Points(4)
	p.Legend.TextStyle.Font, p.Legend.Top, p.Legend.Left = Sans(9), true, true
	p.Legend.Padding, p.Legend.YPosition = vg.Points(3), draw.PosCenter
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = Sans(10)
		a.Tick.Label.Font, a.Tick.LineStyle.Color = Sans(9), Faint
		a.Tick.Marker = ticks{}
	}
	return p
}

// Grid returns faint lines at all ticks.
func Grid() *plotter.Grid {
	style := draw.LineStyle{Color: Faint, Width: vg.Points(0.6)}
	return &plotter.Grid{Vertical: style, Horizontal: style}
}

// Wider is the largest width of a text in a browser's font, relative to its width in Liberation Sans, with which texts are measured.
const Wider = 1.2

// wrapped breaks a text between words, so that no line is wider than a width. Lines are centered by their measured width, so that a wider
// font extends them only to the right.
func wrapped(text string, width vg.Length, measure func(string) vg.Length) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if longer := strings.TrimSpace(line + " " + word); line == "" || (2*Wider-1)*measure(longer) <= width {
			line = longer
			continue
		}
		lines, line = append(lines, line), word
	}
	return strings.Join(append(lines, line), "\n")
}

// ticks are plot's default ticks with short numbers: 2500, not 2500.00.
type ticks struct{}

// Ticks implements plot.Ticker.
func (ticks) Ticks(low, high float64) []plot.Tick {
	all := plot.DefaultTicks{}.Ticks(low, high)
	for i := range all {
		if !all[i].IsMinor() {
			rounded, _ := strconv.ParseFloat(strconv.FormatFloat(all[i].Value, 'g', 6, 64), 64) // parses a number that was just formatted
			all[i].Label = strconv.FormatFloat(rounded, 'f', -1, 64)
		}
	}
	return all
}

// Nominal sets names for the places 0, 1, 2… of the horizontal axis. If there is not enough room it leaves out names at equal distances.
func Nominal(p *plot.Plot, names []string) {
	widest := vg.Length(1)
	for _, n := range names {
		widest = max(widest, p.X.Tick.Label.Width(n))
	}
	room := (width - 5*margin) / vg.Length(max(1, len(names)))
	every := int(math.Ceil(float64(Wider * (widest + vg.Points(3)) / room)))
	shown := make([]plot.Tick, len(names))
	for i, n := range names {
		shown[i] = plot.Tick{Value: float64(i)}
		if i%every == 0 {
			shown[i].Label = n
		}
	}
	p.X.Tick.Width, p.X.Tick.Length = 0, 0
	p.X.Width, p.Y.Padding = 0, p.X.Tick.Label.Width(names[0])/2
	p.X.Tick.Marker = plot.ConstantTicks(shown)
}

// Write draws a page as SVG.
func Write(p *plot.Plot, w io.Writer) error {
	canvas := vgsvg.New(width, height)
	page := draw.New(canvas)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	p.Draw(draw.Crop(page, margin, -vg.Points(16), vg.Points(8), -vg.Points(8)))
	_, err := canvas.WriteTo(w)
	return err
}

// Sans returns the font of all figures.
func Sans(points float64) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(points))
}
