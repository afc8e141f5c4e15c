package figures

import (
	"image/color"
	"io"
	"math"
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
	File  string // its name: figure-7a.svg
	Write func(io.Writer) error
}

const (
	chartWidth  = 6 * vg.Inch
	chartHeight = 4 * vg.Inch
)

var (
	ink     = color.NRGBA{R: 0x1d, G: 0x21, B: 0x29, A: 0xff}
	faint   = color.NRGBA{R: 0xe4, G: 0xe2, B: 0xdc, A: 0xff}
	colours = []color.NRGBA{
		{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, {R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, {R: 0x00, G: 0x92, B: 0x73, A: 0xff}, {R: 0xb4, G: 0x55, B: 0x9a, A: 0xff},
		{R: 0xb9, G: 0x83, B: 0x00, A: 0xff}, {R: 0x5b, G: 0x62, B: 0x70, A: 0xff}, {R: 0x3a, G: 0xa0, B: 0xdc, A: 0xff}, {R: 0x8c, G: 0x5a, B: 0x3c, A: 0xff},
	}
)

// Charts are the panels of the figures that were made, one SVG each: the mean of the seeds, with their range.
func (d *Data) Charts() []Chart {
	var all []Chart
	for _, p := range d.panels() {
		curves := make([]curve, len(p.series))
		for i, s := range p.series {
			curves[i].name = s.name
			for k, at := range s.points {
				curves[i].add(float64(s.xs[k]), summary(d.values(at, p.metric)))
			}
		}
		all = append(all, chart(p.figure, p.title, p.axis, curves))
	}
	return append(all, d.delayCharts()...)
}

// delayCharts are Figure 10's: the mean, the largest, and the share of those that are late.
func (d *Data) delayCharts() []Chart {
	if len(d.delays) == 0 {
		return nil
	}
	var all []Chart
	for _, hours := range works {
		for _, what := range []struct {
			name, title string
			of          func(delays) float64
		}{
			{"mean", "mean end delay, s", delays.mean},
			{"most", "largest end delay, s", func(w delays) float64 { return summary(w.seconds).Max }},
			{"late", "draws that end more than D later, %", delays.late},
		} {
			var curves []curve
			for _, fair := range fairs {
				c := curve{name: "fair-start " + digits(float64(fair)) + " s"}
				for _, w := range d.delays {
					if w.hours == hours && w.fair == fair {
						v := what.of(w)
						c.add(float64(w.adaptation), Summary{v, v, v})
					}
				}
				curves = append(curves, c)
			}
			all = append(all, chart("10-"+what.name+"-"+digits(hours)+"h", what.title+" (work "+digits(hours)+" h)", "adaptation delay D, s", curves))
		}
	}
	return all
}

// curve is a series with its ranges: what the plotter takes as error bars.
type curve struct {
	name string
	plotter.XYs
	plotter.YErrors
}

func (c *curve) add(x float64, s Summary) {
	c.XYs = append(c.XYs, plotter.XY{X: x, Y: s.Avg})
	c.YErrors = append(c.YErrors, struct{ Low, High float64 }{s.Avg - s.Min, s.Max - s.Avg})
}

func chart(figure, title, axis string, curves []curve) Chart {
	return Chart{File: "figure-" + strings.ReplaceAll(figure, " ", "-") + ".svg", Write: func(w io.Writer) error {
		p := plot.New()
		p.Title.Text, p.X.Label.Text = "Figure "+figure+": "+title, axis
		p.Title.TextStyle.Font, p.Title.TextStyle.Color = sans(12), ink
		p.X.Label.TextStyle.Font = sans(10)
		p.Legend.TextStyle.Font, p.Legend.Top, p.Legend.Left = sans(9), true, true
		for _, a := range []*plot.Axis{&p.X, &p.Y} {
			a.Tick.Label.Font, a.Tick.LineStyle.Color = sans(9), faint
		}
		style := draw.LineStyle{Color: faint, Width: vg.Points(0.6)}
		p.Add(&plotter.Grid{Vertical: style, Horizontal: style})
		top, least := 0.0, 0.0
		for i, c := range curves {
			line := draw.LineStyle{Color: colours[i%len(colours)], Width: vg.Points(1.5)}
			ranges, err := plotter.NewYErrorBars(c)
			if err != nil {
				return err
			}
			ranges.LineStyle = draw.LineStyle{Color: line.Color, Width: vg.Points(0.7)}
			drawn := &plotter.Line{XYs: c.XYs, LineStyle: line}
			p.Add(drawn, ranges)
			p.Legend.Add(c.name, drawn)
			for k, y := range c.XYs {
				top, least = math.Max(top, y.Y+c.YErrors[k].High), math.Min(least, y.Y-c.YErrors[k].Low)
			}
		}
		if top <= least {
			top = least + 1
		}
		p.Y.Min, p.Y.Max = least, least+(top-least)*(1.08+0.06*float64(len(curves))) // room for the legend
		canvas := vgsvg.New(chartWidth, chartHeight)
		page := draw.New(canvas)
		page.SetColor(color.White)
		page.Fill(page.Rectangle.Path())
		p.Draw(draw.Crop(page, vg.Points(10), -vg.Points(16), vg.Points(8), -vg.Points(8)))
		_, err := canvas.WriteTo(w)
		return err
	}}
}

func sans(points float64) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(points))
}
