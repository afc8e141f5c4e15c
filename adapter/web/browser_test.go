package web

import (
	"os"
	"strings"
	"testing"

	"accordion/internal/browser"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// look is the color scheme and window width of a reader's browser.
type look struct {
	colours string
	width   int64
}

var desk = look{browser.Light, browser.Desk}

// visit opens a page in a browser tab. The addresses of all files that the page requests must begin with root.
func visit(t *testing.T, root, path string, l look) *browser.Tab {
	t.Helper()
	p := browser.New(t, root+"/")
	p.See(l.colours, l.width)
	p.Go(root + path)
	if !strings.HasPrefix(path, "/job") {
		p.Await(`document.documentElement.dataset.ready !== undefined && document.getElementById("gantt").dataset.rects !== undefined`)
	}
	return p
}
