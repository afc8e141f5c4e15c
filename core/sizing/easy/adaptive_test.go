package easy_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/core/sizing/easy"
)

// policies lists all policies that the second implementation supports.
func policies() map[string]sched.Policy {
	blind := sizing.Scojo()
	blind.Blind, blind.Beyond = true, true
	work, class := easy.Order{By: easy.Work}, easy.Order{By: easy.Class}
	again := easy.Order{By: easy.Class, Aging: easy.Again}
	own, unbounded := blind, blind
	own.Reading.Own, unbounded.Reading.Unbounded = true, true
	return map[string]sched.Policy{
		"easy+share":             easy.EASY{Sizing: sizing.Share{}},
		"easy+least":             easy.EASY{Sizing: sizing.Least{}},
		"easy+reference":         easy.EASY{Sizing: sizing.Reference{}},
		"easy+earliest":          easy.EASY{Sizing: sizing.Earliest{}},
		"easy+load":              easy.EASY{Sizing: sizing.Scojo()},
		"share":                  easy.EASY{Sizing: sizing.Share{}, Order: work},
		"share:100s":             easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work, Patience: 100}},
		"share, aged to the top": easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work, Aging: easy.ToTop}},
		"scojo-p:nonpredictive":  easy.EASY{Sizing: blind, Floor: sizing.AsListed, Order: class, Remembers: true},
		"traditional":            easy.Traditional{Order: class},
		"traditional:top":        easy.Traditional{Order: easy.Order{By: easy.Class, Aging: easy.ToTop}},
		"share, aged again":      easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work, Aging: easy.Again}},
		"scojo-p, rounded down":  easy.EASY{Sizing: blind, Floor: sizing.AsListed, Order: class, Remembers: true, Rounding: sizing.Down},
		"scojo-p, rounded up":    easy.EASY{Sizing: blind, Floor: sizing.AsListed, Order: again, Rounding: sizing.Up},
		"scojo-p, own factors":   easy.EASY{Sizing: own, Floor: sizing.AsListed, Order: class, Remembers: true},
		"scojo-p, unbounded":     easy.EASY{Sizing: unbounded, Floor: sizing.AsListed, Order: class},
		"traditional, again":     easy.Traditional{Order: again},
		"cirne-berman, again":    easy.CirneBerman{Order: again},
		"traditional, ageless":   easy.Traditional{Order: easy.Order{By: easy.Class, Aging: easy.Ageless}},
		"cirne-berman":           easy.CirneBerman{Order: class},
		"cirne-berman:top":       easy.CirneBerman{Order: easy.Order{By: easy.Class, Aging: easy.ToTop}},
		"cirne-berman:opt":       easy.CirneBerman{Order: class, Top: easy.ToReference},
	}
}

// drawDuration draws durations of short, medium and long jobs.
func drawDuration(t *rapid.T) core.Time {
	return rapid.SampledFrom([]core.Time{3, 10, 7, 65, 20, 59, 60, 100, 3700, 1, 300}).Draw(t, "duration")
}

