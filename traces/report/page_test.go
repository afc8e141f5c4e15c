package report

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/internal/browser"
	"accordion/traces/replay"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// chart is the place of the Gantt chart on the screen, and what it shows.
type chart struct {
	Left, Top, Width, Height float64 // of its plot, in pixels
	From, To                 float64 // seconds
	First, Last              float64 // nodes
	Drawn                    string
}

// chart waits until the Gantt chart is completely drawn.
func (p *tab) chart() chart {
	p.Helper()
	p.Drawn()
	p.Await(`document.getElementById("gantt").dataset.waits === "0"`)
	return browser.Ask[chart](p.Tab, `(() => {
		const canvas = document.getElementById("gantt");
		canvas.scrollIntoView({block: "center"});
		const box = canvas.getBoundingClientRect(), d = canvas.dataset;
		return {Left: box.left + 56, Top: box.top + 2, Width: Math.round(box.width) - 70, Height: Math.round(box.height) - 28,
			From: +d.from, To: +d.to, First: +d.top, Last: +d.bottom, Drawn: d.drawn};
	})()`)
}

func (p *tab) point(x, y float64) {
	p.Helper()
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	p.Drawn()
}

func (p *tab) wheel(x, y, by float64) {
	p.Helper()
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, x, y, func(e *input.DispatchMouseEventParams) {
		e.DeltaX, e.DeltaY = 1e-6, by // a DeltaX of 0 would be omitted, and then refused
	}))
	p.Drawn()
}

// holder returns which job of a replay holds a node at an instant, or −1. It searches in the simplest way.
func holder(held [][]replay.Stretch, t core.Time, node int32) int {
	for i, stretches := range held {
		for _, s := range stretches {
			for _, n := range s.Nodes {
				if s.From <= t && t < s.To && n.First <= node && node <= n.Last {
					return i
				}
			}
		}
	}
	return -1
}

func TestTableShowsTheMetrics(t *testing.T) {
	r := made(t, 60, 4, 1, "easy", "conservative")
	r.Table = append(r.Table, Row{Group: "Machine", Name: "Utilisation", Unit: Share, Better: Higher, Values: []float64{0.81, 0.84}},
		Row{Group: "Machine", Name: "Nobody's", Unit: Number, Values: []float64{12, math.NaN()}})
	p := open(t, r)
	p.Quiet()
	for _, row := range r.Table {
		for i, v := range row.Values {
			got := p.Text(fmt.Sprintf(`tr[data-row="%s"] td:nth-child(%d) b`, row.Name, i+2))
			if want := row.Unit.text(v, r.Begin); got != want {
				t.Errorf("%s under %s is shown as %q, want %q", row.Name, r.Replays[i].Result.Policy, got, want)
			}
		}
	}
	if got := p.Text(`tr[data-row="Utilisation"] td:nth-child(3) .better`); got != "+3.0\u202fpoints" {
		t.Errorf("84 %% beside 81 %% is shown as %q better", got)
	}
	if got := p.Text(`tr[data-row="Nobody's"] td:nth-child(3)`); got != dash {
		t.Errorf("a missing value is shown as %q", got)
	}
}

// The job that the page shows was packed, compressed, unpacked, indexed and drawn before, so the test covers all of these.
func TestPointerShowsTheJobThatHeldTheNode(t *testing.T) {
	r := made(t, 400, 3, 2, "easy", "evolving:2X+c")
	p := open(t, r)
	random := rand.New(rand.NewPCG(1, 2))
	found, free := 0, 0
	for round := range 3 {
		c := p.chart()
		for range 12 {
			x := math.Floor(c.Left + random.Float64()*c.Width)
			y := math.Floor(c.Top + random.Float64()*c.Height)
			p.point(x, y)
			second := core.Time(math.Floor(c.From + (x-c.Left)/c.Width*(c.To-c.From)))
			node := int32(c.First + (y-c.Top)/c.Height*(c.Last-c.First))
			want := holder(r.Replays[1].Held, second, node)
			got := browser.Ask[string](p.Tab, `document.getElementById("tip").hidden ? "" : document.getElementById("tip").dataset.job`)
			if want < 0 {
				free++
				if got != "" {
					t.Errorf("over node %d at second %d, which is free, job %s is shown", node, second, got)
				}
				continue
			}
			found++
			if got != strconv.FormatInt(r.Workload.Jobs[want].Number, 10) {
				t.Errorf("over node %d at second %d job %q is shown, want %d", node, second, got, r.Workload.Jobs[want].Number)
				continue
			}
			checkTip(t, p, r, 1, want)
		}
		p.wheel(c.Left+c.Width*0.3*float64(round+1), c.Top+100, -400)
	}
	if found < 10 || free == 0 {
		t.Errorf("%d points were over jobs and %d over free nodes: the test looked in the wrong places", found, free)
	}
	p.Quiet()
}

