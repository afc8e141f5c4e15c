package guides

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"accordion/internal/browser"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// site builds the site from a source folder and returns the site's folder.
func site(t *testing.T, root string) (string, error) {
	t.Helper()
	to := t.TempDir()
	said, err := exec.CommandContext(t.Context(), "go", "run", "-C", "../site", ".", "-root", root, to).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return to, err
}

// built builds the site of the guides. It also reads the sources itself. `go test` reuses the result of a test as
// long as the files that the test process has read are the same.
func built(t *testing.T) string {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*", "examples/*/*", "scripts/site/*"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(files))
		}
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	to, err := site(t, "../..")
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func texts(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = string(text)
	}
	return all
}

func TestTwoSitesAreTheSame(t *testing.T) {
	if diff := cmp.Diff(texts(t, built(t)), texts(t, built(t))); diff != "" {
		t.Errorf("a second site is another one:\n%s", diff)
	}
}

// written returns a source folder with the given files.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAWrongGuideMakesNoSite(t *testing.T) {
	contents := "# Contents\n\n## Start\n\n- [First](../README.md): it\n- [User](user.md): it\n"
	for what, c := range map[string]struct{ guide, says string }{
		"right":              {"# User\n\n[first](../README.md#a-part), [file](../tool/x.sh), [folder](../tool), [away](https://example.org/)\n", ""},
		"no such file":       {"[x](gone.sh)\n", "docs/user.md links to gone.sh"},
		"no such heading":    {"[x](../README.md#gone)\n", "README.md has no heading #gone"},
		"not in the order":   {"[x](other.md)\n", "a guide that docs/README.md does not name"},
		"HTML":               {"a <b>bold</b> word\n", "docs/user.md: HTML: <b>"},
		"a picture is none":  {"![x](../tool/x.sh)\n", "and no picture"},
		"plain http":         {"[x](http://example.org/)\n", "only https"},
		"an outward picture": {"![x](https://example.org/x.png)\n", "docs/user.md shows https://example.org/x.png"},
	} {
		t.Run(what, func(t *testing.T) {
			to, err := site(t, written(t, map[string]string{
				"docs/README.md": contents, "docs/user.md": c.guide, "docs/other.md": "# Other\n", "README.md": "# First\n\n## A part\n", "tool/x.sh": "true & false\n",
			}))
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				pages := texts(t, to)
				if len(pages) != 5 || !strings.Contains(pages["tool-x.sh.html"], "true &amp; false") || !strings.Contains(pages["tool.html"], `href="tool-x.sh.html"`) {
					t.Errorf("the pages are %q", pages)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want %q", err, c.says)
			}
			if pages := texts(t, to); len(pages) > 0 {
				t.Errorf("%d pages were written", len(pages))
			}
		})
	}
}

// linked holds a page's links, as a browser resolves them, and its IDs.
type linked struct {
	Links []string
	IDs   []string
	Title string
	Next  string
}

const readPage = `(() => ({
	Links: [...document.querySelectorAll("a[href]")].map(a => a.href),
	IDs: [...document.querySelectorAll("[id]")].map(e => e.id),
	Title: document.title,
	Next: (document.querySelector("a[rel=next]") || {href: ""}).href,
}))()`

// Every page opens from the disk without requests and messages, on a desktop and a phone, in light and dark colors.
// Every internal link leads to an existing page and an existing place. The links "next" lead through all pages of
// the contents, in their order.
func TestTheSiteInABrowser(t *testing.T) {
	browser.Need(t)
	root := "file://" + built(t) + "/"
	p := browser.New(t, root)
	pages, next := map[string]linked{}, []string{}
	visit := func(name string) {
		p.Go(root + name)
		p.Quiet()
		for _, look := range []struct {
			colours string
			width   int64
		}{{browser.Light, browser.Desk}, {browser.Dark, browser.Phone}} {
			p.See(look.colours, look.width)
			for _, fault := range browser.Faults(p) {
				t.Errorf("%s, %s, %d pixels: %s", name, look.colours, look.width, fault)
			}
		}
		pages[name] = browser.Ask[linked](p, readPage)
	}
	for name := "index.html"; name != ""; name = strings.TrimPrefix(pages[name].Next, root) {
		if pages[name].Title != "" {
			t.Fatalf("next leads from %q back to %s", next, name)
		}
		visit(name)
		next = append(next, name)
	}
	for name := range texts(t, strings.TrimPrefix(root, "file://")) {
		if pages[name].Title == "" {
			visit(name)
		}
	}
	titles := map[string]string{}
	for name, page := range pages {
		if other := titles[page.Title]; other != "" {
			t.Errorf("%s and %s have the title %q", name, other, page.Title)
		}
		titles[page.Title] = name
		for _, link := range page.Links {
			inside, is := strings.CutPrefix(link, root)
			if !is {
				if !strings.HasPrefix(link, "https://") && !strings.HasPrefix(link, "http://127.0.0.1:") { // such a link leads to the reader's own machine
					t.Errorf("%s links to %s", name, link)
				}
				continue
			}
			file, id, _ := strings.Cut(inside, "#")
			if there, is := pages[file]; !is || id != "" && !slices.Contains(there.IDs, id) {
				t.Errorf("%s links to %s, which is not there", name, inside)
			}
		}
	}
	if want := contentsOf(t); len(next) != want || want < 20 {
		t.Errorf("next leads through %d pages, the contents name %d: %q", len(next), want, next)
	}
}

// contentsOf returns the number of pages in the contents.
func contentsOf(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n- [")
}

// A reader without a mouse can skip the header to reach the text, and can go to the next page.
func TestTheSiteByKeyboard(t *testing.T) {
	browser.Need(t)
	root := "file://" + built(t) + "/"
	p := browser.New(t, root)
	p.Go(root + "user.html")
	press := func(key, code string, number int64) {
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			text := ""
			if key == "Enter" && kind == input.DispatchKeyEventTypeKeyDown {
				text = "\r"
			}
			p.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
				_, err := chromedp.Call(ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: code, Text: text, WindowsVirtualKeyCode: number})
				return err
			}))
		}
	}
	tab := func() { press("Tab", "Tab", 9) }
	tab()
	if at := browser.Ask[string](p, `document.activeElement.textContent`); at != "To the text" {
		t.Fatalf("the first stop is %q", at)
	}
	press("Enter", "Enter", 13)
	p.Await(`location.hash === "#text"`)
	tab()
	if !browser.Ask[bool](p, `document.querySelector("main").contains(document.activeElement) && getComputedStyle(document.activeElement).outlineStyle !== "none"`) {
		t.Errorf("after the skip the focus is not seen in the text")
	}
	p.Do(chromedp.Focus(chromedp.CSS("a[rel=next]")))
	press("Enter", "Enter", 13)
	p.Leads(`location.pathname.endsWith("/step.html") && document.querySelector("[aria-current]").textContent === "accordion step"`)
	p.Quiet()
}
