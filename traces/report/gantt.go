package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image/png"
	"io"
	"strconv"
	"strings"

	"accordion/core"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"accordion/traces/replay"
	"accordion/traces/workload"
)

// crisp is the maximum number of rectangles of a Gantt chart that has a path per job as SVG. A larger chart has an image instead, which shows
// the same and is smaller.
const crisp = 20_000

// The measures of a Gantt chart as SVG, in pixels.
const (
	ganttLeft, ganttTop    = 62.0, 58.0
	ganttWide, ganttHigh   = 1180.0, 560.0
	ganttRight, ganttBelow = 18.0, 34.0
)

func (r *Report) ganttFigure(name string, policy int) figure {
	return figure{
		name: name,
		svg: func() (io.WriterTo, error) {
			var b bytes.Buffer
			err := r.ganttSVG(&b, policy)
			return &b, err
		},
		png: func() (io.WriterTo, error) { return r.ganttPlot(name, policy).png() },
	}
}

// ganttPlot returns the chart as an image in a plot.
func (r *Report) ganttPlot(name string, policy int) figure {
	from, to := r.span()
	p := newPlot()
	nodes := float64(r.Workload.Machine.Nodes)
	p.X.Tick.Marker, p.Y.Tick.Marker = timeTicks{r.Begin}, nodeTicks{r.Workload.Machine.Nodes}
	p.Add(plotter.NewImage(r.rasterised(policy, from, to, 2400, 1200), float64(from), 0, float64(to), nodes))
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = float64(from), float64(to), 0, nodes
	return plotted(name, "Gantt chart: "+r.Replays[policy].Result.Policy, r.kinds(), p, 5.2*vg.Inch)
}

// nodeTicks implements plot.Ticker: it counts nodes from the top, as the page does.
type nodeTicks struct{ nodes int }

func (t nodeTicks) Ticks(low, high float64) []plot.Tick {
	ticks := countTicks{}.Ticks(low, high)
	for i := range ticks {
		ticks[i].Value = float64(t.nodes) - ticks[i].Value
	}
	return ticks
}

// kinds returns the kinds of jobs in the workload, with their colors.
func (r *Report) kinds() []entry {
	there := [len(kindColour)]bool{}
	for i := range r.Workload.Jobs {
		there[r.Workload.Jobs[i].Kind()] = true
	}
	var all []entry
	for k, c := range kindColour {
		if there[k] {
			all = append(all, entry{workload.Kind(k).String(), c})
		}
	}
	return all
}

// ganttSVG draws a policy's chart: nodes from top to bottom, time from left to right.
func (r *Report) ganttSVG(b *bytes.Buffer, policy int) error {
	from, to := r.span()
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" height="%[2]g" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12" fill="#5d6470">`+"\n",
		ganttLeft+ganttWide+ganttRight, ganttTop+ganttHigh+ganttBelow)
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" fill="#fff"/><text x="14" y="26" font-size="16" font-weight="600" fill="#1d2129">Gantt chart: %s</text>`+"\n", html.EscapeString(r.Replays[policy].Result.Policy))
	r.ganttLegend(b)
	r.ganttAxes(b, from, to)
	if rectangles(r.Replays[policy].Held) > crisp {
		return r.ganttPicture(b, policy, from, to)
	}
	sx, sy := ganttWide/float64(to-from), ganttHigh/float64(r.Workload.Machine.Nodes)
	for i, stretches := range r.Replays[policy].Held {
		j, o := &r.Workload.Jobs[i], &r.Replays[policy].Result.Outcomes[i]
		if len(stretches) == 0 {
			continue
		}
		fill := kindColour[j.Kind()]
		fmt.Fprintf(b, `<path fill="#%02x%02x%02x"`, fill.R, fill.G, fill.B)
		if j.Kind() == workload.Evolving {
			b.WriteString(` class="evolving"`)
		}
		b.WriteString(` d="`)
		for _, s := range stretches {
			for _, n := range s.Nodes {
				wide, high := float64(s.To-s.From)*sx, float64(n.Last-n.First+1)*sy
				if s.To == o.End && wide > 2 {
					wide -= 0.6 // a gap to the next job
				}
				if high > 2 {
					high -= 0.5
				}
				fmt.Fprintf(b, "M%s %sh%sv%sh-%sz", px(ganttLeft+float64(s.From-from)*sx), px(ganttTop+float64(n.First)*sy), px(wide), px(high), px(wide))
			}
		}
		fmt.Fprintf(b, `"><title>job %d, %s: %s nodes, waited %s</title></path>`+"\n", j.Number, j.Kind(), sizes(held(j, o)), plain(length(float64(o.Start-j.Submit))))
	}
	b.WriteString("</svg>\n")
	return nil
}

// sizes returns "2 → 8 → 4".
func sizes(ep core.EP) string {
	var all []string
	for _, s := range ep {
		all = append(all, strconv.Itoa(s.Nodes))
	}
	return strings.Join(all, " → ")
}

func rectangles(held [][]replay.Stretch) int {
	n := 0
	for _, stretches := range held {
		for _, s := range stretches {
			n += len(s.Nodes)
		}
	}
	return n
}

func (r *Report) ganttPicture(b *bytes.Buffer, policy int, from, to core.Time) error {
	b.WriteString(`<image preserveAspectRatio="none" href="data:image/png;base64,`)
	encoder := base64.NewEncoder(base64.StdEncoding, b)
	if err := png.Encode(encoder, r.rasterised(policy, from, to, 2*int(ganttWide), 2*int(ganttHigh))); err != nil {
		return err
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	fmt.Fprintf(b, `" x="%g" y="%g" width="%g" height="%g"/>`+"\n</svg>\n", ganttLeft, ganttTop, ganttWide, ganttHigh)
	return nil
}

func (r *Report) ganttLegend(b *bytes.Buffer) {
	x := ganttLeft
	for _, e := range r.kinds() {
		fmt.Fprintf(b, `<rect x="%g" y="38" width="10" height="10" rx="2" fill="#%02x%02x%02x"/><text x="%g" y="47">%s</text>`+"\n", x, e.colour.R, e.colour.G, e.colour.B, x+16, e.name)
		x += 90
	}
}

func (r *Report) ganttAxes(b *bytes.Buffer, from, to core.Time) {
	fmt.Fprintf(b, `<rect x="%g" y="%g" width="%g" height="%g" fill="#faf9f7"/>`+"\n", ganttLeft, ganttTop, ganttWide, ganttHigh)
	for _, m := range marks(from, to, r.Begin) {
		x := ganttLeft + float64(m.at-from)/float64(to-from)*ganttWide
		fmt.Fprintf(b, `<path d="M%s %gv%g" stroke="#e4e2dc"/><text x="%s" y="%g" text-anchor="middle">%s</text>`+"\n", px(x), ganttTop, ganttHigh+5, px(x), ganttTop+ganttHigh+20, m.text)
	}
	nodes := float64(r.Workload.Machine.Nodes)
	for _, t := range (countTicks{}).Ticks(0, nodes) {
		if t.Value < nodes {
			fmt.Fprintf(b, `<text x="%g" y="%s" text-anchor="end">%s</text>`+"\n", ganttLeft-8, px(ganttTop+t.Value/nodes*ganttHigh+9), t.Label)
		}
	}
}

// px returns a coordinate with at most two decimals.
func px(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}
