// Package browser gives tests a Chromium, and says what is wrong with a page in it: that it asks somebody else for something, that its
// console complains, that readers who see little or use no mouse are kept out.
//
// A process has one browser, and each test a tab of its own. The package is not for product code.
//
//	func TestMain(m *testing.M) { os.Exit(browser.Main(m)) } // ends the browser
//
//	func TestThePage(t *testing.T) {
//		p := browser.New(t, "http://127.0.0.1:4711/") // what the page may ask for begins so
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

// Patience is how long anything may take in the browser before a test gives up: machines may be slow, and nobody waits longer than
// he has to.
const Patience = 3 * time.Minute

// How a reader looks: in which colors, and at how many pixels from side to side.
const (
	Light = "light"
	Dark  = "dark"

	Desk  = 1366
	Phone = 360
)

// Action is something done in a browser.
type Action = chromedp.Action[chromedp.Void]

// one is the browser of this process.
var one struct {
	once   sync.Once
	tabs   context.Context
	closed []context.CancelFunc
	err    error
}

// Main runs a package's tests and ends the browser that they have used. It gives the status to exit with.
func Main(m *testing.M) int {
	code := m.Run()
	for i := len(one.closed) - 1; i >= 0; i-- {
		one.closed[i]()
	}
	return code
}

// Need skips a test unless browsers are asked for (package testenv).
func Need(t *testing.T) { start(t) }

// start starts the browser, and gives what tabs are made of.
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
	Close func() // at the test's end at the latest. A browser has six connections to a server at most: a page that is live has one

	mu       sync.Mutex
	requests []string // to others than the page may ask
	messages []string // of the console, and of dialogs
}

// New is an empty tab of a desk's width, in light colors. All that its page may ask the network for begins with within.
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

// hear keeps what must not be: requests to others, and complaints.
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

// See has the page think that its reader prefers these colors, and makes it so many pixels wide.
func (p *Tab) See(colours string, width int64) {
	p.Helper()
	p.Do(chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}},
		})
		return err
	}))
}

// Go opens an address, and waits until it is loaded.
func (p *Tab) Go(address string) {
	p.Helper()
	p.Do(chromedp.Navigate(address))
}

// Do does something in the tab.
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

// Leads waits until an expression is true on the page to which the present one leads. No event tells when that is: the page in which
// one would be awaited goes meanwhile.
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

// Ask evaluates an expression, and waits for it where it is a promise.
func Ask[T any](p *Tab, expression string) T {
	p.Helper()
	answer, err := chromedp.Run(p.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("evaluate %s: %v", expression, err)
	}
	return answer
}

// Text is the text of the first element of a selector, as it is shown; "" where there is none.
func (p *Tab) Text(selector string) string {
	p.Helper()
	return Ask[string](p, "(document.querySelector(`"+selector+"`) || {innerText: \"\"}).innerText")
}

// Drawn waits until two more frames were shown: what was asked for before is drawn then.
func (p *Tab) Drawn() {
	p.Helper()
	Ask[bool](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// Messages are what the console has said.
func (p *Tab) Messages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.messages...)
}

// Quiet fails when the page asked anybody else for anything, or complained on the console.
func (p *Tab) Quiet() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) > 0 || len(p.messages) > 0 {
		p.Errorf("the page asked for %q, and the console says %q", p.requests, p.messages)
	}
}
