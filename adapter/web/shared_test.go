package web

import (
	"slices"
	"strings"
	"testing"

	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/internal/browser"
)

// sharedNodes returns a snapshot in which five jobs hold six of eight nodes. The jobs share some of these nodes, so that their sizes add
// up to 13.
func sharedNodes() *view.Snapshot {
	s := clusterOf(8, 0, 0)
	for i, j := range []struct {
		name, nodes string
		size        int
		from        core.Time
	}{{"mesh", "n[1-4]", 4, 1500}, {"serial", "n1", 1, 1200}, {"plot", "n1", 1, 900}, {"pair", "n[5-6]", 2, 1400}, {"wide", "n[2-6]", 5, 600}} {
		e := view.Entry{ID: core.JobID(i + 1), Submitted: noon - 7200, User: "ann", Name: j.name, Kind: "ordinary", Phase: "running",
			Nodes: j.nodes, Size: j.size, Start: noon - j.from, End: noon + 1800}
		e.Free = e.End
		s.Queue.Jobs = append(s.Queue.Jobs, e)
	}
	evolving := &s.Queue.Jobs[0]
	evolving.Kind, evolving.Step, evolving.Request = "evolving", 1, "ep=4x1h,2x30m"
	evolving.Plan, evolving.End = core.EP{{Duration: 3600, Nodes: 4}, {Duration: 1800, Nodes: 2}}, evolving.Start+5400
	s.Queue.Jobs = append(s.Queue.Jobs, view.Entry{ID: 6, Submitted: noon - 600, User: "bob", Name: "next", Kind: "ordinary", Phase: "waiting", Rank: 1, Size: 2,
		Start: noon + 1800, End: noon + 3600, Free: noon + 3600, Why: "Priority"})
	return s
}

// hidden is a script that returns the pairs of jobs that the chart draws on top of each other.
const hidden = `Promise.all([import("./feed.js"), import("./place.js"), import("./words.js")]).then(([{ feed }, { layout }, { hosts }]) => {
	const all = layout(feed, feed.now(), hosts).rects.map(r => ({ top: r.first, bottom: r.last + 1, ...r })), found = new Set();
	all.forEach((a, i) => all.slice(0, i).forEach(b => {
		if (a.job.id !== b.job.id && a.top < b.bottom && b.top < a.bottom && a.from < b.to && b.from < a.to) found.add(b.job.name + " behind " + a.job.name);
	}));
	return [...found];
})`

func TestJobsThatShareNodesAreAllSeen(t *testing.T) {
	h, root := open(t, Options{})
	shows(t, h, sharedNodes())
	p := visit(t, root, "/", desk)
	if got, want := p.Text("#sum"), "8 nodes · 5 jobs on 6 nodes · 1 wait"; got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
	if got, want := p.Text("#map-sum"), "6 nodes in use · 2 free · 6 shared by jobs"; got != want {
		t.Errorf("the map says %q, want %q", got, want)
	}
	says := browser.Ask[string](p, `(document.getElementById("nodes").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" })), document.getElementById("node-says").textContent)`)
	for _, want := range []string{"n1: 3 jobs", "job 1 “mesh” of ann", "job 2 “serial” of ann", "job 3 “plot” of ann"} {
		if !strings.Contains(says, want) {
			t.Errorf("of a node with three jobs the map says %q, want %q in it", says, want)
		}
	}
	if got := browser.Ask[[]string](p, hidden); len(got) > 0 {
		t.Errorf("the chart hides jobs: %s", strings.Join(got, ", "))
	}
	p.Quiet()
}

// The chart must not put a waiting job on the nodes of a job that ends, if other jobs still hold these nodes.
func TestPlannedJobIsPutOnNoNodeThatOthersStillHold(t *testing.T) {
	h, root := open(t, Options{})
	s := sharedNodes()
	s.Queue.Jobs[1].End, s.Queue.Jobs[1].Free = noon+600, noon+600 // the job "serial", which shares n1 with "mesh" and "plot"
	next := &s.Queue.Jobs[5]
	next.Start, next.End, next.Size = noon+600, noon+900, 3
	shows(t, h, s)
	p := visit(t, root, "/", desk)
	if got := browser.Ask[[]string](p, hidden); len(got) > 0 {
		t.Errorf("the chart hides jobs: %s", strings.Join(got, ", "))
	}
}

func TestCauseOfBrokenPromiseIsASentencesPart(t *testing.T) {
	h, root := open(t, Options{})
	s := sharedNodes()
	causes := []managed.Obstacle{managed.SiteLimit, managed.Turn, managed.Standstill, managed.Outaged, managed.BatchSystem}
	for i, cause := range causes {
		s.Broken[s.Queue.Jobs[i].Key()] = view.Breach{Promised: noon, Slipped: 70, Cause: string(cause)}
	}
	shows(t, h, s)
	p := visit(t, root, "/", desk)
	says := browser.Ask[[]string](p, `[...document.querySelectorAll("#promise-list b")].map(e => e.textContent)`)
	if len(says) != len(causes) {
		t.Errorf("the page tells %q of %d broken promises", says, len(causes))
	}
	for _, cause := range causes {
		if slices.Contains(says, string(cause)) {
			t.Errorf("the page tells the cause %q, which is the journal's word", cause)
		}
	}
	p.Quiet()
}