// drawJob draws a job: rigid, on sizes of a curve, on arbitrary sizes, or of two steps.
func drawJob(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
	j := core.Job{ID: id, Submit: now}
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0, 1, 2:
		n, d := rapid.IntRange(1, nodes).Draw(t, "reference"), drawDuration(t)
		for k := (n + 1) / 2; k <= min(2*n, nodes+1); k++ {
			speed := .5*float64(k)/float64(n) + .15
			if k > n {
				speed = .15*float64(k)/float64(n) + .5
			}
			j.Choices = append(j.Choices, core.EP{{Duration: core.Time(float64(d)*.65/speed + 1), Nodes: k}})
		}
	case 3:
		for range rapid.IntRange(1, 5).Draw(t, "sizes") {
			j.Choices = append(j.Choices, core.EP{{Duration: drawDuration(t), Nodes: rapid.IntRange(1, nodes+2).Draw(t, "nodes")}})
		}
	case 4:
		j.Choices = []core.EP{{{Duration: drawDuration(t), Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes")}, {Duration: drawDuration(t), Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes")}}}
	default:
		j.Choices = []core.EP{{{Duration: drawDuration(t), Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes")}}}
	}
	if rapid.IntRange(0, 9).Draw(t, "begins later") == 9 {
		j.Begin = now + drawDuration(t)
	}
	return j
}

// story is a random history of a machine. It passes each event to a state and to the second implementation, then
// compares their answers.
type story struct {
	state sched.State
	twin  *plain
	now   core.Time
	nodes int
	next  core.JobID
	runs  []core.JobID
}

func (s *story) ask(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "looks") == 0 {
		want, got := s.twin.plan(s.now), s.state.Plan(s.now).Jobs
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("second %d: the plan (-words +code):\n%s", s.now, d)
		}
		s.explain(t, got)
	}
	if rapid.IntRange(0, 9).Draw(t, "clone") == 0 {
		s.state = s.state.Clone()
	}
	var got []core.Start
	for _, start := range s.state.Starts(s.now, nil) {
		if start.Begins {
			got = append(got, start)
			s.runs = append(s.runs, start.Job)
		}
	}
	if d := cmp.Diff(s.twin.starts(s.now), got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("second %d: what starts (-words +code):\n%s", s.now, d)
	}
}

// explain checks that the planned size of each job is within the range that Explain gives.
func (s *story) explain(t *rapid.T, planned []core.Planned) {
	p, sizes := s.twin.policy.(easy.EASY)
	told := map[core.JobID]bool{}
	s.state.(sched.Explainer).Explain(s.now, func(g sched.SizeBasis) {
		i := slices.IndexFunc(planned, func(one core.Planned) bool { return one.Job == g.Job })
		if told[g.Job] || i < 0 {
			t.Fatalf("second %d: job %d is explained, told before: %t, planned: %t", s.now, g.Job, told[g.Job], i >= 0)
		}
		told[g.Job] = true
		if !sizes || p.Remembers || p.Rounding != sizing.HalfUp || g.Sizes.Several {
			return
		}
		lo, hi, ok := g.Sizes.Range(p.Sizing.Factor(g.World, g.HeadSizes), s.twin.nodes)
		if n := planned[i].EP[0].Nodes; !ok || n < g.Sizes.Steps[lo].Nodes || n > g.Sizes.Steps[hi].Nodes {
			t.Fatalf("second %d: job %d is planned on %d nodes, and may have %d to %d by the factor of job %d", s.now, g.Job, n, g.Sizes.Steps[lo].Nodes, g.Sizes.Steps[hi].Nodes, g.Head)
		}
	})
	for _, one := range planned {
		if !told[one.Job] {
			t.Fatalf("second %d: job %d is planned and not explained", s.now, one.Job)
		}
	}
}

func (s *story) end(id core.JobID) {
	s.state.End(s.now, id)
	s.twin.end(s.now, id)
}

// play draws the history.
func (s *story) play(t *rapid.T) {
	for range rapid.IntRange(1, 25).Draw(t, "events") {
		switch rapid.IntRange(0, 11).Draw(t, "event") {
		case 0, 1, 2, 3, 4:
			s.next++
			j := drawJob(t, s.next, s.now, s.nodes)
			s.state.Submit(s.now, j)
			s.twin.submit(s.now, j)
		case 5, 6, 7:
			if len(s.runs) > 0 {
				i := rapid.IntRange(0, len(s.runs)-1).Draw(t, "ends")
				s.end(s.runs[i])
				s.runs = append(s.runs[:i:i], s.runs[i+1:]...)
			}
		case 8:
			if next := s.state.Next(s.now); next < core.Forever {
				s.now = next
			}
		case 9:
			s.twin.resize(rapid.IntRange(max(1, s.nodes-3), s.nodes).Draw(t, "nodes left"))
			s.state.Nodes(s.now, core.Machine{Nodes: s.twin.nodes})
		case 10:
			s.foreign(t)
		case 11:
			s.now = max(0, s.now+rapid.SampledFrom([]core.Time{400, -30, 20_000}).Draw(t, "clock"))
		}
		s.ask(t)
		s.now += rapid.SampledFrom([]core.Time{0, 1, 5, 40, 1000}).Draw(t, "passes")
	}
}