func checkTip(t *testing.T, p *tab, r *Report, policy, job int) {
	t.Helper()
	j, o := &r.Workload.Jobs[job], &r.Replays[policy].Result.Outcomes[job]
	tip := p.Text("#tip")
	wants := []string{
		fmt.Sprintf("Job %d, %s", j.Number, j.Kind()),
		length(float64(o.Start - j.Submit)), length(float64(o.End - o.Start)), length(float64(j.Request)),
		fmt.Sprint(j.User),
	}
	if o.Held != nil {
		var sizes []string
		for _, s := range o.Held {
			sizes = append(sizes, thousands(strconv.Itoa(s.Nodes)))
		}
		wants = append(wants, strings.Join(sizes, " → "))
	}
	for _, want := range wants {
		if !strings.Contains(tip, want) {
			t.Errorf("job %d, %+v, has a tip without %q: %s", j.Number, *o, want, tip)
		}
	}
}

// becomes waits until the Gantt chart shows what is wanted, because a busy browser reacts late to events.
func (p *tab) becomes(wanted string, is func(chart) bool) chart {
	p.Helper()
	for deadline := time.Now().Add(browser.Patience / 3); ; {
		c := p.chart()
		switch {
		case is(c):
			return c
		case time.Now().After(deadline):
			p.Fatalf("the chart shows %+v, want: %s", c, wanted)
		}
	}
}

