package figures

import (
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"accordion/traces/paper/chart"
)

// Charts returns the panels of the figures that were made, one SVG each. They show the mean over the seeds, with their range.
func (d *Data) Charts() []chart.Chart {
	var all []chart.Chart
	for _, p := range d.panels() {
		curves := make([]curve, len(p.series))
		for i, s := range p.series {
			curves[i].name = s.name
			for k, at := range s.points {
				curves[i].add(float64(s.xs[k]), summary(d.values(at, p.metric)))
			}
		}
		all = append(all, panelChart(p.figure, p.title, p.axis, curves))
	}
	return append(all, d.delayCharts()...)
}

// delayCharts returns the panels of Figure 10: the mean, the largest delay, and the percentage of late applications.
func (d *Data) delayCharts() []chart.Chart {
	if len(d.delays) == 0 {
		return nil
	}
	var all []chart.Chart
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
			all = append(all, panelChart("10-"+what.name+"-"+digits(hours)+"h", what.title+" (work "+digits(hours)+" h)", "adaptation delay D, s", curves))
		}
	}
	return all
}

// curve is a series with its ranges, which are drawn as error bars.
type curve struct {
	name string
	plotter.XYs
	plotter.YErrors
}

func (c *curve) add(x float64, s Summary) {
	c.XYs = append(c.XYs, plotter.XY{X: x, Y: s.Avg})
	c.YErrors = append(c.YErrors, struct{ Low, High float64 }{s.Avg - s.Min, s.Max - s.Avg})
}

func panelChart(figure, title, axis string, curves []curve) chart.Chart {
	return chart.Chart{File: "figure-" + strings.ReplaceAll(figure, " ", "-") + ".svg", Write: func(w io.Writer) error {
		p := chart.New("Figure " + figure + ": " + title)
		p.X.Label.Text = axis
		p.Add(chart.Grid())
		top, least := 0.0, 0.0
		for i, c := range curves {
			line := draw.LineStyle{Color: chart.Colours[i%len(chart.Colours)], Width: vg.Points(1.5)}
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
		p.Y.Min, p.Y.Max = least, least+(top-least)*(1.1+0.075*float64(len(curves))) // space for the legend
		return chart.Write(p, w)
	}}
}
