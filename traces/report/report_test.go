package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// two returns a report of two jobs on four nodes: a rigid job, and an evolving job of 1, then 3, then 2 nodes. Under the second policy the
// evolving job waits.
func two() *Report {
	profile := core.EP{{Duration: 40, Nodes: 1}, {Duration: 40, Nodes: 3}, {Duration: 20, Nodes: 2}}
	stairs := func(begin core.Time) []replay.Stretch {
		return []replay.Stretch{
			{From: begin, To: begin + 40, Nodes: []replay.Span{{First: 1, Last: 1}}},
			{From: begin + 40, To: begin + 80, Nodes: []replay.Span{{First: 0, Last: 1}, {First: 3, Last: 3}}},
			{From: begin + 80, To: begin + 100, Nodes: []replay.Span{{First: 0, Last: 1}}},
		}
	}
	return &Report{
		Title: "Two", Note: "two jobs", Begin: time.Date(2006, 11, 3, 8, 0, 0, 0, time.UTC),
		Workload: workload.Workload{Name: "two", Machine: core.Machine{Nodes: 4}, Jobs: []workload.Job{
			{Number: 7, Submit: 0, Run: 50, Request: 60, Size: 1, User: 3, Cut: true},
			{Number: 8, Submit: 5, Run: 100, Request: 100, Size: 3, User: -1, Choices: []core.EP{profile}},
		}},
		Replays: []Replay{
			{
				Result: replay.Result{Policy: "easy", Outcomes: []replay.Outcome{{Start: 0, End: 50}, {Start: 5, End: 105, Held: profile}}},
				Held:   [][]replay.Stretch{{{From: 0, To: 50, Nodes: []replay.Span{{First: 2, Last: 2}}}}, stairs(5)},
			},
			{
				Result: replay.Result{Policy: "2X+c", Outcomes: []replay.Outcome{{Start: 0, End: 50}, {Start: 60, End: 160, Held: profile}}},
				Held:   [][]replay.Stretch{{{From: 0, To: 50, Nodes: []replay.Span{{First: 2, Last: 2}}}}, stairs(60)},
			},
		},
		Table: []Row{
			{Group: "Waiting", Name: "Mean wait", About: "from submission to start", Unit: Seconds, Better: Lower, Values: []float64{0, 27.5}},
			{Group: "Machine", Name: "Utilisation", Unit: Share, Better: Higher, Values: []float64{0.5, math.NaN()}},
		},
		Notes: []Note{{"Left out", "nothing"}},
	}
}

func written(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestNamesAreEscaped(t *testing.T) {
	const hostile = `"></script><script>alert(1)</script>&'` + "`\u2028\x00"
	r := two()
	r.Title, r.Note, r.Workload.Name = hostile, hostile, hostile
	for i := range r.Replays {
		r.Replays[i].Result.Policy = hostile
	}
	for i := range r.Table {
		r.Table[i].Name, r.Table[i].About, r.Table[i].Group = hostile, hostile, hostile
	}
	r.Notes = []Note{{hostile, hostile}}
	plain, page := written(t, two()), written(t, r)
	if strings.Contains(page, "<script>alert") || strings.Count(page, "<script") != strings.Count(plain, "<script") {
		t.Error("a name became a script")
	}
}

func TestPageHasNoExternalReferences(t *testing.T) {
	page := written(t, two())
	for _, word := range []string{"https:", "src=", "@import", "url(", "<link", "fetch(", "XMLHttpRequest"} {
		if strings.Contains(page, word) {
			t.Errorf("the page contains %q", word)
		}
	}
}

func TestInvalidReportIsRefused(t *testing.T) {
	for want, spoil := range map[string]func(*Report){
		"at least one replay":                func(r *Report) { r.Replays = nil },
		"a machine of 0 nodes":               func(r *Report) { r.Workload.Machine.Nodes = 0 },
		`replay 2, "2X+c": 1 outcomes for 2`: func(r *Report) { r.Replays[1].Result.Outcomes = r.Replays[1].Result.Outcomes[:1] },
		"held nodes of 1 jobs":               func(r *Report) { r.Replays[0].Held = r.Replays[0].Held[:1] },
		"job 8 begins at second 5 and ends":  func(r *Report) { r.Replays[0].Result.Outcomes[1].End = 4 },
		`row "Mean wait" has 1 values`:       func(r *Report) { r.Table[0].Values = r.Table[0].Values[:1] },
		"never began":                        func(r *Report) { r.Replays[0].Result.Outcomes[1].Start = -1 },
		"out of order":                       func(r *Report) { r.Replays[0].Held[1][1].From = 10 },
		"nodes 0 to 0 from second 0 are no": func(r *Report) {
			r.Replays[0].Held[0][0].Nodes = []replay.Span{{First: 2, Last: 2}, {First: 0, Last: 0}}
		},
		"no ascending span of 4": func(r *Report) { r.Replays[0].Held[0][0].Nodes[0].Last = 4 },
	} {
		r := two()
		spoil(r)
		var b strings.Builder
		err := r.Write(&b)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that says %q", err, want)
		}
		if b.Len() > 0 {
			t.Errorf("%q: a partial page was written", want)
		}
	}
}

// named returns the first replay of two as if it had really run, with names of nodes. The second job's growth was promised for second 43 and
// happened at 45; another promised growth never happened.
func named() *Report {
	r := two()
	came := []float64{5, 45}
	r.Replays, r.Table = r.Replays[:1], r.Table[1:]
	r.Table[0].Values = r.Table[0].Values[:1]
	r.Workload.Jobs[0].User, r.Workload.Jobs[1].User = 0, 1
	r.Real = &Real{Nodes: []string{"au-1", "au-2", "au-3", "fe"}, Users: []string{"ada", "bob"}, Jobs: []About{
		{Name: "post", Outcome: "TIMEOUT"},
		{Name: "<b>mesh", Request: "ep=1x40s,3x40s", Outcome: "COMPLETED", Promises: []Promise{
			{At: 5, Came: &came[0], Row: 1, From: 0, To: 1}, {At: 43, Came: &came[1], Row: 0, From: 1, To: 3}, {At: 90, From: 3, To: 4},
		}},
	}}
	return r
}