func TestWheelDragKeysAndButtonsMoveTheWindow(t *testing.T) {
	r := made(t, 400, 3, 2, "easy")
	p := open(t, r)
	whole := p.chart()
	pointed := whole.Left + whole.Width/4
	instant := func(c chart) float64 { return c.From + (pointed-c.Left)/c.Width*(c.To-c.From) }

	p.point(pointed, whole.Top+200)
	p.wheel(pointed, whole.Top+200, -500)
	near := p.becomes("half of the time at most, after the wheel", func(c chart) bool { return c.To-c.From <= (whole.To-whole.From)/2 })
	if off := math.Abs(instant(near) - instant(whole)); off > (near.To-near.From)/near.Width {
		t.Errorf("the instant under the pointer moved by %v s while zooming", off)
	}

	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, pointed, near.Top+200, chromedp.ButtonLeft))
	for _, step := range []float64{20, 60, 100} {
		p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, pointed-step, near.Top+200, chromedp.ButtonLeft))
	}
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, pointed-100, near.Top+200, chromedp.ButtonLeft))
	want := near.From + 100/near.Width*(near.To-near.From)
	p.becomes(fmt.Sprintf("a window that begins at %v, dragged by 100 pixels", want), func(c chart) bool {
		return math.Abs(c.From-want) <= 5/near.Width*(near.To-near.From)
	})

	p.Do(chromedp.Focus(chromedp.CSS("#gantt")))
	for _, c := range []struct {
		key   string
		moved func(before, after chart) bool
	}{
		{"ArrowRight", func(b, a chart) bool { return a.From > b.From && a.To > b.To }},
		{"ArrowLeft", func(b, a chart) bool { return a.From < b.From && a.To < b.To }},
		{"+", func(b, a chart) bool { return a.To-a.From < 0.9*(b.To-b.From) }},
		{"-", func(b, a chart) bool { return a.To-a.From > 1.1*(b.To-b.From) }},
	} {
		before := p.chart()
		browser.Ask[bool](p.Tab, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "`+c.key+`", bubbles: true}))`)
		p.becomes(fmt.Sprintf("other than %+v, by the key %s", before, c.key), func(after chart) bool { return c.moved(before, after) })
	}
	for _, button := range []string{"#zoom-in", "#zoom-out"} {
		before, nearer := p.chart(), button == "#zoom-in"
		p.Do(chromedp.Click(chromedp.CSS(button)))
		p.becomes(fmt.Sprintf("nearer (%v) than %+v, by %s", nearer, before, button), func(after chart) bool {
			return after.To-after.From != before.To-before.From && (after.To-after.From < before.To-before.From) == nearer
		})
	}
	p.Do(chromedp.Click(chromedp.CSS("#zoom-all")))
	p.becomes("all", func(all chart) bool { return all.From == whole.From && all.To == whole.To })
	p.Quiet()
}

// pixel returns the color of the Gantt chart at a place on the screen.
func (p *tab) pixel(x, y float64) [3]int {
	p.Helper()
	return browser.Ask[[3]int](p.Tab, fmt.Sprintf(`(() => {
		const canvas = document.getElementById("gantt"), box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
		return [...canvas.getContext("2d").getImageData((%v - box.left) * ratio, (%v - box.top) * ratio, 1, 1).data].slice(0, 3);
	})()`, x, y))
}

// near reports whether two colors look the same.
func near(a, b [3]int) bool {
	for i := range a {
		if a[i]-b[i] > 12 || b[i]-a[i] > 12 {
			return false
		}
	}
	return true
}

func TestEvolvingJobIsDrawnAsStaircase(t *testing.T) {
	p := open(t, two())
	c := p.chart()
	evolving, free := [3]int{0xe8, 0x81, 0x1a}, [3]int{0xfa, 0xf9, 0xf7}
	held := two().Replays[0].Held
	if c.Drawn != "one by one" {
		t.Fatalf("three stretches are drawn %s", c.Drawn)
	}
	for _, second := range []core.Time{20, 60, 70, 95, 104, 120} {
		for node := range int32(4) {
			x := c.Left + (float64(second)+0.5-c.From)/(c.To-c.From)*c.Width
			y := c.Top + (float64(node)+0.3)/4*c.Height
			got, job := p.pixel(x, y), holder(held, second, node)
			switch {
			case job < 0 && !near(got, free):
				t.Errorf("node %d is free at second %d, and drawn in %v", node, second, got)
			case job == 1 && !near(got, evolving):
				t.Errorf("node %d is held by the evolving job at second %d, and drawn in %v", node, second, got)
			case job == 0 && (near(got, free) || near(got, evolving)):
				t.Errorf("node %d is held by the rigid job at second %d, and drawn in %v", node, second, got)
			}
		}
	}
}

// If jobs are smaller than a pixel, the chart is as dark as the machine was full.
func TestZoomedOutChartShowsHowMuchWasHeld(t *testing.T) {
	r := made(t, 4000, 0, 1, "easy")
	p := open(t, r)
	c := p.chart()
	if c.Drawn != "summed up" {
		t.Fatalf("4,000 jobs are drawn %s", c.Drawn)
	}
	p.point(1, 1)
	p.Drawn()
	shown := browser.Ask[float64](p.Tab, `(() => {
		const canvas = document.getElementById("gantt"), d = canvas.getContext("2d").getImageData(56, 2, canvas.width - 70, canvas.height - 28).data;
		let sum = 0;
		for (let i = 0; i < d.length; i += 4) sum += (0xfa - d[i]) / (0xfa - 0x93);
		return sum / (d.length / 4);
	})()`)
	from, to := r.span()
	held := means(r.load(0), from, to, 1)[0] / float64(r.Workload.Machine.Nodes)
	if math.Abs(shown-held) > 0.03 {
		t.Errorf("the chart shows %.1f %% of the machine held, which was %.1f %%", 100*shown, 100*held)
	}
}

func TestJobIsFoundByNumberAndByKeys(t *testing.T) {
	r := made(t, 400, 3, 2, "easy")
	p := open(t, r)
	p.chart()
	enter := func(text string) {
		t.Helper()
		browser.Ask[bool](p.Tab, `(() => { const i = document.getElementById("find"); i.value = "`+text+`"; i.dispatchEvent(new Event("change")); return true; })()`)
		p.Drawn()
	}
	enter("207")
	if got := browser.Ask[string](p.Tab, `document.getElementById("tip").dataset.job`); got != "207" {
		t.Errorf("job 207 was asked for, %q is shown", got)
	}
	o := r.Replays[0].Result.Outcomes[206]
	if c := p.chart(); c.From > float64(o.Start) || c.To < float64(o.End) {
		t.Errorf("job 207 ran from %d to %d, the window is %v to %v", o.Start, o.End, c.From, c.To)
	}
	browser.Ask[bool](p.Tab, `document.getElementById("gantt").dispatchEvent(new KeyboardEvent("keydown", {key: "n"}))`)
	p.Drawn()
	next := browser.Ask[string](p.Tab, `document.getElementById("tip").dataset.job`)
	number, err := strconv.Atoi(next)
	if err != nil || number == 207 || r.Replays[0].Result.Outcomes[number-1].Start < o.Start {
		t.Errorf("after job 207, begun at %d, comes %q", o.Start, next)
	}
	enter("100207")
	if got := p.Text("#find-says"); got != "There is no job 100207." {
		t.Errorf("of a job that does not exist the page says %q", got)
	}
	p.Quiet()
}

func TestGanttChartOfAnotherPolicyIsShown(t *testing.T) {
	p := open(t, two())
	for i, held := range []int{20, 75} { // a second in which the evolving job holds node 1 under policy i
		p.Do(chromedp.Click(chromedp.CSS(fmt.Sprintf("#policies button:nth-child(%d)", i+1))))
		p.Await(fmt.Sprintf(`document.querySelectorAll("#policies button")[%d].getAttribute("aria-pressed") === "true"`, i))
		c := p.chart()
		for _, second := range []int{20, 75} {
			x, y := c.Left+(float64(second)-c.From)/(c.To-c.From)*c.Width, c.Top+1.3/4*c.Height
			if near(p.pixel(x, y), [3]int{0xe8, 0x81, 0x1a}) != (second == held || i == 0 && second == 75) {
				t.Errorf("policy %d: node 1 at second %d is drawn in %v", i, second, p.pixel(x, y))
			}
		}
	}
}

func TestPageFollowsTheColorScheme(t *testing.T) {
	backgrounds := map[string]bool{}
	for scheme, evolving := range map[string][3]int{browser.Light: {0xe8, 0x81, 0x1a}, browser.Dark: {0xf0, 0x9a, 0x3e}} {
		p := openIn(t, scheme, two())
		backgrounds[browser.Ask[string](p.Tab, `getComputedStyle(document.body).backgroundColor`)] = true
		c := p.chart()
		x, y := c.Left+(20-c.From)/(c.To-c.From)*c.Width, c.Top+1.3/4*c.Height
		if got := p.pixel(x, y); !near(got, evolving) {
			t.Errorf("in %s colours the evolving job is drawn in %v, want %v", scheme, got, evolving)
		}
	}
	if len(backgrounds) != 2 {
		t.Errorf("light and dark have the same background: %v", backgrounds)
	}
}

// A printed page has light colors, and no overview, which is only useful for dragging.
func TestPageIsPrinted(t *testing.T) {
	p := openIn(t, browser.Dark, two())
	pdf, err := chromedp.Run(p.Context, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Errorf("printed is %d bytes that are no PDF", len(pdf))
	}
	p.Quiet()
	p.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}))
	p.Drawn()
	if c := p.chart(); !near(p.pixel(c.Left+3, c.Top+3), [3]int{0xfa, 0xf9, 0xf7}) {
		t.Errorf("on paper what is free is drawn in %v", p.pixel(c.Left+3, c.Top+3))
	}
}

// A chart of what really ran has names for nodes, users and jobs, and shows how promises were kept.
func TestRealJobsHaveNamesAndPromises(t *testing.T) {
	p := open(t, named())
	c := p.chart()
	x, y := c.Left+(60-c.From)/(c.To-c.From)*c.Width, c.Top+1.5/4*c.Height
	p.point(x, y)
	tip := p.Text("#tip")
	for _, want := range []string{"<b>mesh (8), evolving", "bob", "ep=1x40s,3x40s", "as promised", "growth 1 → 3", "2\u202fs late", "promised and missed", "au-1–au-2, fe", "3 nodes until 3 Nov 2006 08:01"} {
		if !strings.Contains(tip, want) {
			t.Errorf("%q is missing in the tip of the job: %s", want, tip)
		}
	}
	if row := p.Text("#job-table tbody tr:nth-child(2)"); row != "<b>mesh 8\tbob\tevolving\tep=1x40s,3x40s\t08:00:05\t08:00:05\t0\u202fs\t1\u202fmin 40\u202fs\t1 → 3 → 2\t2\u202fs\t33\u202f%\tCOMPLETED" {
		t.Errorf("the job's row is %q", row)
	}
	late := [3]int{0xe5, 0x48, 0x4d}
	p.point(1, 1)
	between := c.Left + (44.6-c.From)/(c.To-c.From)*c.Width
	column := browser.Ask[[]int](p.Tab, fmt.Sprintf(`(() => {
		const canvas = document.getElementById("gantt"), left = canvas.getBoundingClientRect().left;
		return [...canvas.getContext("2d").getImageData(%v - left, 2, 1, 9).data];
	})()`, between))
	if !slices.ContainsFunc(slices.Collect(slices.Chunk(column, 4)), func(c []int) bool { return near([3]int(c), late) }) {
		t.Errorf("the growth that came late has no red mark: %v", column)
	}
	p.Do(chromedp.Click(chromedp.CSS("#job-table tbody tr:nth-child(1)")))
	p.Drawn()
	if got := browser.Ask[string](p.Tab, `document.getElementById("tip").dataset.job`); got != "7" {
		t.Errorf("job 7 was clicked in the table, %q is shown", got)
	}
	p.Quiet()
}

// The legend of the policies is several screens above the distributions.
func TestEachDistributionHasALegend(t *testing.T) {
	const legends = `[...document.querySelectorAll("#plots figure")].map(f => f.querySelector("h3").textContent + ": " +
		[...f.querySelectorAll(".legend span")].map(e => e.textContent + " " + getComputedStyle(e.querySelector("i")).backgroundColor).join(", ")).filter(says => !says.endsWith(want))`
	p := open(t, made(t, 50, 3, 1, "easy", "patient"))
	const want = ": easy rgb(91, 98, 112), patient rgb(0, 114, 178)"
	if got := browser.Ask[[]string](p.Tab, strings.Replace(legends, "want", strconv.Quote(want), 1)); len(got) > 0 {
		t.Errorf("distributions and their legends are %q, want %q after each title", got, want)
	}
	p = open(t, named())
	if got := browser.Ask[int](p.Tab, `document.querySelectorAll("#plots .legend").length`); got != 0 {
		t.Errorf("distributions of what ran, which has one colour, have %d legends", got)
	}
}

// Jobs that shared a node each get a part of its row.
func TestJobsThatSharedNodesAreAllVisible(t *testing.T) {
	r := named()
	for i, held := range [][]replay.Stretch{
		{{From: 10, To: 100, Nodes: replay.Nodes{{First: 0, Last: 0}}}},
		{{From: 10, To: 50, Nodes: replay.Nodes{{First: 0, Last: 2}}}, {From: 50, To: 110, Nodes: replay.Nodes{{First: 0, Last: 3}}}},
	} {
		o := &r.Replays[0].Result.Outcomes[i]
		r.Replays[0].Held[i], o.Start, o.End = held, 10, held[len(held)-1].To
	}
	p := open(t, r)
	c := p.chart()
	var seen []string // from top to bottom of the first row
	for part := range 4 {
		p.point(c.Left+(70-c.From)/(c.To-c.From)*c.Width, c.Top+(float64(part)+0.5)/4*c.Height/4)
		seen = append(seen, browser.Ask[string](p.Tab, `document.getElementById("tip").dataset.job`))
	}
	if want := []string{"7", "7", "8", "8"}; !slices.Equal(seen, want) {
		t.Errorf("on a node that jobs 7 and 8 share the chart shows %v, want %v", seen, want)
	}
	p.Quiet()
}
