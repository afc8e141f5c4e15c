package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	paper "accordion/traces/paper/chart"
)

// Sizes and colors of the figures, as on the printed page.
const (
	figureWidth  = 9 * vg.Inch
	figureHeight = 4.2 * vg.Inch
	headHeight   = vg.Length(30) // height of a title
	panelHeight  = 1.7 * vg.Inch
	bins         = 480 // number of parts of the time axis in charts over time
)

var (
	soft         = color.NRGBA{R: 0x5d, G: 0x64, B: 0x70, A: 0xff}
	policyColour = []color.NRGBA{
		{R: 0x5b, G: 0x62, B: 0x70, A: 0xff}, {R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, {R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, {R: 0x00, G: 0x92, B: 0x73, A: 0xff}, {R: 0xb4, G: 0x55, B: 0x9a, A: 0xff},
		{R: 0xb9, G: 0x83, B: 0x00, A: 0xff}, {R: 0x3a, G: 0xa0, B: 0xdc, A: 0xff}, {R: 0x7a, G: 0x5b, B: 0xd0, A: 0xff}, {R: 0x8c, G: 0x5a, B: 0x3c, A: 0xff}, {R: 0x1d, G: 0x21, B: 0x29, A: 0xff},
	}
)

// Figure is one chart of the report as a file.
type Figure struct {
	File  string // name: load.svg
	Write func(io.Writer) error
}

// Figures returns the figures of the report, each as SVG and as PNG: load, queue, the distributions, and a Gantt chart per policy whose nodes
// are known. Each is drawn when it is written. It returns an error if the report cannot be shown.
func (r *Report) Figures() ([]Figure, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("figures of the report %q: %w", r.Title, err)
	}
	var all []Figure
	for _, f := range r.figures() {
		all = append(all, Figure{f.name + ".svg", drawn(f.svg)}, Figure{f.name + ".png", drawn(f.png)})
	}
	return all, nil
}

func drawn(draw func() (io.WriterTo, error)) func(io.Writer) error {
	return func(w io.Writer) error {
		content, err := draw()
		if err != nil {
			return err
		}
		_, err = content.WriteTo(w)
		return err
	}
}

// figure is one chart that can be drawn as a file.
type figure struct {
	name     string
	svg, png func() (io.WriterTo, error)
}

func (r *Report) figures() []figure {
	all := []figure{
		r.overTime("load", "Load: share of the nodes held", r.load, float64(r.Workload.Machine.Nodes)),
		r.overTime("queue", "Queue: jobs waiting", r.queue, 0),
	}
	lines, dots := r.distributions()
	for _, c := range lines {
		all = append(all, r.lineFigure(c))
	}
	for _, c := range dots {
		all = append(all, r.dotFigure(c))
	}
	names := map[string]int{}
	for i := range r.Replays {
		if r.Replays[i].Held == nil {
			continue
		}
		name := "gantt-" + fileName(r.Replays[i].Result.Policy)
		if names[name]++; names[name] > 1 {
			name += "-" + strconv.Itoa(names[name])
		}
		all = append(all, r.ganttFigure(name, i))
	}
	return all
}

// fileName returns a policy's name with only characters that are safe in file names.
func fileName(policy string) string {
	return string(bytes.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '-' {
			return c
		}
		return '-'
	}, []byte(policy)))
}

// overTime returns a figure with a panel per policy, one below the other with the same axes, because in a single panel the last line would
// hide the others. If whole is 0 the vertical axis ends above the highest line.
func (r *Report) overTime(name, title string, changes func(policy int) []change, whole float64) figure {
	from, to := r.span()
	var panels []panel
	most := 0.0
	for i, e := range r.policies() {
		p := newPlot()
		p.X.Tick.Marker, p.Y.Tick.Marker = timeTicks{r.Begin}, countTicks{}
		if whole > 0 {
			p.Y.Tick.Marker = shareTicks{}
		}
		p.Add(paper.Grid())
		values := means(changes(i), from, to, bins)
		points := make(plotter.XYs, bins)
		for k, v := range values {
			points[k] = plotter.XY{X: float64(from) + float64(to-from)*float64(k)/bins, Y: v / max(whole, 1)}
			most = max(most, points[k].Y)
		}
		line := lineOf(i)
		line.Width = vg.Points(1)
		p.Add(&plotter.Line{XYs: points, StepStyle: plotter.PostStep, LineStyle: line, FillColor: pale(e.colour)})
		panels = append(panels, panel{[]entry{e}, p})
	}
	if whole > 0 || most <= 0 {
		most = 1
	}
	for _, p := range panels {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = float64(from), float64(to), 0, most
	}
	high := panelHeight
	if len(panels) == 1 {
		high = figureHeight - headHeight
	}
	return drawnFigure(name, headHeight+vg.Length(len(panels))*high, func(c draw.Canvas) {
		below := head(c, title, nil)
		for _, p := range panels {
			next := below + high
			p.draw(draw.Crop(c, 0, 0, c.Max.Y-c.Min.Y-next, -below))
			below = next
		}
	})
}

// panel is a plot with its legend.
type panel struct {
	legend []entry
	*plot.Plot
}

func (p panel) draw(c draw.Canvas) {
	below := legendOf(c, vg.Points(14), p.legend)
	p.Draw(draw.Crop(c, vg.Points(8), -vg.Points(16), 0, -below))
}

// pale returns the color of the area under a line.
func pale(c color.NRGBA) color.NRGBA {
	c.A = 0x30
	return c
}

