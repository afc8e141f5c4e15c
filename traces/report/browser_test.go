package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"accordion/internal/browser"
	"accordion/internal/testmain"
)

// TestMain makes the random cases the same in every run, unless the command line asks otherwise, and ends the browser.
func TestMain(m *testing.M) {
	testmain.Prepare(testmain.Cases{})
	os.Exit(browser.Main(m))
}

// tab is a report in a browser's tab.
type tab struct{ *browser.Tab }

// open writes a report to a file and opens it, as its reader would, and waits until it is drawn.
func open(t *testing.T, r *Report) *tab {
	t.Helper()
	return openIn(t, browser.Light, r)
}

// openIn opens it for a reader who prefers these colors.
func openIn(t *testing.T, colours string, r *Report) *tab {
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
	return openFile(t, colours, file)
}

// openFile opens a report that is a file.
func openFile(t *testing.T, colours, file string) *tab {
	t.Helper()
	p := &tab{browser.New(t, "file://"+file)}
	p.See(colours, browser.Desk)
	p.Go("file://" + file)
	p.Await(`document.documentElement.dataset.ready !== undefined || document.getElementById("window").textContent.startsWith("This page could not")`)
	if says := p.Text("#window"); strings.HasPrefix(says, "This page could not") {
		t.Fatalf("the page was not drawn: %s %q", says, p.Messages())
	}
	return p
}
