package status_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
	planning "accordion/core/sched"
	"accordion/core/sizing"
)

// sized returns the queue that queue returns, with the moldable job 18, whose size was computed by the
// given rule as in a plan. Of the 15 nodes in service, jobs hold 11. The other waiting jobs want 10
// nodes, 6 nodes (10 at the job's peak), and so on.
func sized(t *testing.T, rule, request string, choices []core.EP, limit int) view.Queue {
	t.Helper()
	q := queue()
	chosen, _ := sizing.Named(rule)
	s := sizing.New(core.Job{Choices: choices}, sizing.HalfReference)
	w := &sizing.World{Now: second("12:00:00"), Machine: 15}
	for _, e := range q.Jobs {
		if e.Holds() {
			w.Holds(e.Size, e.Size, 1)
			w.Running = append(w.Running, sizing.Holding{Nodes: e.Size, End: e.Free})
		} else if e.Rank > 0 && e.ID != 18 {
			other := sizing.New(core.Job{Choices: []core.EP{{{Duration: 3600, Nodes: max(e.Size, e.Plan.Peak())}}}}, sizing.HalfReference)
			w.Waits(other, 1)
			w.Waiting = append(w.Waiting, other)
		}
	}
	w.Waits(s, 1)
	w.Waiting = append(w.Waiting, s)
	q.Sizing = []view.Sizing{view.NewSizing(rule, w)}
	e := &q.Jobs[5] // job 18
	e.Request, e.Sized = request, view.NewAllowedSizes(chosen, planning.SizeBasis{Sizes: s, World: w, HeadSizes: s}, 15)
	e.Sized.Limit = limit
	most := e.Sized.Most
	for _, ep := range choices {
		if ep[0].Nodes == most {
			e.Plan, e.Size, e.End, e.Free = ep, most, e.Start+ep[0].Duration, e.Start+ep[0].Duration
		}
	}
	return q
}

// The golden texts are for users who do not know the formulas of the sizing rules.
func TestExplainTheSizeOfAMoldableJob(t *testing.T) {
	list := []core.EP{{{Duration: 20 * 3600, Nodes: 2}}, {{Duration: 11 * 3600, Nodes: 4}}, {{Duration: 9 * 3600, Nodes: 8}}, {{Duration: 10 * 3600, Nodes: 12}}}
	const text = "mold=2x20h|4x11h|8x9h|12x10h"
	for _, rule := range sizing.Names() {
		if rule != "earliest" { // the rule "earliest" limits the size of no job
			golden(t, "size-by-"+rule+".txt", explained(t, lab(t, sized(t, rule, text, list, 0)), 18, noon))
		}
	}
	behind := sized(t, "load", text, list, 0)
	behind.Jobs[5].Head = 17
	golden(t, "size-by-the-head.txt", explained(t, lab(t, behind), 18, noon))
	limited := sized(t, "reference", text, list[:1], 3)
	golden(t, "size-within-a-limit.txt", explained(t, lab(t, limited), 18, noon))
}

// The JSON has every size in the request, with its planned start, and whether the job may have the size.
func TestExplainJSONListsEverySize(t *testing.T) {
	list := []core.EP{{{Duration: 20 * 3600, Nodes: 2}}, {{Duration: 11 * 3600, Nodes: 4}}, {{Duration: 9 * 3600, Nodes: 8}}, {{Duration: 10 * 3600, Nodes: 12}}}
	q := sized(t, "share", "mold=12x10h|8x9h|4x11h|2x20h", list, 0)
	x, err := status.Explain(lab(t, q), 18)
	if err != nil || x.Sizes == nil {
		t.Fatalf("%+v, %v", x.Sizes, err)
	}
	e := q.Jobs[5]
	if x.Sizes.Taken != e.Size || x.Sizes.Machine != 15 || x.Sizes.Held != 11 || x.Sizes.Rule != "share" || x.Sizes.Reference != 4 {
		t.Errorf("%+v", *x.Sizes)
	}
	if !slices.IsSortedFunc(x.Sizes.Listed, func(a, b status.SizeOption) int { return a.Nodes - b.Nodes }) || len(x.Sizes.Listed) != len(list) {
		t.Fatalf("listed %+v", x.Sizes.Listed)
	}
	for _, l := range x.Sizes.Listed {
		switch {
		case l.May != (l.Nodes >= e.Sized.Least && l.Nodes <= e.Sized.Most):
			t.Errorf("%+v of %d to %d", l, e.Sized.Least, e.Sized.Most)
		case l.Start > 0 && l.End != l.Start+l.Seconds || l.Start > 0 && l.Start < second("12:00:00"):
			t.Errorf("%+v", l)
		case l.Nodes == e.Size && l.Start != e.Start:
			t.Errorf("planned %+v, told %+v", e, l)
		}
	}
	data, err := json.Marshal(x)
	if err != nil || !strings.Contains(string(data), `"listed":[{"nodes":2,`) {
		t.Errorf("%s, %v", data, err)
	}
}

// A listed size starts only when its nodes are free for its whole duration.
func TestListedSizeStartsWhenItsNodesAreFree(t *testing.T) {
	list := []core.EP{{{Duration: 600, Nodes: 2}}, {{Duration: 500, Nodes: 4}}, {{Duration: 400, Nodes: 8}}}
	x, err := status.Explain(lab(t, sized(t, "least", "mold=2x600s|4x500s|8x400s", list, 0)), 18)
	if err != nil {
		t.Fatal(err)
	}
	// Job 9 grows to five nodes at 12:01:00, so that three nodes are free. At 12:31:00 it shrinks
	// to two nodes. After that job 11 has ten nodes until 13:42:55.
	for i, want := range []string{"12:00:00", "12:31:00", "13:42:55"} {
		if got := x.Sizes.Listed[i]; got.Start != second(want) && got.Nodes != x.Sizes.Taken {
			t.Errorf("%+v, want from %s", got, want)
		}
	}
}
