package replay

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/traces/workload"
)

// near reports whether two figures are equal except for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

// The expected metrics of two jobs on four nodes are computed by hand. The second one is evolving, and waits 90
// s for the first one.
func TestMetricsOfTwoJobs(t *testing.T) {
	w := workload.Workload{Name: "two", Machine: core.Machine{Nodes: 4}, Jobs: []workload.Job{
		{Number: 1, Submit: 100, Run: 100, Request: 120, Size: 4, Cut: true},
		{Number: 2, Submit: 110, Run: 40, Request: 40, Size: 3, Choices: []core.EP{{{Duration: 10, Nodes: 1}, {Duration: 30, Nodes: 3}}}},
		{Number: 3, Submit: 111, Run: 1, Request: 1, Size: 1},
	}}
	m := Measure(w, Result{Policy: "p", Outcomes: []Outcome{
		{Start: 100, End: 200},
		{Start: 200, End: 260, Held: core.EP{{Duration: 30, Nodes: 1}, {Duration: 30, Nodes: 3}}}, // the first step waits 20 s
		{Start: -1},
	}})
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"jobs", float64(m.Jobs), 3},
		{"evolving", float64(m.Evolving), 1},
		{"cut", float64(m.Cut), 1},
		{"never began", float64(m.NeverBegan), 1},
		{"makespan", float64(m.Makespan), 160},
		{"held", m.HeldArea, 400 + 30 + 90},
		{"worked", m.WorkedArea, 400 + 10 + 90},
		{"utilisation", m.Utilisation, 100 * 520.0 / 640},
		{"effective utilisation", m.EffectiveUtilisation, 100 * 500.0 / 640},
		{"waste", m.Waste, 4},
		{"mean wait", m.Waiting.Mean, 45},
		{"longest wait", m.Waiting.Max, 90},
		{"mean turnaround", m.Turnaround.Mean, 125},
		{"mean bounded slowdown", m.Slowdown.Mean, (1 + 2.5) / 2},
		{"jobs of 2-8 nodes", float64(m.BySize[1].Jobs), 2},
		{"mean wait of up to a minute", m.ByLength[0].Waiting.Mean, 90},
		{"weeks", float64(len(m.Weeks)), 1},
		{"busy in the week", m.Weeks[0].Busy, 100 * 520.0 / 640},
		{"queue in the week", m.Weeks[0].Queue, 90.0 / 160},
		{"submitted in the week", float64(m.Weeks[0].Submitted), 2},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
}

// An evolving job that is run as a rigid job holds its peak throughout, but needs the same area for its work.
func TestRigidRunOfEvolvingJobWastesTheAreaAboveItsProfile(t *testing.T) {
	w := workload.Workload{Machine: core.Machine{Nodes: 4}, Jobs: []workload.Job{
		{Number: 1, Run: 25, Request: 40, Size: 4, Choices: []core.EP{{{Duration: 10, Nodes: 1}, {Duration: 30, Nodes: 4}}}},
	}}
	m := Measure(w, Result{Outcomes: []Outcome{{Start: 0, End: 25, Choice: AsRequested}}})
	if m.HeldArea != 100 || m.WorkedArea != 10+60 {
		t.Errorf("held %v and worked %v, want 100 and 70", m.HeldArea, m.WorkedArea)
	}
}

