package report

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long anything may take in the browser before a test gives up: machines may be slow, and nobody waits
// longer than he has to.
const patience = 3 * time.Minute

var browser struct {
	once   sync.Once
	tabs   context.Context
	closed []context.CancelFunc
	err    error
}

// TestMain makes the random cases the same in every run, unless the command line asks otherwise, and ends the browser.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == seed.DefValue {
		if err := seed.Value.Set("1"); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	for i := len(browser.closed) - 1; i >= 0; i-- {
		browser.closed[i]()
	}
	os.Exit(code)
}

// chromium starts the one browser of all tests. Where none is installed the test is skipped, unless
// ACCORDION_TEST_CHROMIUM=required says that there has to be one.
func chromium(t *testing.T) context.Context {
	t.Helper()
	required := os.Getenv("ACCORDION_TEST_CHROMIUM") == "required"
	if testing.Short() && !required {
		t.Skip("-short: the page is not tried in a browser")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		if required {
			t.Fatal("ACCORDION_TEST_CHROMIUM=required, and there is no chromium on PATH")
		}
		t.Skip("chromium is not on PATH (Debian: apt install chromium): the page is not tried in a browser")
	}
	browser.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1366, 900),
		)
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		browser.closed = append(browser.closed, stop)
		tabs, closeTabs := chromedp.NewContext(allocator)
		browser.closed = append(browser.closed, closeTabs)
		browser.tabs, browser.err = tabs, chromedp.Do(tabs)
	})
	if browser.err != nil {
		t.Fatalf("start %s: %v", path, browser.err)
	}
	return browser.tabs
}

// tab is a report in a browser's tab.
type tab struct {
	*testing.T
	context.Context
	mu       sync.Mutex
	requests []string // of anything but the page itself
	messages []string // errors and warnings of the console
}

// action is something done in a browser.
type action = chromedp.Action[chromedp.Void]

// media has the page think that its reader prefers dark or light colours.
func media(scheme string) action {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
}

// open writes a report to a file and opens it, as its reader would, and waits until it is drawn. before is done in the tab
// first.
func open(t *testing.T, r *Report, before ...action) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return openFile(t, file, before...)
}

// openFile opens a report that is a file.
func openFile(t *testing.T, file string, before ...action) *tab {
	t.Helper()
	page := newTab(t, file)
	page.do(append([]action{chromedp.EmulateViewport(1366, 900)}, before...)...)
	page.do(chromedp.Navigate("file://" + file))
	page.await(`document.documentElement.dataset.ready !== undefined || document.getElementById("window").textContent.startsWith("This page could not")`)
	if says := page.text("#window"); strings.HasPrefix(says, "This page could not") {
		t.Fatalf("the page was not drawn: %s %q", says, page.messages)
	}
	return page
}

// newTab is an empty tab that watches what a page asks of the network and says on its console.
func newTab(t *testing.T, file string) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(chromium(t))
	ctx, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(func() { cancel(); closeTab() })
	page := &tab{T: t, Context: ctx}
	if err := chromedp.Listen(ctx, func(event any) {
		page.mu.Lock()
		defer page.mu.Unlock()
		switch event := event.(type) {
		case *network.EventRequestWillBeSent:
			if url := event.Request.URL; url != "file://"+file && !strings.HasPrefix(url, "data:") {
				page.requests = append(page.requests, url)
			}
		case *runtime.EventConsoleAPICalled:
			for _, a := range event.Args {
				page.messages = append(page.messages, string(event.Type)+" "+string(a.Value)+a.Description)
			}
		case *runtime.EventExceptionThrown:
			page.messages = append(page.messages, event.ExceptionDetails.Text)
			if e := event.ExceptionDetails.Exception; e != nil {
				page.messages = append(page.messages, e.Description)
			}
		case *log.EventEntryAdded:
			page.messages = append(page.messages, event.Entry.Text)
		}
	}); err != nil {
		t.Fatalf("listen to a new tab: %v", err)
	}
	page.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, log.Enable, cdp.Empty{})
		return err
	}))
	return page
}

func (p *tab) do(actions ...action) {
	p.Helper()
	if err := chromedp.Do(p.Context, actions...); err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.Fatalf("in the browser: %v; its console says %q", err, p.messages)
	}
}

// await waits until an expression is true.
func (p *tab) await(expression string) {
	p.Helper()
	p.do(chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience)))
}

// ask evaluates an expression, and waits for it where it is a promise.
func ask[T any](p *tab, expression string) T {
	p.Helper()
	answer, err := chromedp.Run(p.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("evaluate %s: %v", expression, err)
	}
	return answer
}

// text is the text of the first element of a selector, as it is shown.
func (p *tab) text(selector string) string {
	p.Helper()
	return ask[string](p, "(document.querySelector(`"+selector+"`) || {innerText: \"\"}).innerText")
}

// drawn waits until two more frames were shown: what was asked for before is drawn then.
func (p *tab) drawn() {
	p.Helper()
	ask[bool](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// quiet fails when the page asked the network for anything or complained on the console.
func (p *tab) quiet() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) > 0 {
		p.Errorf("the page asked for %q", p.requests)
	}
	if len(p.messages) > 0 {
		p.Errorf("the console says %q", p.messages)
	}
}
