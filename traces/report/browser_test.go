package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"accordion/internal/browser"
	"accordion/internal/testmain"
)

// TestMain uses the same random cases in every run, unless flags override this, and ends the browser.
func TestMain(m *testing.M) {
	testmain.Prepare(testmain.Cases{})
	os.Exit(browser.Main(m))
}

// tab is a report in a tab of a browser.
type tab struct{ *browser.Tab }

// open writes a report to a file, opens it, and waits until it is drawn.
func open(t *testing.T, r *Report) *tab {
	t.Helper()
	return openIn(t, browser.Light, r)
}

// openIn does what open does, with the given color scheme.
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

// openFile opens a report in a file.
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
