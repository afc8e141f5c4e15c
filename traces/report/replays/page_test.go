package replays

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"accordion/core"
	"accordion/traces/replay"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// chart is where the Gantt chart stands on the screen and what it shows.
type chart struct {
	Left, Top, Width, Height float64 // of its plot, in pixels
	From, To                 float64 // seconds
	First, Last              float64 // nodes
	Drawn                    string
}

// chart waits until the Gantt chart is drawn whole.
func (p *tab) chart() chart {
	p.Helper()
	p.drawn()
	p.await(`document.getElementById("gantt").dataset.waits === "0"`)
	return ask[chart](p, `(() => {
		const canvas = document.getElementById("gantt");
		canvas.scrollIntoView({block: "center"});
		const box = canvas.getBoundingClientRect(), d = canvas.dataset;
		return {Left: box.left + 56, Top: box.top + 2, Width: Math.round(box.width) - 70, Height: Math.round(box.height) - 28,
			From: +d.from, To: +d.to, First: +d.top, Last: +d.bottom, Drawn: d.drawn};
	})()`)
}

func (p *tab) point(x, y float64) {
	p.Helper()
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	p.drawn()
}

func (p *tab) wheel(x, y, by float64) {
	p.Helper()
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, x, y, func(e *input.DispatchMouseEventParams) {
		e.DeltaX, e.DeltaY = 1e-6, by // a DeltaX of 0 would be left out, and refused
	}))
	p.drawn()
}

// holder is which job of a replay holds a node at an instant, looked for in the simplest way; −1: none.
func holder(held [][]Stretch, t core.Time, node int32) int {
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

func TestTheTableShowsTheMetrics(t *testing.T) {
	r := made(t, 60, 4, 1, "easy", "conservative")
	r.Table = append(r.Table, Row{Group: "Machine", Name: "Utilisation", Unit: Share, Better: Higher, Values: []float64{0.8125, 0.84}},
		Row{Group: "Machine", Name: "Nobody's", Unit: Number, Values: []float64{12, math.NaN()}})
	p := open(t, r)
	p.quiet()
	for _, row := range r.Table {
		for i, v := range row.Values {
			got := p.text(fmt.Sprintf(`tr[data-row="%s"] td:nth-child(%d) b`, row.Name, i+2))
			if want := row.Unit.text(v, r.Begin); got != want {
				t.Errorf("%s under %s is shown as %q, want %q", row.Name, r.Replays[i].Result.Policy, got, want)
			}
		}
	}
	if got := p.text(`tr[data-row="Utilisation"] td:nth-child(3) .better`); got != "+2.75\u202fpoints" {
		t.Errorf("84 %% beside 81.25 %% is shown as %q better", got)
	}
	if got := p.text(`tr[data-row="Nobody's"] td:nth-child(3)`); got != dash {
		t.Errorf("a value that nobody has is shown as %q", got)
	}
}

// What is read here was packed, deflated, unpacked, indexed, drawn and found again.
func TestUnderThePointerIsTheJobThatHeldTheNode(t *testing.T) {
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
			got := ask[string](p, `document.getElementById("tip").hidden ? "" : document.getElementById("tip").dataset.job`)
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
	p.quiet()
}

func checkTip(t *testing.T, p *tab, r *Report, policy, job int) {
	t.Helper()
	j, o := &r.Workload.Jobs[job], &r.Replays[policy].Result.Outcomes[job]
	tip := p.text("#tip")
	wants := []string{
		fmt.Sprintf("Job %d, %s", j.Number, map[replay.Kind]string{replay.Rigid: "rigid", replay.Moldable: "moldable", replay.Evolving: "evolving"}[j.Kind()]),
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
			t.Errorf("job %d, %+v, is told of without %q: %s", j.Number, *o, want, tip)
		}
	}
}

func TestWheelHandKeysAndButtonsMoveTheWindow(t *testing.T) {
	r := made(t, 400, 3, 2, "easy")
	p := open(t, r)
	whole := p.chart()
	pointed := whole.Left + whole.Width/4
	instant := func(c chart) float64 { return c.From + (pointed-c.Left)/c.Width*(c.To-c.From) }

	p.point(pointed, whole.Top+200)
	p.wheel(pointed, whole.Top+200, -500)
	near := p.chart()
	if near.To-near.From > (whole.To-whole.From)/2 {
		t.Fatalf("after the wheel %v s of %v s are shown", near.To-near.From, whole.To-whole.From)
	}
	if off := math.Abs(instant(near) - instant(whole)); off > (near.To-near.From)/near.Width {
		t.Errorf("the instant under the pointer moved by %v s while zooming", off)
	}

	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, pointed, near.Top+200, chromedp.ButtonLeft))
	for _, step := range []float64{20, 60, 100} {
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, pointed-step, near.Top+200, chromedp.ButtonLeft))
	}
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, pointed-100, near.Top+200, chromedp.ButtonLeft))
	dragged := p.chart()
	want := near.From + 100/near.Width*(near.To-near.From)
	if off := math.Abs(dragged.From - want); off > 5/near.Width*(near.To-near.From) {
		t.Errorf("dragged by 100 pixels the window begins at %v, want %v", dragged.From, want)
	}

	p.do(chromedp.Focus(chromedp.CSS("#gantt")))
	for key, moved := range map[string]func(before, after chart) bool{
		"ArrowRight": func(b, a chart) bool { return a.From > b.From && a.To-a.From == b.To-b.From },
		"ArrowLeft":  func(b, a chart) bool { return a.From < b.From },
		"+":          func(b, a chart) bool { return a.To-a.From < b.To-b.From },
		"-":          func(b, a chart) bool { return a.To-a.From > b.To-b.From },
	} {
		before := p.chart()
		ask[bool](p, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "`+key+`", bubbles: true}))`)
		if after := p.chart(); !moved(before, after) {
			t.Errorf("%s took the window from %+v to %+v", key, before, after)
		}
	}
	for button, shown := range map[string]func(before, after float64) bool{
		"#zoom-in":  func(b, a float64) bool { return a < b },
		"#zoom-out": func(b, a float64) bool { return a > b },
	} {
		before := p.chart()
		p.do(chromedp.Click(chromedp.CSS(button)))
		if after := p.chart(); !shown(before.To-before.From, after.To-after.From) {
			t.Errorf("%s took the window from %+v to %+v", button, before, after)
		}
	}
	p.do(chromedp.Click(chromedp.CSS("#zoom-all")))
	if all := p.chart(); all.From != whole.From || all.To != whole.To {
		t.Errorf("All shows %v to %v, want %v to %v", all.From, all.To, whole.From, whole.To)
	}
	p.quiet()
}