// Two moldable jobs and a rigid job run on eight nodes. The first moldable job runs on half the log's size with less overhead, the second one
// on twice the log's size with more overhead.
func TestMoldableJobsAreJudgedByTheLogsSize(t *testing.T) {
	sizes := []core.EP{{{Duration: 170, Nodes: 2}}, {{Duration: 100, Nodes: 4}}, {{Duration: 90, Nodes: 8}}}
	job := workload.Job{Run: 100, Request: 100, Size: 4, Choices: sizes, Runs: []core.Time{170, 100, 90}}
	w := workload.Workload{Machine: core.Machine{Nodes: 8}, Jobs: []workload.Job{job, job, {Run: 10, Request: 10, Size: 1}}}
	m := Measure(w, Result{Outcomes: []Outcome{{Start: 0, End: 170, Choice: 0}, {Start: 170, End: 260, Choice: 2}, {Start: 0, End: 10}}})
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"held", m.HeldArea, 340 + 720 + 10},
		{"worked", m.WorkedArea, 400 + 400 + 10},
		{"waste", m.Waste, 100 * (1070.0 - 810) / 810},
		{"utilisation", m.Utilisation, 100 * 1070.0 / (8 * 260)},
		{"effective utilisation", m.EffectiveUtilisation, 100 * 810.0 / (8 * 260)},
		{"mean bounded slowdown", m.Slowdown.Mean, (1.7 + 2.6 + 1) / 3},
		{"turnaround of moldable jobs", m.MoldableTurnaround, (170 + 260.0) / 2},
		{"turnaround of others", m.OtherTurnaround, 10},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestSlowdownIsBounded(t *testing.T) {
	moldable := []core.EP{{{Duration: 900, Nodes: 1}}, {{Duration: 500, Nodes: 2}}}
	for _, c := range []struct {
		submit, start, end core.Time
		choices            []core.EP
		want               float64
	}{
		{0, 0, 1, nil, 1},  // never below 1
		{0, 9, 10, nil, 1}, // a run of 1 s counts as 10
		{0, 99, 100, nil, 10},
		{0, 100, 200, nil, 2},
		{50, 100, 110, nil, 6},
		{0, 400, 1200, moldable, 3}, // ran 400 s in the log
		{0, 400, 600, moldable, 1.5},
	} {
		j := workload.Job{Submit: c.submit, Run: 400, Size: 2, Choices: c.choices}
		if got := (&Outcome{Start: c.start, End: c.end}).Slowdown(&j); got != c.want {
			t.Errorf("submitted %d, from %d to %d of %v: %v, want %v", c.submit, c.start, c.end, c.choices, got, c.want)
		}
	}
}

func TestPercentileIsTheSmallestValueThatCoversItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1000), 1, 300).Draw(t, "values")
		sample := slices.Clone(values)
		d := distribution(sample)
		for percent, got := range map[int]float64{25: d.P25, 50: d.Median, 75: d.P75, 90: d.P90, 95: d.P95, 99: d.P99, 100: d.Max} {
			below, upTo := 0, 0
			for _, v := range values {
				if v < got {
					below++
				}
				if v <= got {
					upTo++
				}
			}
			if 100*upTo < percent*len(values) || 100*below >= percent*len(values) {
				t.Fatalf("%d %%: %v has %d of %d values up to it and %d below", percent, got, upTo, len(values), below)
			}
		}
	})
}

func TestMeanLosesNoDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Custom(func(t *rapid.T) float64 {
			return rapid.Float64Range(0, 1).Draw(t, "v") * math.Pow(10, float64(rapid.IntRange(-5, 12).Draw(t, "size")))
		})).Draw(t, "values")
		exact := new(big.Float).SetPrec(2000)
		for _, v := range values {
			exact.Add(exact, new(big.Float).SetFloat64(v))
		}
		want, _ := exact.Float64()
		if got := sum(values); math.Abs(got-want) > 1e-15*want {
			t.Fatalf("the sum is %v, want %v", got, want)
		}
	})
}