// foreign adds, by Running, a job that runs already, a job that begins later, or a job whose size changes.
func (s *story) foreign(t *rapid.T) {
	a := core.Allocation{Job: -1 - s.next, Start: s.now, EP: core.EP{{Duration: drawDuration(t), Nodes: 1}}}
	switch rapid.IntRange(0, 2).Draw(t, "which") {
	case 1:
		a.Job, a.Start = -100-s.next, s.now+drawDuration(t)
	case 2:
		a.EP = append(a.EP, core.Step{Duration: drawDuration(t), Nodes: 2})
	}
	s.next++
	s.state.Running(s.now, a)
	s.twin.tell(s.now, a)
	s.runs = append(s.runs, a.Job)
}

// histories sets the number of random cases of each policy, unless the command line does.
func histories(t *testing.T) {
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if before != "1000" {
		return
	}
	number := "100"
	if *long {
		number = "10000"
	}
	if err := f.Value.Set(number); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}

func TestEveryPolicyMatchesItsSecondImplementation(t *testing.T) {
	histories(t)
	for name, policy := range policies() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				nodes := rapid.SampledFrom([]int{8, 5, 12, 3, 1}).Draw(t, "machine")
				s := story{state: policy.New(core.Machine{Nodes: nodes}), twin: newPlain(policy, nodes), nodes: nodes}
				s.play(t)
			})
		})
	}
}

// One node is taken until second 100,000. Job 1 lasts 4,000 s and is submitted at second 0. Before each check a short
// job, 2, and a medium job, 3, are submitted. The test compares the order in which they are planned.
func TestAJobThatWaitsLeavesItsClassAsOftenAsItsAgingSays(t *testing.T) {
	for _, c := range []struct {
		by     easy.By
		aging  easy.Aging
		second core.Time
		want   []core.JobID
	}{
		{easy.Class, easy.Again, 19_999, []core.JobID{2, 3, 1}},
		{easy.Class, easy.Again, 20_000, []core.JobID{2, 1, 3}},
		{easy.Class, easy.Again, 39_999, []core.JobID{2, 1, 3}},
		{easy.Class, easy.Again, 40_000, []core.JobID{1, 2, 3}},
		{easy.Work, easy.Again, 39_999, []core.JobID{2, 1, 3}},
		{easy.Work, easy.Again, 40_000, []core.JobID{1, 2, 3}},
		{easy.Class, easy.OneUp, 40_000, []core.JobID{2, 1, 3}},
		{easy.Class, easy.ToTop, 19_999, []core.JobID{2, 3, 1}},
		{easy.Class, easy.ToTop, 20_000, []core.JobID{1, 2, 3}},
		{easy.Class, easy.Ageless, 40_000, []core.JobID{2, 3, 1}},
	} {
		s := easy.Traditional{Order: easy.Order{By: c.by, Aging: c.aging}}.New(core.Machine{Nodes: 1})
		s.Running(0, core.Allocation{Job: 9, EP: core.EP{{Duration: 100_000, Nodes: 1}}})
		for i, seconds := range []core.Time{4000, 10, 1000} {
			at := min(core.Time(i)*c.second, c.second)
			s.Submit(at, core.Job{ID: core.JobID(i + 1), Submit: at, Choices: []core.EP{{{Duration: seconds, Nodes: 1}}}})
			s.Starts(at, nil)
		}
		var got []core.JobID
		for _, p := range s.Plan(c.second).Jobs {
			got = append(got, p.Job)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("by %d, aging %d, second %d: %v, want %v", c.by, c.aging, c.second, got, c.want)
		}
	}
}
