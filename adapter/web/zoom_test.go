package web

import (
	"testing"

	"accordion/internal/browser"
)

// shown is the range of times and of rows that the Gantt chart shows.
type shown struct{ From, To, Top, Bottom float64 }

// The chart can be zoomed and moved by mouse and touch. The mouse wheel without a key scrolls the page.
func TestChartIsZoomedAndMovedByHand(t *testing.T) {
	h, root := open(t, Options{})
	shows(t, h, busy())
	p := visit(t, root, "/", desk)
	browser.Ask[any](p, `void (() => {
		const g = document.getElementById("gantt"), b = g.getBoundingClientRect();
		g.setPointerCapture = () => {}; // simulated pointers cannot be captured
		window.hand = (type, x, y, more) => g.dispatchEvent(new (type === "wheel" ? WheelEvent : PointerEvent)(type, {clientX: b.left + x, clientY: b.top + y, bubbles: true, cancelable: true, pointerId: 1, ...more}));
	})()`)
	at := func() shown {
		p.Drawn()
		return browser.Ask[shown](p, `(d => ({From: +d.from, To: +d.to, Top: +d.top, Bottom: +d.bottom}))(document.getElementById("gantt").dataset)`)
	}
	zoomed := func(b, a shown) bool { return a.To-a.From < 0.8*(b.To-b.From) && a.Bottom == b.Bottom }
	for _, c := range []struct {
		what, do string
		is       func(before, after shown) bool
	}{
		{"the wheel with Ctrl zooms the time", `hand("wheel", 300, 80, {deltaY: -300, ctrlKey: true})`, zoomed},
		{"the wheel with Shift zooms the nodes", `hand("wheel", 300, 80, {deltaY: -300, shiftKey: true})`, func(b, a shown) bool {
			return a.Bottom-a.Top < 0.8*(b.Bottom-b.Top) && a.To-a.From == b.To-b.From
		}},
		{"a drag moves both", `hand("pointerdown", 300, 80), hand("pointermove", 200, 40), hand("pointerup", 200, 40)`, func(b, a shown) bool {
			return a.From > b.From && a.Top > b.Top && a.Bottom-a.Top == b.Bottom-b.Top
		}},
		{"two fingers zoom the time", `hand("pointerdown", 300, 80), hand("pointerdown", 400, 80, {pointerId: 2}), hand("pointermove", 500, 80, {pointerId: 2}), hand("pointerup", 500, 80, {pointerId: 2}), hand("pointerup", 300, 80)`, zoomed},
	} {
		before := at()
		browser.Ask[any](p, "void ("+c.do+")")
		if after := at(); !c.is(before, after) {
			t.Errorf("%s: from %+v to %+v", c.what, before, after)
		}
	}
	if before := at(); !browser.Ask[bool](p, `hand("wheel", 300, 80, {deltaY: -300})`) || at() != before {
		t.Errorf("a wheel alone does not scroll the page: from %+v to %+v", before, at())
	}
	browser.Ask[any](p, `void document.getElementById("zoom-now").click()`)
	p.Drawn()
	if tip := browser.Ask[string](p, `(["down", "up"].forEach(k => hand("pointer" + k, 250, 30, {pointerType: "touch"})), document.getElementById("tip").hidden ? "" : document.getElementById("tip").innerText)`); tip == "" {
		t.Error("a tap on a job tells nothing of it")
	}
	p.Quiet()
}
