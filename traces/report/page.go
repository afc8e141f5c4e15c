package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
)

//go:embed gantt.html
var pageText string

var page = template.Must(template.New("gantt").Parse(pageText))

// The page's measures, in pixels of the drawing.
const (
	chartLeft  = 58.0
	chartWidth = 1160.0
	loadTop    = 8.0
	loadHeight = 70.0
	rowsTop    = loadTop + loadHeight + 30
	charWidth  = 6.3 // of a label
)

// Write writes the chart as one HTML page. Whatever names the jobs have, they are shown as text.
func (g Gantt) Write(w io.Writer) error {
	if err := g.check(); err != nil {
		return fmt.Errorf("Gantt chart %q: %w", g.Title, err)
	}
	if err := page.Execute(w, g.draw()); err != nil {
		return fmt.Errorf("write Gantt chart %q: %w", g.Title, err)
	}
	return nil
}

// drawing is what the template shows: numbers already turned into text and coordinates.
type drawing struct {
	Title, Note         string
	Cards               []card
	Width, Height       string
	Left, Right, Bottom string
	Rows                []label
	Ticks               []label
	Load                []loadArea
	LoadTop, LoadBottom string
	LoadLabel           string
	Jobs                []drawnJob
}

type card struct{ Value, Name, Hint string }

type label struct{ X, Y, Y2, Text string }

type loadArea struct{ Class, Path string }

type drawnJob struct {
	ID, Name, User, Kind, Request, Outcome string
	Colour                                 int
	Fill, Outline                          string
	Labels                                 []label
	Marks                                  []drawnMark
	Steps                                  []drawnStep
	Submit, Start, Wait, Ran, Sizes, Late  string
	Saved                                  string
}

type drawnMark struct {
	X1, X2, Y, Text string
	Early           bool
}

// drawnStep lets the page say which step the pointer is over.
type drawnStep struct{ From, To, Text string }

// colours is how many hues the page has for each kind.
const colours = 10

func (g Gantt) draw() drawing {
	from, to := g.span()
	scale := chartWidth / to.Sub(from).Seconds()
	x := func(t time.Time) float64 { return chartLeft + t.Sub(from).Seconds()*scale }
	height := g.rowHeight()
	bottom := rowsTop + height*float64(len(g.Nodes))
	d := drawing{
		Title: g.Title, Note: g.Note, Cards: g.cards(),
		Width: px(chartLeft + chartWidth + 12), Height: px(bottom + 30),
		Left: px(chartLeft), Right: px(chartLeft + chartWidth), Bottom: px(bottom),
		LoadTop: px(loadTop), LoadBottom: px(loadTop + loadHeight), LoadLabel: fmt.Sprint(len(g.Nodes)),
		Load: g.load(x),
	}
	for i, n := range g.Nodes {
		y := rowsTop + float64(i)*height
		text := n
		if height < 11 && i%int(11/height+1) != 0 {
			text = "" // too narrow for every name
		}
		d.Rows = append(d.Rows, label{Y: px(y), Y2: px(y + height/2 + 4), Text: text})
	}
	at, _ := ticks(to.Sub(from))
	for _, t := range at {
		d.Ticks = append(d.Ticks, label{X: px(x(from.Add(t))), Text: span(t)})
	}
	rows := g.rows()
	next := map[Kind]int{}
	for _, j := range g.byStart() {
		dj := j.draw(from, rows, x, height)
		dj.Colour = next[j.Kind] % colours
		next[j.Kind]++
		d.Jobs = append(d.Jobs, dj)
	}
	return d
}

// rowHeight keeps small machines legible and large ones on a page.
func (g Gantt) rowHeight() float64 {
	return min(26, max(3, 700/float64(len(g.Nodes))))
}

func (g Gantt) cards() []card {
	f := g.Figures()
	var kinds []string
	for _, k := range []Kind{Evolving, Moldable, Rigid} {
		if f.ByKind[k] > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", f.ByKind[k], k))
		}
	}
	growths := card{fmt.Sprint(f.Growths), "growths", fmt.Sprintf("and %d shrinks", f.Shrinks)}
	if f.Missed > 0 {
		growths.Hint = fmt.Sprintf("%d promised and missed", f.Missed)
	}
	saved := card{"none", "waste avoided", "no evolving job ran"}
	if f.AtPeak > 0 {
		saved.Value = fmt.Sprintf("%.0f %%", 100*float64(f.Saved())/float64(f.AtPeak))
		saved.Hint = fmt.Sprintf("%.1f node-hours less than at peak", f.Saved().Hours())
		if f.Saved() < time.Hour {
			saved.Hint = fmt.Sprintf("%.0f node-minutes less than at peak", f.Saved().Minutes())
		}
	}
	return []card{
		{fmt.Sprint(f.Jobs), "jobs", strings.Join(kinds, ", ")},
		growths,
		{span(f.Lateness.Round(100 * time.Millisecond)), "mean lateness", "of growths; the worst " + span(f.Worst.Round(100*time.Millisecond))},
		{fmt.Sprintf("%.0f %%", 100*f.Utilisation), "utilisation", fmt.Sprintf("of %d nodes", len(g.Nodes))},
		saved,
	}
}

