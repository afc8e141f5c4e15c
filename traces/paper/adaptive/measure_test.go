package adaptive

import (
	"math"
	"testing"

	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// The workload has a hundred jobs on four nodes, one per hour, which can have 1, 2 or 4 nodes. Jobs 6 to 95 count.
func TestMeansAreOverJobsFrom5To95Percent(t *testing.T) {
	const hour = 3600
	w := workload.Workload{Machine: core.Machine{Nodes: 4}}
	var outcomes []replay.Outcome
	for i := range core.Time(100) {
		j := workload.Job{Number: i, Submit: i * hour, Run: 1200, Request: 1200, Size: 2}
		j.Choices = []core.EP{{{Duration: 2100, Nodes: 1}}, {{Duration: 1200, Nodes: 2}}, {{Duration: 1000, Nodes: 4}}}
		j.Runs = []core.Time{2100, 1200, 1000}
		o := replay.Outcome{Start: j.Submit + 600, Choice: int(i % 3)}
		if i < 5 || i >= 95 { // these do not count
			o.Start = j.Submit + 40_000
		}
		o.End = o.Start + j.Runs[o.Choice]
		w.Jobs, outcomes = append(w.Jobs, j), append(outcomes, o)
	}
	r := measure(w, references(w), outcomes)
	third := func(a, b, c float64) float64 { return (a + b + c) / 3 }
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"jobs", r.of[all].jobs, 90},
		{"medium jobs", r.of[medium].jobs, 90},
		{"short jobs", r.of[short].jobs, 0},
		{"wait", r.of[all].wait, 600. / hour},
		{"response", r.of[all].response, third(2700, 1800, 1600) / hour},
		{"slowdown", r.of[medium].slowdown, third(2700, 1800, 1600) / 1200},
		{"nodes of the reference", r.of[all].nodes, 2},
		{"factor", r.of[all].factor, third(.5, 1, 2)},
		{"factor to the workload's size", r.of[all].submitted, third(.5, 1, 2)},
		{"least factor", r.of[all].least, .5},
		{"shrunk", r.of[all].shrunk, 30},
		{"grown", r.of[medium].grown, 30},
		{"up to 2154 s", r.of[all].histogram[10], 60},
		{"up to 4642 s", r.of[all].histogram[11], 30},
		{"longest wait", r.longest, 40_000. / hour},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// Held nodes are counted second by second.
func TestUtilizationIsOverTheKeptPeriod(t *testing.T) {
	w := workload.Workload{Machine: core.Machine{Nodes: 3}}
	var outcomes []replay.Outcome
	for i := range core.Time(40) {
		w.Jobs = append(w.Jobs, workload.Job{Submit: 10 * i, Run: 25, Request: 25, Size: 1})
		outcomes = append(outcomes, replay.Outcome{Start: 10*i + 3, End: 10*i + 28})
	}
	from, to := w.Jobs[2].Submit, w.Jobs[37].Submit
	held := 0
	for second := from; second < to; second++ {
		for _, o := range outcomes {
			if o.Start <= second && second < o.End {
				held++
			}
		}
	}
	want := 100 * float64(held) / float64(3*(to-from))
	if got := measure(w, references(w), outcomes).utilisation; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v %%, counted %v", got, want)
	}
}

func TestCategoryOfAResponse(t *testing.T) {
	for seconds, want := range map[core.Time]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 10: 3, 11: 4, 21: 4, 22: 5, 100: 6, 1000: 9, 1001: 10, 1_000_000: 18, 5_000_000: 18} {
		if got := category(seconds); got != want {
			t.Errorf("%d s are in category %d, want %d", seconds, got, want)
		}
	}
}
