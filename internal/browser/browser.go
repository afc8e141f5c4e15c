// Package browser runs Chromium for tests, and reports faults of a page. Such faults are requests to other hosts,
// console messages, and barriers for readers with low vision or without a mouse.
//
// A process has one browser, and each test has its own tab. Production code does not use the package.
//
//	func TestMain(m *testing.M) { os.Exit(browser.Main(m)) } // ends the browser
//
//	func TestThePage(t *testing.T) {
//		p := browser.New(t, "http://127.0.0.1:4711/") // addresses that the page may request begin with this
//		p.See(browser.Dark, browser.Phone)
//		p.Go("http://127.0.0.1:4711/")
//		p.Fair()
//		p.Quiet()
//	}
package browser

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"accordion/internal/testenv"
)

// Patience is the longest time that an action in the browser may take. It is long because machines may be slow, and
// only a failing test waits that long.
const Patience = 3 * time.Minute

// The settings of a reader: the color scheme, and the width of the window in pixels.
const (
	Light = "light"
	Dark  = "dark"

	Desk  = 1366
	Phone = 360
)

// Action is an action in a browser.
type Action = chromedp.Action[chromedp.Void]

// one is the browser of this process.
var one struct {
	once   sync.Once
	tabs   context.Context
	closed []context.CancelFunc
	err    error
}

// Main runs a package's tests, ends the browser that they have used, and returns the exit status.
func Main(m *testing.M) int {
	code := m.Run()
	for i := len(one.closed) - 1; i >= 0; i-- {
		one.closed[i]()
	}
	return code
}

// Need skips a test unless tests with a browser are requested (package testenv).
func Need(t *testing.T) { start(t) }

// start starts the browser, and returns the context in which tabs are opened.
func start(t *testing.T) context.Context {
	t.Helper()
	testenv.Needs(t, testenv.Chromium)
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	one.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(Desk, 900),
		)
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		tabs, closeTabs := chromedp.NewContext(allocator)
		one.closed = append(one.closed, stop, closeTabs)
		one.tabs, one.err = tabs, chromedp.Do(tabs)
	})
	if one.err != nil {
		t.Fatalf("start %s: %v", path, one.err)
	}
	return one.tabs
}

// Tab is a tab of the browser. Its methods fail the test that opened it.
type Tab struct {
	*testing.T
	context.Context
	Close func() // called at the end of the test at the latest; a browser opens at most six connections to a server, and a live page keeps one of them open

	mu       sync.Mutex
	requests []string // requests to hosts that the page must not use
	messages []string // messages of the console and of dialogs
}

// New opens an empty tab with the width of a desktop window, in light colors. The page may request only addresses
// that begin with `within`.
func New(t *testing.T, within string) *Tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(start(t))
	ctx, cancel := context.WithTimeout(ctx, Patience)
	p := &Tab{T: t, Context: ctx, Close: sync.OnceFunc(func() { cancel(); closeTab() })}
	t.Cleanup(p.Close)
	if err := chromedp.Listen(ctx, func(event any) { p.hear(event, within) }); err != nil {
		t.Fatalf("listen to a new tab: %v", err)
	}
	p.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, log.Enable, cdp.Empty{})
		return err
	}))
	p.See(Light, Desk)
	return p
}

// hear records requests to other hosts, and messages.
func (p *Tab) hear(event any, within string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := event.Request.URL; !strings.HasPrefix(url, within) && !strings.HasPrefix(url, "data:") {
			p.requests = append(p.requests, url)
		}
	case *runtime.EventConsoleAPICalled:
		for _, a := range event.Args {
			p.messages = append(p.messages, string(event.Type)+" "+string(a.Value)+a.Description)
		}
	case *runtime.EventExceptionThrown:
		p.messages = append(p.messages, event.ExceptionDetails.Text)
		if e := event.ExceptionDetails.Exception; e != nil {
			p.messages = append(p.messages, e.Description)
		}
	case *log.EventEntryAdded:
		p.messages = append(p.messages, event.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		p.messages = append(p.messages, "dialog: "+event.Message)
	}
}

// See sets the color scheme that the reader prefers, and the width in pixels.
func (p *Tab) See(colours string, width int64) {
	p.Helper()
	p.Do(chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}},
		})
		return err
	}))
}

// Go opens an address and waits until it is loaded.
func (p *Tab) Go(address string) {
	p.Helper()
	p.Do(chromedp.Navigate(address))
}

// Do performs actions in the tab.
func (p *Tab) Do(actions ...Action) {
	p.Helper()
	if err := chromedp.Do(p.Context, actions...); err != nil {
		p.Fatalf("in the browser: %v; its console says %q", err, p.Messages())
	}
}

// Await waits until an expression is true.
func (p *Tab) Await(expression string) {
	p.Helper()
	p.Do(chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(Patience)))
}

// Leads waits until an expression is true on the page to which the current page leads. It polls, because the
// current page, which could send an event, is replaced.
func (p *Tab) Leads(expression string) {
	p.Helper()
	for p.Err() == nil {
		if there, err := chromedp.Run(p.Context, chromedp.Evaluate[bool](expression)); err == nil && there {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.Fatalf("%s is not true in %v", expression, Patience)
}

// Ask evaluates an expression, and waits for the result if it is a promise.
func Ask[T any](p *Tab, expression string) T {
	p.Helper()
	answer, err := chromedp.Run(p.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("evaluate %s: %v", expression, err)
	}
	return answer
}

// Text returns the displayed text of the first element that matches a selector, or "" if there is no such element.
func (p *Tab) Text(selector string) string {
	p.Helper()
	return Ask[string](p, "(document.querySelector(`"+selector+"`) || {innerText: \"\"}).innerText")
}

// Drawn waits until two more frames have been shown, so that all earlier changes are drawn.
func (p *Tab) Drawn() {
	p.Helper()
	Ask[bool](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// Messages returns the messages of the console.
func (p *Tab) Messages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.messages...)
}

// Quiet fails the test if the page requested anything from another host or wrote to the console.
func (p *Tab) Quiet() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) > 0 || len(p.messages) > 0 {
		p.Errorf("the page asked for %q, and the console says %q", p.requests, p.messages)
	}
}