func (r *Report) lineFigure(c cumulative) figure {
	p := newPlot()
	p.X.Scale, p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogScale{}, logTicks{c.Unit}, shareTicks{}
	p.Add(paper.Grid())
	for i, line := range c.Lines {
		points := make(plotter.XYs, len(line))
		for k, share := range line {
			points[k] = plotter.XY{X: c.At[k], Y: share}
		}
		p.Add(&plotter.Line{XYs: points, LineStyle: lineOf(i)})
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = c.Least, c.Most, 0, 1
	return plotted(c.name, c.Title+": "+lower(c.About), r.policies(), p, figureHeight)
}

// dotFigure returns a figure with a row per class, the first at the top, and a dot per policy in it.
func (r *Report) dotFigure(c classes) figure {
	p := newPlot()
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{c.Unit}
	p.Add(paper.Grid())
	rows := make([]plot.Tick, len(c.Classes))
	for k, name := range c.Classes {
		rows[k] = plot.Tick{Value: float64(-k), Label: name + " (" + plain(thousands(strconv.Itoa(c.Counts[k]))) + ")"}
	}
	p.Y.Tick.Marker = plot.ConstantTicks(rows)
	for i, values := range c.Values {
		var points plotter.XYs
		for k, v := range values {
			if v != nil {
				off := 0.6 * ((float64(i)+0.5)/float64(len(c.Values)) - 0.5)
				points = append(points, plotter.XY{X: max(*v, c.Least), Y: -float64(k) - off})
			}
		}
		p.Add(&plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: colourOf(i), Radius: vg.Points(3.2), Shape: draw.CircleGlyph{}}})
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = c.Least, c.Most*1.05, 0.5-float64(len(c.Classes)), 0.5
	height := vg.Points(90 + float64(len(c.Classes)*max(26, 9*len(r.Replays))))
	return plotted(c.name, c.Title+" (jobs in brackets)", r.policies(), p, height)
}

func lower(s string) string { return string(bytes.ToLower([]byte(s[:1]))) + s[1:] }

func newPlot() *plot.Plot {
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Width = 0
		a.Tick.LineStyle.Color, a.Tick.LineStyle.Width = paper.Faint, vg.Points(0.7)
		a.Tick.Length = vg.Points(4)
		a.Tick.Label.Font = paper.Sans(9)
		a.Tick.Label.Color = soft
		a.Padding = vg.Points(4)
	}
	return p
}

func colourOf(policy int) color.NRGBA { return policyColour[policy%len(policyColour)] }

func lineOf(policy int) draw.LineStyle {
	style := draw.LineStyle{Color: colourOf(policy), Width: vg.Points(1.4)}
	if policy >= len(policyColour) {
		style.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
	}
	return style
}

// entry is a name with its color.
type entry struct {
	name   string
	colour color.NRGBA
}

func (r *Report) policies() []entry {
	var all []entry
	for i := range r.Replays {
		all = append(all, entry{r.Replays[i].Result.Policy, colourOf(i)})
	}
	return all
}

// plotted returns a plot with its title and legend as a figure.
func plotted(name, title string, legend []entry, p *plot.Plot, height vg.Length) figure {
	return drawnFigure(name, height, func(c draw.Canvas) {
		below := head(c, title, legend)
		p.Draw(draw.Crop(c, vg.Points(8), -vg.Points(16), vg.Points(8), -below))
	})
}

// drawnFigure returns a figure that is painted on white.
func drawnFigure(name string, height vg.Length, paint func(draw.Canvas)) figure {
	on := func(c draw.Canvas) {
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
		paint(c)
	}
	return figure{
		name: name,
		svg: func() (io.WriterTo, error) {
			c := vgsvg.New(figureWidth, height)
			on(draw.New(c))
			return c, nil
		},
		png: func() (io.WriterTo, error) {
			c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(figureWidth, height), vgimg.UseDPI(144))}
			on(draw.New(c))
			return c, nil
		},
	}
}

// head writes the title and the legend, and returns their height.
func head(c draw.Canvas, title string, legend []entry) vg.Length {
	bold := paper.Sans(12)
	bold.Weight = xfont.WeightBold
	style := text.Style{Color: paper.Ink, Font: bold, Handler: plot.DefaultTextHandler}
	c.FillText(style, vg.Point{X: c.Min.X + vg.Points(10), Y: c.Max.Y - vg.Points(22)}, title)
	if len(legend) == 0 {
		return headHeight
	}
	return legendOf(c, vg.Points(42), legend)
}

// legendOf writes the legend, and returns its height. `below` is the distance from the top to its first line.
func legendOf(c draw.Canvas, below vg.Length, legend []entry) vg.Length {
	style := text.Style{Color: soft, Font: paper.Sans(9.5), Handler: plot.DefaultTextHandler}
	left, y := c.Min.X+vg.Points(10), c.Max.Y-below
	x := left
	for _, e := range legend {
		wide := style.Width(e.name)
		if x > left && x+wide+vg.Points(26) > c.Max.X {
			x, y = left, y-vg.Points(15)
		}
		c.SetColor(e.colour)
		box := vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + vg.Points(8), Y: y + vg.Points(8)}}
		c.Fill(box.Path())
		c.FillText(style, vg.Point{X: x + vg.Points(13), Y: y}, e.name)
		x += wide + vg.Points(32)
	}
	return c.Max.Y - y + vg.Points(12)
}
