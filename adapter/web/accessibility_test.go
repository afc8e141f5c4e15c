package web

import (
	"testing"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/internal/browser"
)

// busy returns a cluster with everything that a page may show, such as late jobs, broken promises, nodes out of service, and moldable jobs.
func busy() *view.Snapshot {
	s := clusterOf(24, 6, 20)
	s.Broken = map[adapter.Key]view.Breach{s.Queue.Jobs[0].Key(): {Promised: noon, Slipped: 1800, Cause: "lost node"}}
	s.Queue.Jobs[2].Phase = "late"
	s.Queue.Jobs[7].Kind, s.Queue.Jobs[7].Sized = "moldable", &view.AllowedSizes{Least: 1, Most: 8}
	s.Queue.Jobs[8].Turn, s.Queue.Jobs[8].Start, s.Queue.Jobs[8].End = view.Unreserved, 0, 0
	s.Nodes[23] = view.SnapshotNode{Name: "n24", State: view.NodeLost, Why: "DOWN", Out: true}
	s.Nodes[22] = view.SnapshotNode{Name: "n23", State: view.NodeAsleep}
	return s
}

func TestPagesAreAccessible(t *testing.T) {
	h, root := open(t, Options{})
	shows(t, h, busy())
	for _, l := range []look{desk, {browser.Dark, browser.Desk}, {browser.Light, browser.Phone}, {browser.Dark, browser.Phone}} {
		for _, path := range []string{"/", "/?user=ann", "/job?id=1", "/job?id=8", "/job?id=4711"} {
			if l != desk && (path == "/?user=ann" || path == "/job?id=4711" || l.width == browser.Desk && path == "/job?id=8") {
				continue // with this look, other pages show the same
			}
			p := visit(t, root, path, l)
			for _, fault := range browser.Faults(p) {
				t.Errorf("%s, %s, %d pixels: %s", path, l.colours, l.width, fault)
			}
			if path != "/job?id=4711" { // the browser itself logs that the page does not exist
				p.Quiet()
			}
			p.Close()
		}
	}
}

// Each job, in the table and in the chart, and each node can be reached with the keyboard alone.
func TestPageByKeyboard(t *testing.T) {
	h, root := open(t, Options{})
	shows(t, h, busy())
	p := visit(t, root, "/", desk)
	press := `(at, ...keys) => keys.forEach(key => (at || document.activeElement).dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true})))`
	for _, c := range []struct{ what, do, get, want string }{
		{"the slash finds", `(` + press + `)(document.body, "/")`, `document.activeElement.id`, "find"},
		{"arrows in the table", `document.getElementById("rows").focus(), (` + press + `)(null, "ArrowDown", "ArrowDown", "ArrowDown")`, `document.activeElement.textContent`, "4"},
		{"the end of the table", `(` + press + `)(null, "End")`, `document.activeElement.textContent`, "26"},
		{"the chart's jobs", `(` + press + `)(document.getElementById("gantt"), "n", "n")`, `document.getElementById("gantt-says").textContent.split(";")[0]`, "job 5 “sim4” of ann"},
		{"the nodes", `(` + press + `)(document.getElementById("nodes"), "ArrowRight", "ArrowRight")`, `document.getElementById("node-says").textContent.split(",")[0]`, "n2: job 1 “sim0” of ann"},
	} {
		browser.Ask[any](p, "void "+c.do)
		if got := browser.Ask[string](p, c.get); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	browser.Ask[any](p, `void (`+press+`)(document.getElementById("gantt"), "Enter")`)
	p.Leads(`location.pathname === "/job" && location.search === "?id=5" && document.querySelector("h1") !== null`)
	p.Quiet()
}

// With 10,000 jobs the page contains only the visible rows, and draws within a few frames.
func TestTenThousandJobsInABrowser(t *testing.T) {
	h, root := open(t, Options{})
	s := clusterOf(1000, 150, 9850)
	shows(t, h, s)
	p := visit(t, root, "/", desk)
	if rows := browser.Ask[int](p, `document.querySelectorAll("#body tr[data-id]").length`); rows < 10 || rows > 100 {
		t.Errorf("%d rows are in the page", rows)
	}
	shows(t, h, later(s, 5))
	p.Await(`document.documentElement.dataset.edition === "2"`)
	browser.Ask[any](p, `void (document.getElementById("rows").scrollTop = 1e9)`)
	p.Await(`document.querySelector('tr[data-id="10000"]') !== null`)
	browser.Ask[any](p, `(async () => { const f = document.getElementById("find"); f.value = "wait77 ann"; f.dispatchEvent(new Event("input")); })()`)
	p.Await(`document.querySelectorAll("#body tr[data-id]").length > 0 && document.getElementById("body").textContent.includes("wait77")`)
	times := browser.Ask[[]float64](p, `[Number(document.documentElement.dataset.took), Number(document.getElementById("gantt").dataset.took), Number(document.getElementById("gantt").dataset.rects)]`)
	t.Logf("taking in an edition took %.0f ms, drawing the chart %.0f ms, of %.0f rectangles", times[0], times[1], times[2])
	if times[2] < 5_000 {
		t.Errorf("%.0f rectangles are drawn", times[2])
	}
	if times[0]+times[1] > 20_000 { // a large limit, because the machine may be busy; on an idle machine this takes some tenths of a second
		t.Errorf("an edition took %v ms", times)
	}
	p.Quiet()
}
