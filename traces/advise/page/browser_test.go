package page

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/core"
	"accordion/traces/advise"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// seen is what a browser makes of a page.
type seen struct {
	Title    string
	Foreign  int // elements that the page has none of: scripts, images, frames
	Overflow int // pixels by which the page is wider than its window
	Drawings int
	Outside  int // drawings' lines that leave their drawing
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

// open writes a page to a file and looks at it in a Chromium of this width. It fails when the page asks for anything else, or the console says something.
func open(t *testing.T, p *Page, width int64) seen {
	t.Helper()
	required := os.Getenv("ACCORDION_TEST_CHROMIUM") == "required"
	path, err := exec.LookPath("chromium")
	if required && err != nil {
		t.Fatal("ACCORDION_TEST_CHROMIUM=required, and there is no chromium on PATH")
	}
	if err != nil || testing.Short() && !required {
		t.Skip("chromium is not on PATH (Debian: apt install chromium), or -short: the page is not tried in a browser")
	}
	file := filepath.Join(t.TempDir(), "advice.html")
	if err := os.WriteFile(file, []byte(written(t, p)), 0o644); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, closeTab := chromedp.NewContext(allocator)
	defer closeTab()
	var requests, messages []string
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute) // machines may be slow
	defer cancel()
	var mu sync.Mutex
	if err := chromedp.Listen(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch event := event.(type) {
		case *network.EventRequestWillBeSent:
			if event.Request.URL != "file://"+file {
				requests = append(requests, event.Request.URL)
			}
		case *log.EventEntryAdded:
			messages = append(messages, event.Entry.Text)
		}
	}); err != nil {
		t.Fatal(err)
	}
	watch := chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, log.Enable, cdp.Empty{})
		return err
	})
	if err := chromedp.Do(ctx, watch, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+file)); err != nil {
		t.Fatal(err)
	}
	answer, err := chromedp.Run(ctx, chromedp.Evaluate[seen](look))
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(requests) > 0 || len(messages) > 0 {
		t.Errorf("the page asked for %q, and the console says %q", requests, messages)
	}
	return answer
}

func TestThePageInABrowser(t *testing.T) {
	for _, width := range []int64{1366, 380} {
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
	got := open(t, p, 1366)
	if got.Title != hostile[0] || got.Foreign != 0 || got.Overflow > 0 || got.Drawings != 2*len(hostile) || got.Outside != 0 {
		t.Errorf("the page is %+v", got)
	}
	for _, name := range hostile[:4] {
		if !strings.Contains(got.Text, name) {
			t.Errorf("%s is not to be read", name)
		}
	}
}
