package web

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/internal/browser"
)

var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=http://elsewhere.example/x onerror=alert(2)>`, `</script><iframe src="http://elsewhere.example/">`, `' onload=alert(3) '`,
	"\x1b[2J\x00\xff\u202eevil", strings.Repeat("a", 5000), `{{.}} {{template "drawing"}}`, `</title><svg onload=alert(4)>`, "x\ny\r\n\r\nevent: state\ndata: {}", `javascript:alert(5)`, `__proto__`,
}

// evil returns a cluster with hostile texts in all fields that users can set.
func evil() *view.Snapshot {
	s := clusterOf(16, 4, 8)
	s.Queue.Cluster, s.Soft = hostile[0], hostile[1]
	for i := range s.Queue.Jobs {
		e := &s.Queue.Jobs[i]
		e.User, e.Name, e.Why, e.Request, e.Phase = hostile[i%len(hostile)], hostile[(i+1)%len(hostile)], hostile[(i+2)%len(hostile)], hostile[(i+3)%len(hostile)], "running"
	}
	s.Nodes[15] = view.SnapshotNode{Name: hostile[1], State: view.NodeLost, Why: hostile[0], Out: true}
	s.Broken = map[adapter.Key]view.Breach{s.Queue.Jobs[0].Key(): {Promised: noon, Slipped: 70, Cause: hostile[0]}}
	s.Queue.Closures = []view.Closure{{Name: hostile[1], Nodes: 1, Start: noon, End: core.Forever}}
	s.Closed = []view.SnapshotClosure{{Closure: s.Queue.Closures[0], On: "n14"}}
	return s
}

func TestPageInABrowser(t *testing.T) {
	h, root := open(t, Options{})
	a := clusterOf(16, 4, 9)
	shows(t, h, a)
	p := visit(t, root, "/", desk)
	if got := browser.Ask[string](p, `document.getElementById("sum").textContent`); got != "16 nodes · 4 jobs on 12 nodes · 9 wait" {
		t.Errorf("the page says %q", got)
	}
	if got := browser.Ask[int](p, `document.querySelectorAll("#body tr[data-id]").length`); got != 13 {
		t.Errorf("%d jobs are in the table, want 13", got)
	}
	b := later(a, 5)
	b.Queue.Jobs = slices.Delete(b.Queue.Jobs, 0, 1)
	b.Queue.Jobs[4].Name = "renamed"
	shows(t, h, b)
	p.Await(`document.documentElement.dataset.edition === "2" && document.querySelector('tr[data-id="1"]') === null && document.body.innerText.includes("renamed")`)
	if drawn := browser.Ask[int](p, `Number(document.getElementById("gantt").dataset.rects)`); drawn < 13 {
		t.Errorf("%d rectangles are drawn", drawn)
	}
	p.Quiet()
}

// Every page shows names of jobs as plain text, even if they contain HTML or scripts.
func TestHostileNamesInABrowser(t *testing.T) {
	h, root := open(t, Options{})
	shows(t, h, evil())
	for _, path := range []string{"/", "/?user=" + "%3Cscript%3Ealert(1)%3C/script%3E", "/job?id=1", "/job?id=7"} {
		p := visit(t, root, path, desk)
		foreign := browser.Ask[int](p, `document.querySelectorAll("script:not([src]), img, iframe, object, embed, [onload], [onerror], a[href^='javascript']").length`)
		if foreign > 0 {
			t.Errorf("%s: %d elements are not the page's own", path, foreign)
		}
		if text := browser.Ask[string](p, "document.body.innerText"); !strings.Contains(text, "alert(") {
			t.Errorf("%s: the names are not to be read", path)
		}
		if wide := browser.Ask[int](p, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
			t.Errorf("%s: the page is %d pixels wider than its window", path, wide)
		}
		p.Quiet()
		p.Close()
	}
}

// A site's own web server may serve the page under any path. The page must still find all of its
// files.
func TestPageBehindAProxy(t *testing.T) {
	h, root := open(t, Options{})
	shows(t, h, clusterOf(16, 4, 9))
	to, err := url.Parse(root)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(http.StripPrefix("/accordion", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}))
	defer proxy.Close()
	p := visit(t, proxy.URL+"/accordion", "/?user=ann", desk)
	if rows := browser.Ask[int](p, `document.querySelectorAll("#body tr[data-id]").length`); rows != 4 {
		t.Errorf("%d jobs of ann are shown, want 4", rows)
	}
	browser.Ask[any](p, `void document.querySelector("#body tr[data-id] a").click()`)
	p.Leads(`location.pathname === "/accordion/job" && document.querySelector("svg path.held") !== null && document.getElementById("live").textContent === "live"`)
	p.Quiet()
	p.Close()
}
