package web

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long anything may take in the browser before a test gives up: machines may be slow.
const patience = 3 * time.Minute

var browser struct {
	once   sync.Once
	tabs   context.Context
	closed []context.CancelFunc
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(browser.closed) - 1; i >= 0; i-- {
		browser.closed[i]()
	}
	os.Exit(code)
}

// chromium starts the one browser of all tests. Where none is installed the test is skipped, unless ACCORDION_TEST_CHROMIUM=required.
func chromium(t *testing.T) context.Context {
	t.Helper()
	required := os.Getenv("ACCORDION_TEST_CHROMIUM") == "required"
	if testing.Short() && !required {
		t.Skip("-short: the page is not tried in a browser")
	}
	path, err := exec.LookPath("chromium")
	if err != nil && required {
		t.Fatal("ACCORDION_TEST_CHROMIUM=required, and there is no chromium on PATH")
	}
	if err != nil {
		t.Skip("chromium is not on PATH (Debian: apt install chromium): the page is not tried in a browser")
	}
	browser.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		tabs, closeTabs := chromedp.NewContext(allocator)
		browser.closed = append(browser.closed, stop, closeTabs)
		browser.tabs, browser.err = tabs, chromedp.Do(tabs)
	})
	if browser.err != nil {
		t.Fatalf("start %s: %v", path, browser.err)
	}
	return browser.tabs
}

// tab is a page of the server in a browser.
type tab struct {
	*testing.T
	context.Context
	close    func() // a browser has six connections to a server at most: each page that is open has one
	mu       sync.Mutex
	requests []string // to anybody else
	messages []string // of the console, and of dialogs
}

// look is how a reader looks.
type look struct {
	scheme string // light, dark
	width  int64
}

var desk = look{"light", 1366}

// visit opens an address, of which all that the page asks for begins with root.
func visit(t *testing.T, root, path string, l look) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(chromium(t))
	ctx, cancel := context.WithTimeout(ctx, patience)
	p := &tab{T: t, Context: ctx, close: sync.OnceFunc(func() { cancel(); closeTab() })}
	t.Cleanup(p.close)
	if err := chromedp.Listen(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch event := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(event.Request.URL, root+"/") {
				p.requests = append(p.requests, event.Request.URL)
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
		case *cdpage.EventJavascriptDialogOpening:
			p.messages = append(p.messages, "dialog: "+event.Message)
		}
	}); err != nil {
		t.Fatal(err)
	}
	watch := chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}},
		})
		return err
	})
	p.do(watch, chromedp.EmulateViewport(l.width, 900), chromedp.Navigate(root+path))
	if !strings.HasPrefix(path, "/job") {
		p.await(`document.documentElement.dataset.ready !== undefined && document.getElementById("gantt").dataset.rects !== undefined`)
	}
	return p
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
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

// leads waits until an expression is true on the page to which the present one leads.
func (p *tab) leads(expression string) {
	p.Helper()
	for p.Err() == nil {
		if there, err := chromedp.Run(p.Context, chromedp.Evaluate[bool](expression)); err == nil && there {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.Fatalf("%s is not true in %v", expression, patience)
}

func ask[T any](p *tab, expression string) T {
	p.Helper()
	answer, err := chromedp.Run(p.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("evaluate %s: %v", expression, err)
	}
	return answer
}

// quiet fails when the page asked anybody else for anything or complained on the console.
func (p *tab) quiet() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) > 0 || len(p.messages) > 0 {
		p.Errorf("the page asked for %q, and the console says %q", p.requests, p.messages)
	}
}
