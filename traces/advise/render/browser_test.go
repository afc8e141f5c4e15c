package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"accordion/core"
	"accordion/internal/browser"
	"accordion/traces/advise"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// seen is what a browser shows of a page.
type seen struct {
	Title    string
	Foreign  int // elements that the page must not have: scripts, images, frames
	Overflow int // pixels by which the page is wider than its window
	Drawings int
	Outside  int // shapes that leave their drawing
	Runs     int
	Text     string
}

const look = `(() => {
	const all = [...document.querySelectorAll("figure svg")];
	const outside = all.flatMap(svg => { const b = svg.viewBox.baseVal; return [...svg.querySelectorAll("path, circle")].map(p => p.getBBox()).filter(p => p.x < -1 || p.y < -1 || p.x + p.width > b.width + 1 || p.y + p.height > b.height + 1); });
	return {
		Title: document.title, Foreign: document.querySelectorAll("script, img, iframe, object, link, [onload], [onerror]").length,
		Overflow: document.documentElement.scrollWidth - innerWidth, Drawings: all.filter(svg => svg.getBoundingClientRect().height > 50).length,
		Outside: outside.length, Runs: document.querySelectorAll("path.run").length, Text: document.body.innerText,
	};
})()`

// open shows a page in a browser of this width. The test fails if the page loads anything else, or writes to the console.
func open(t *testing.T, p *Page, width int64) seen {
	t.Helper()
	browser.Need(t)
	file := filepath.Join(t.TempDir(), "advice.html")
	if err := os.WriteFile(file, []byte(written(t, p)), 0o644); err != nil {
		t.Fatal(err)
	}
	tab := browser.New(t, "file://"+file)
	tab.See(browser.Light, width)
	tab.Go("file://" + file)
	answer := browser.Ask[seen](tab, look)
	tab.Quiet()
	return answer
}

func TestThePageInABrowser(t *testing.T) {
	for _, width := range []int64{browser.Desk, browser.Phone} {
		got := open(t, site(), width)
		if got.Title != "Who would gain here?" || got.Foreign != 0 || got.Overflow > 0 || got.Drawings != 7 || got.Outside != 0 || got.Runs != 56 {
			got.Text = ""
			t.Errorf("at %d pixels the page is %+v", width, got)
		}
	}
}

func TestHostileNamesInABrowser(t *testing.T) {
	var runs []advise.Run
	for _, name := range hostile {
		runs = append(runs, again(name, name, 16, 12, core.EP{{Duration: 1500, Nodes: 2}, {Duration: 4800, Nodes: 16}})...)
		runs = append(runs, onSizes(name, name)...)
	}
	p := pageOf(runs)
	p.Title, p.Note, p.Missing = hostile[0], hostile[1], hostile
	p.WhatIf = &WhatIf{Losses: hostile, About: hostile[2], Head: hostile[:2], Groups: []Supposed{{hostile[3], []Case{{hostile[5], true, hostile[:2]}}}}, Notes: hostile}
	got := open(t, p, browser.Desk)
	if got.Title != hostile[0] || got.Foreign != 0 || got.Overflow > 0 || got.Drawings != 2*len(hostile) || got.Outside != 0 {
		t.Errorf("the page is %+v", got)
	}
	for _, name := range hostile[:4] {
		if !strings.Contains(got.Text, name) {
			t.Errorf("%s is not to be read", name)
		}
	}
}