// The weekly series is compared with a count of every second.
func TestWeeksEqualACountOfEverySecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, r := drawReplay(t)
		if len(w.Jobs) == 0 {
			return
		}
		// The seconds of the drawn replay become days, so that it lasts many weeks.
		const day = 24 * 60 * 60
		for i := range w.Jobs {
			o := &r.Outcomes[i]
			w.Jobs[i].Submit = o.Start * day / 2
			o.Start, o.End = o.Start*day, o.End*day
			w.Jobs[i].Run *= day
			for k := range o.Held {
				o.Held[k].Duration *= day
			}
		}
		slices.SortFunc(w.Jobs, func(a, b workload.Job) int { return int(a.Submit - b.Submit) })
		slices.SortFunc(r.Outcomes, func(a, b Outcome) int { return int(a.Start - b.Start) })
		for i := range w.Jobs { // all jobs without a profile get the same size, because sorting has separated sizes from outcomes
			if w.Jobs[i].Choices = nil; r.Outcomes[i].Held != nil {
				w.Jobs[i].Choices = []core.EP{r.Outcomes[i].Held}
			}
		}
		m := Measure(w, r)
		held := make([]float64, len(m.Weeks))
		queue := make([]float64, len(m.Weeks))
		for at := m.FirstSubmit; at < m.LastEnd; at += day / 2 {
			k := (at - m.FirstSubmit) / week
			for i, o := range r.Outcomes {
				if w.Jobs[i].Submit <= at && at < o.Start {
					queue[k] += day / 2
				}
				if o.Start <= at && at < o.End {
					size := w.Jobs[i].Size
					if o.Held != nil {
						size = o.Held.At(at - o.Start)
					}
					held[k] += float64(size) * day / 2
				}
			}
		}
		for k, got := range m.Weeks {
			length := float64(min(week, m.LastEnd-got.From))
			if !near(got.Held, held[k]) || !near(got.Queue, queue[k]/length) || !near(got.Busy, 100*held[k]/length/float64(m.Nodes)) {
				t.Fatalf("week %d holds %v, queues %v, is %v %% busy; counted %v, %v", k, got.Held, got.Queue, got.Busy, held[k], queue[k]/length)
			}
		}
	})
}

// Some figures are compared with the simplest computation.
func TestMetricsEqualAPlainCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, r := drawReplay(t)
		for i := range w.Jobs {
			w.Jobs[i].Submit = max(0, w.Jobs[i].Submit-rapid.Int64Range(0, 50).Draw(t, "wait"))
		}
		m := Measure(w, r)
		var wait, slow, held float64
		for i, o := range r.Outcomes {
			j := w.Jobs[i]
			wait += float64(o.Start - j.Submit)
			s := float64(o.Start - j.Submit + o.End - o.Start)
			if run := o.End - o.Start; run < 10 {
				s /= 10
			} else {
				s /= float64(run)
			}
			slow += math.Max(s, 1)
			for d := range o.End - o.Start {
				if o.Held != nil {
					held += float64(o.Held.At(d))
				} else {
					held += float64(j.Size)
				}
			}
		}
		n := math.Max(1, float64(len(w.Jobs)))
		if !near(m.Waiting.Mean, wait/n) || !near(m.Slowdown.Mean, slow/n) || !near(m.HeldArea, held) {
			t.Fatalf("wait %v, slowdown %v, held %v; counted %v, %v, %v", m.Waiting.Mean, m.Slowdown.Mean, m.HeldArea, wait/n, slow/n, held)
		}
		sizes, lengths := 0, 0
		for _, c := range m.BySize {
			sizes += c.Jobs
		}
		for _, c := range m.ByLength {
			lengths += c.Jobs
		}
		if sizes != len(w.Jobs) || lengths != len(w.Jobs) {
			t.Fatalf("%d jobs by size and %d by length, of %d", sizes, lengths, len(w.Jobs))
		}
	})
}

func TestMetricsOfNoJobs(t *testing.T) {
	m := Measure(workload.Workload{Machine: core.Machine{Nodes: 4}}, Result{})
	if m.Utilisation != 0 || m.Waste != 0 || m.Waiting != (Distribution{}) || len(m.Weeks) != 0 {
		t.Errorf("the metrics of no jobs are %+v", m)
	}
}

// A job of 300 years is an error in the log. It must not fill the memory with weeks.
func TestWeeklySeriesEndsAfterAHundredYears(t *testing.T) {
	w, r := hand(2, Outcome{Start: 0, End: workload.MaxTime, Choice: 1})
	if m := Measure(w, r); len(m.Weeks) != MaxWeeks || !near(m.Utilisation, 50) {
		t.Errorf("%d weeks, utilisation %v; want %d and 50", len(m.Weeks), m.Utilisation, MaxWeeks)
	}
}
