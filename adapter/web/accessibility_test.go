package web

import (
	"testing"

	"accordion/adapter"
	"accordion/adapter/view"
)

// faults is what of a page keeps people out who see little, or use no mouse: texts that hardly differ from what they stand on, fields and buttons
// without a name, ids that are there twice, no or several headings of the first order, targets too small to be hit, a page wider than its window.
const faults = `(() => {
	const found = [];
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
	const over = (a, b) => [0, 1, 2].map(k => a[k] * a[3] + b[k] * (1 - a[3])).concat(1);
	const ground = e => { let c = [0, 0, 0, 0]; for (; e; e = e.parentElement) { const b = parse(getComputedStyle(e).backgroundColor); if (b[3] > 0) c = c[3] === 0 ? b : over(c, b); if (c[3] === 1) return c; } return over(c, matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1]); };
	const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const seen = e => e.checkVisibility() && e.getBoundingClientRect().width > 1;
	const names = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (e.id && names.size === names.add(e.id).size) found.push("the id " + e.id + " is there twice");
		if (!seen(e)) continue;
		const text = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
		if (text) {
			const style = getComputedStyle(e), svg = e.namespaceURI.endsWith("svg"), c = contrast(over(parse(svg ? style.fill : style.color), ground(e)), ground(e));
			if (c < 4.5) found.push("contrast " + c.toFixed(2) + ": " + e.tagName + "." + e.getAttribute("class") + " " + e.textContent.trim().slice(0, 40));
		}
		const named = e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && [...e.labels].some(l => l.textContent.trim()));
		if (/^(BUTTON|INPUT|SELECT|A|CANVAS)$/.test(e.tagName) && !named) found.push(e.tagName + " " + e.id + " has no name");
		if (e.tagName === "svg" && !e.getAttribute("aria-label")) found.push("a drawing has no words");
		if (/^(BUTTON|INPUT|SELECT)$/.test(e.tagName)) { const b = e.getBoundingClientRect(); if (b.width < 24 || b.height < 24) found.push(e.tagName + " " + e.id + " is small"); }
		if (e.tagName === "TABLE" && !e.querySelector("th[scope=col]")) found.push("a table has no heads");
	}
	if (document.querySelectorAll("h1").length !== 1) found.push(document.querySelectorAll("h1").length + " first headings");
	if (!document.documentElement.lang || !document.title || !document.querySelector("main") || !document.querySelector("header")) found.push("no language, title, main or header");
	if (document.documentElement.scrollWidth > innerWidth) found.push(document.documentElement.scrollWidth - innerWidth + " pixels too wide");
	for (const a of document.querySelectorAll("[aria-describedby], [aria-labelledby]")) for (const n of ["aria-describedby", "aria-labelledby"]) if (a.hasAttribute(n) && !document.getElementById(a.getAttribute(n))) found.push(n + " leads nowhere");
	return found;
})()`

// busy is a town with all that a page may show: late and broken promises, nodes out of service, moldable jobs.
func busy() *view.Scene {
	s := clusterOf(24, 6, 20)
	s.Broken = map[adapter.Key]view.Breach{s.Queue.Jobs[0].Key(): {Promised: noon, Slipped: 1800, Cause: "lost node"}}
	s.Queue.Jobs[2].Phase = "late"
	s.Queue.Jobs[7].Kind, s.Queue.Jobs[7].Sized = "moldable", &view.Sized{Least: 1, Most: 8}
	s.Queue.Jobs[8].Turn, s.Queue.Jobs[8].Start, s.Queue.Jobs[8].End = view.Unreserved, 0, 0
	s.Nodes[23] = view.SceneNode{Name: "n24", State: view.NodeLost, Why: "DOWN", Out: true}
	s.Nodes[22] = view.SceneNode{Name: "n23", State: view.NodeAsleep}
	return s
}

func TestPagesAreThereForEverybody(t *testing.T) {
	h, root := open(t, Options{})
	shows(t, h, busy())
	for _, l := range []look{desk, {"dark", 1366}, {"light", 360}, {"dark", 360}} {
		for _, path := range []string{"/", "/?user=ann", "/job?id=1", "/job?id=8", "/job?id=4711"} {
			if l != desk && (path == "/?user=ann" || path == "/job?id=4711" || l.width == 1366 && path == "/job?id=8") {
				continue // as others
			}
			p := visit(t, root, path, l)
			for _, fault := range ask[[]string](p, faults) {
				t.Errorf("%s, %s, %d pixels: %s", path, l.scheme, l.width, fault)
			}
			if path != "/job?id=4711" { // of which the browser itself says that it is not there
				p.quiet()
			}
			p.close()
		}
	}
}

// A reader without a mouse gets to each job, in the table and in the chart, and to each node.
func TestThePageByKeyboard(t *testing.T) {
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
		ask[any](p, "void "+c.do)
		if got := ask[string](p, c.get); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	ask[any](p, `void (`+press+`)(document.getElementById("gantt"), "Enter")`)
	p.leads(`location.pathname === "/job" && location.search === "?id=5" && document.querySelector("h1") !== null`)
	p.quiet()
}

// Of 10,000 jobs the page has the rows that are seen, and draws in the time of a few frames.
func TestTenThousandJobsInABrowser(t *testing.T) {
	h, root := open(t, Options{})
	s := clusterOf(1000, 150, 9850)
	shows(t, h, s)
	p := visit(t, root, "/", desk)
	if rows := ask[int](p, `document.querySelectorAll("#body tr[data-id]").length`); rows < 10 || rows > 100 {
		t.Errorf("%d rows are in the page", rows)
	}
	shows(t, h, later(s, 5))
	p.await(`document.documentElement.dataset.edition === "2"`)
	ask[any](p, `void (document.getElementById("rows").scrollTop = 1e9)`)
	p.await(`document.querySelector('tr[data-id="10000"]') !== null`)
	ask[any](p, `(async () => { const f = document.getElementById("find"); f.value = "wait77 ann"; f.dispatchEvent(new Event("input")); })()`)
	p.await(`document.querySelectorAll("#body tr[data-id]").length > 0 && document.getElementById("body").textContent.includes("wait77")`)
	times := ask[[]float64](p, `[Number(document.documentElement.dataset.took), Number(document.getElementById("gantt").dataset.took), Number(document.getElementById("gantt").dataset.rects)]`)
	t.Logf("taking in an edition took %.0f ms, drawing the chart %.0f ms, of %.0f rectangles", times[0], times[1], times[2])
	if times[2] < 5_000 {
		t.Errorf("%.0f rectangles are drawn", times[2])
	}
	if times[0]+times[1] > 20_000 { // on a machine that has much else to do; alone they are some tenths of a second
		t.Errorf("an edition took %v ms", times)
	}
	p.quiet()
}
