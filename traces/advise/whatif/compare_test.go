package whatif

import (
	"testing"

	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/workload"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Four jobs in two weeks, two of them with lines. The expected means are computed by hand.
func TestFiguresAreMeansOfTheGroups(t *testing.T) {
	was := []workload.Job{
		{Submit: 0, Run: 100, Request: 100, Size: 2}, {Submit: 50, Run: 200, Request: 200, Size: 1},
		{Submit: 3 * week, Run: 5, Request: 100, Size: 2}, {Submit: 3*week + 10, Run: 100, Request: 100, Size: 4}}
	with := append([]workload.Job(nil), was...)
	with[0].Choices, with[0].Runs = []core.EP{{{Duration: 60, Nodes: 1}, {Duration: 60, Nodes: 2}}}, []core.Time{110}
	before := []replay.Outcome{{Start: 100, End: 200}, {Start: 150, End: 350}, {Start: 3 * week, End: 3*week + 5}, {Start: -1}}
	after := []replay.Outcome{{Start: 40, End: 150, Held: core.EP{{Duration: 60, Nodes: 1}, {Duration: 50, Nodes: 2}}}, {Start: 250, End: 450}, {Start: 3*week + 20, End: 3*week + 25}, {Start: 3 * week, End: 4 * week}}
	r := Compare([]Case{{Policy: "easy", Jobs: was, Outcomes: before}, {Policy: "patient", Lines: true, Jobs: with, Outcomes: after}}, []bool{true, false, false, true}, Bootstrap{Seed: 1})
	if r.Weeks != 2 || r.NeverBegan != 1 || r.Carriers.Jobs != 1 || r.Others.Jobs != 2 {
		t.Fatalf("%+v", r)
	}
	type row struct{ wait, turnaround, slowdown, hours, waitBy, turnaroundBy, slowdownBy, hoursBy, hoursShare float64 }
	for _, c := range []struct {
		name string
		row  *Row
		want row
	}{
		{"who tells, as it was", &r.Carriers.Rows[0], row{100, 200, 2, 200. / 3600, 0, 0, 0, 0, 0}},
		{"who tells", &r.Carriers.Rows[1], row{40, 150, 1.5, 160. / 3600, -60, -50, -.5, -40. / 3600, -.2}},
		{"the others, as it was", &r.Others.Rows[0], row{50, 152.5, 1.25, 210. / 3600, 0, 0, 0, 0, 0}},
		{"the others", &r.Others.Rows[1], row{110, 212.5, (2 + 2.5) / 2, 210. / 3600, 60, 60, 1, 0, 0}},
	} {
		of := c.row.Of
		got := row{of[Wait].Value, of[Turnaround].Value, of[Slowdown].Value, of[NodeHours].Value, of[Wait].Now.By.Value, of[Turnaround].Now.By.Value, of[Slowdown].Now.By.Value,
			of[NodeHours].Now.By.Value, of[NodeHours].Now.Share.Value}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(row{}), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	want := []Loss{{Policy: "patient", Of: []Worse{{Wait, Estimate{Value: 60}}, {Turnaround, Estimate{Value: 60}}, {Slowdown, Estimate{Value: 1}}}}}
	if diff := cmp.Diff(want, r.Others.Losses(), cmpopts.EquateApprox(0, 1e-9), cmpopts.IgnoreFields(Estimate{}, "Low", "High", "Known"), cmpopts.IgnoreUnexported(Loss{})); diff != "" || len(r.Carriers.Losses()) != 0 {
		t.Errorf("who tells loses %+v, others (-want +got):\n%s", r.Carriers.Losses(), diff)
	}
}

func TestSmallChangesAreNoLosses(t *testing.T) {
	figure := func(was, by, low float64) Figure {
		return Figure{Value: was + by, Now: Change{By: Estimate{Value: by, Low: low, High: 2 * by, Known: true}}}
	}
	for _, c := range []struct {
		name           string
		wait, slowdown Figure
		loses, sure    bool
	}{
		{"for certain", figure(1000, 60, 20), figure(4, 0, 0), true, true},
		{"perhaps", figure(1000, 60, -20), figure(4, 0, 0), true, false},
		{"in slowdown", figure(1000, -60, -80), figure(4, .1, .01), true, true},
		{"less than half a per cent", figure(1000, 4, 1), figure(4, .015, .01), false, false},
		{"less than a second", figure(1, .9, .5), figure(1, .009, .001), false, false},
		{"it gains", figure(1000, -60, -80), figure(4, -1, -2), false, false},
	} {
		g := Group{Rows: []Row{{Policy: "easy", Of: [Kinds]Figure{Wait: figure(1000, 99, 9)}}, {Policy: "patient", Lines: true, Of: [Kinds]Figure{Wait: c.wait, Slowdown: c.slowdown}}}}
		got := g.Losses()
		if (len(got) == 1) != c.loses || c.loses && got[0].Sure() != c.sure {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// A policy may shorten the waits of other jobs by more than the lines lengthen them. Then these jobs lose nothing compared with the site as
// it was.
func TestSmallerGainIsNoLossAgainstTheSiteAsItWas(t *testing.T) {
	change := func(by float64) Change {
		return Change{By: Estimate{Value: by, Low: by - 1, High: by + 1, Known: true}}
	}
	figure := func(value, now, alone float64) Figure {
		lines := change(alone)
		return Figure{Value: value, Now: change(now), Alone: &lines}
	}
	for _, c := range []struct {
		name             string
		wait, turnaround Figure
		losses           int
		betterOff        bool
		gains            int
	}{
		{"a smaller gain", figure(1000, -600, 60), figure(2000, -600, 60), 1, true, 2},
		{"the whole gain", figure(1000, 0, 60), figure(2000, 0, 60), 1, true, 0},
		{"a smaller gain of one, a loss of the other", figure(1000, -600, 60), figure(2000, 300, 60), 2, false, 1},
	} {
		g := Group{Rows: []Row{{Policy: "easy"}, {Policy: "patient", Lines: true, Of: [Kinds]Figure{Wait: c.wait, Turnaround: c.turnaround}}}}
		all := g.Losses()
		if len(all) != c.losses {
			t.Errorf("%s is %+v", c.name, all)
			continue
		}
		if last := all[c.losses-1]; !last.Without || last.BetterOff() != c.betterOff || len(last.Gains) != c.gains {
			t.Errorf("%s is %+v, better off %v", c.name, last, last.BetterOff())
		}
	}
}