// load draws how many nodes each kind held, stacked: evolving below, rigid on top.
func (g Gantt) load(x func(time.Time) float64) []loadArea {
	kinds := []Kind{Evolving, Moldable, Rigid}
	type change struct {
		at   time.Time
		kind int
		by   int
	}
	var changes []change
	for _, j := range g.Jobs {
		k := slices.Index(kinds, j.Kind)
		for _, h := range j.Holds {
			changes = append(changes, change{h.From, k, 1}, change{h.To, k, -1})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
	y := func(nodes int) float64 { return loadTop + loadHeight*(1-float64(nodes)/float64(len(g.Nodes))) }
	var areas []loadArea
	for k := len(kinds) - 1; k >= 0; k-- { // the sum of the kinds up to k; the lower ones are drawn over it
		var b strings.Builder
		nodes := 0
		for i, c := range changes {
			if i == 0 {
				fmt.Fprintf(&b, "M%s %s", px(x(c.at)), px(y(0)))
			}
			if c.kind <= k {
				nodes += c.by
			}
			if i+1 == len(changes) || !changes[i+1].at.Equal(c.at) {
				fmt.Fprintf(&b, "H%sV%s", px(x(c.at)), px(y(nodes)))
			}
		}
		if b.Len() > 0 {
			areas = append(areas, loadArea{Class: string(kinds[k]), Path: b.String() + "z"})
		}
	}
	return areas
}

func (j Job) draw(origin time.Time, rows map[string]int, x func(time.Time) float64, height float64) drawnJob {
	d := drawnJob{
		ID: j.ID, Name: j.Name, User: j.User, Kind: string(j.Kind), Request: j.Request, Outcome: j.Outcome,
		Submit: "–", Start: "–", Wait: "–", Ran: "–", Sizes: "–", Late: "–", Saved: "–",
	}
	if !j.Submit.IsZero() {
		d.Submit = span(j.Submit.Sub(origin))
	}
	start, end := j.Start(), j.End()
	if start.IsZero() {
		return d
	}
	d.Start, d.Ran = span(start.Sub(origin)), span(end.Sub(start))
	if !j.Submit.IsZero() {
		d.Wait = span(start.Sub(j.Submit))
	}
	covered := cover(j, rows, x)
	d.Fill, d.Outline = covered.fill(rowsTop, height), covered.outline(rowsTop, height)
	d.drawSteps(j, origin, covered, x, height)
	if j.Kind == Evolving {
		d.drawMarks(j, covered, x, height)
		if saved := time.Duration(j.Peak())*end.Sub(start) - j.held(); saved > 0 {
			d.Saved = fmt.Sprintf("%.0f %%", 100*float64(saved)/float64(saved+j.held()))
		}
	}
	return d
}

// drawSteps labels each stretch of constant size where there is room.
func (d *drawnJob) drawSteps(j Job, origin time.Time, covered shape, x func(time.Time) float64, height float64) {
	sizes := j.Sizes()
	named := false // once is enough
	var counts []string
	for i := range len(sizes) - 1 {
		if sizes[i].Nodes == 0 {
			continue
		}
		counts = append(counts, fmt.Sprint(sizes[i].Nodes))
		u := run{x(sizes[i].At), x(sizes[i+1].At)}
		d.Steps = append(d.Steps, drawnStep{px(u.from), px(u.to), fmt.Sprintf("%s from %s to %s",
			nodes(sizes[i].Nodes), span(sizes[i].At.Sub(origin)), span(sizes[i+1].At.Sub(origin)))})
		b := covered.widest(u)
		if b.rows == 0 || height < 11 {
			continue
		}
		count := fmt.Sprintf("×%d", sizes[i].Nodes)
		texts := []string{j.Name + " " + count, count}
		if named {
			texts = texts[1:]
		}
		for _, text := range texts {
			if float64(len([]rune(text)))*charWidth <= u.to-u.from-4 {
				middle := rowsTop + (float64(b.row)+float64(b.rows)/2)*height
				d.Labels = append(d.Labels, label{X: px((u.from + u.to) / 2), Y: px(middle + 4), Text: text})
				named = named || text != count
				break
			}
		}
	}
	d.Sizes = strings.Join(counts, " → ")
}

func nodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// drawMarks shows when the start and each growth were promised, and how far from it they came.
func (d *drawnJob) drawMarks(j Job, covered shape, x func(time.Time) float64, height float64) {
	var worst time.Duration
	growths := 0
	for _, m := range j.Marks() {
		if m.To < m.From || m.Real.IsZero() {
			continue
		}
		what := "start"
		if m.From > 0 {
			growths++
			worst = max(worst, m.Late())
			what = fmt.Sprintf("growth from %d to %d", m.From, m.To)
		}
		text := what + " as promised"
		if late := m.Late().Round(100 * time.Millisecond); late > 0 {
			text = fmt.Sprintf("%s %s late", what, span(late))
		} else if late < 0 {
			text = fmt.Sprintf("%s %s early", what, span(-late))
		}
		row := 0
		for r, runs := range covered { // the first row that begins then
			if slices.ContainsFunc(runs, func(u run) bool { return u.from == x(m.Real) }) {
				row = r
				break
			}
		}
		d.Marks = append(d.Marks, drawnMark{
			X1: px(max(chartLeft, x(m.Planned))), X2: px(x(m.Real)), Y: px(rowsTop + float64(row)*height), Text: text, Early: m.Real.Before(m.Planned),
		})
	}
	if growths > 0 {
		d.Late = span(worst.Round(100 * time.Millisecond))
	}
}
