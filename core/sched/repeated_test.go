package sched_test

import (
	"fmt"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// Generators of small cases: a few nodes and steps of a few seconds.

func drawEP(t *rapid.T, steps, nodes int) core.EP {
	ep := make(core.EP, rapid.IntRange(1, steps).Draw(t, "steps"))
	for i := range ep {
		ep[i] = core.Step{Duration: rapid.Int64Range(1, 5).Draw(t, "duration"), Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes")}
	}
	return ep
}

func drawPolicy(t *rapid.T) sched.Repeated {
	return sched.Repeated{
		Limit:   rapid.SampledFrom([]ep.Limit{0, ep.NoExpansion, 1_500_000, ep.Twice, ep.Unlimited}).Draw(t, "limit"),
		Compact: rapid.Bool().Draw(t, "compact"), LeastWaste: rapid.Bool().Draw(t, "least waste"),
	}
}

// drawJob draws a rigid, a moldable or an evolving job. Some exceed the machine.
func drawJob(t *rapid.T, id core.JobID, nodes int) core.Job {
	j := core.Job{ID: id, Begin: max(0, rapid.Int64Range(-10, 20).Draw(t, "begin"))}
	steps := rapid.SampledFrom([]int{1, 4}).Draw(t, "most steps")
	for range rapid.SampledFrom([]int{1, 1, 3}).Draw(t, "choices") {
		j.Choices = append(j.Choices, drawEP(t, steps, nodes+1))
	}
	return j
}

// drawRunning draws running jobs and future reservations. Together they may exceed the machine.
func drawRunning(t *rapid.T, now core.Time, nodes int) []core.Allocation {
	all := make([]core.Allocation, rapid.IntRange(0, 3).Draw(t, "running"))
	for i := range all {
		all[i] = core.Allocation{
			Job:   core.JobID(-1 - i),
			Start: now + rapid.Int64Range(-9, 9).Draw(t, "start"),
			EP:    drawEP(t, 3, nodes),
		}
	}
	return all
}

func drawJobs(t *rapid.T, nodes int) []core.Job {
	jobs := make([]core.Job, rapid.IntRange(0, 6).Draw(t, "jobs"))
	for i := range jobs {
		jobs[i] = drawJob(t, core.JobID(i+1), nodes)
	}
	return jobs
}

func load(s sched.State, now core.Time, running []core.Allocation, jobs []core.Job) sched.State {
	for _, a := range running {
		s.Running(now, a)
	}
	for _, j := range jobs {
		s.Submit(now, j)
	}
	return s
}

func TestEveryPlanIsThatOfArraysOfSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const now = 12
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		policy := drawPolicy(t)
		policy.Order = drawOrder(t)
		running, jobs := drawRunning(t, now, nodes), drawJobs(t, nodes)

		s := load(policy.New(core.Machine{Nodes: nodes}), now, running, jobs[:len(jobs)/2])
		s.Plan(now) // a later job may rank before one that has a place
		got := load(s, now, nil, jobs[len(jobs)/2:]).Plan(now)
		if d := cmp.Diff(newDumb(nodes, running...).plan(policy, now, jobs), got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("(-seconds +plan)\n%s", d)
		}
	})
}

func TestNothingSubmittedLaterDelaysOrExpandsAPlannedJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const now = 12
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		s := load(drawPolicy(t).New(core.Machine{Nodes: nodes}), now, drawRunning(t, now, nodes), drawJobs(t, nodes))
		before := s.Plan(now)
		s.Submit(now, drawJob(t, 99, nodes))
		after := s.Plan(now)
		if d := cmp.Diff(before.Jobs, after.Jobs[:len(before.Jobs)], cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

// world is a machine that carries out what a state decides, second by second. Jobs end as promised or before.
type world struct {
	nodes  int
	policy sched.Repeated
	state  sched.State
	queued []core.Job
	runs   map[core.JobID]core.Allocation // as planned at its start
	size   map[core.JobID]int             // as reported by Starts
}

func (w *world) end(now core.Time, id core.JobID) {
	w.state.End(now, id)
	delete(w.runs, id)
	delete(w.size, id)
}

// carryOut starts and resizes jobs. After each action it checks that the machine is not exceeded.
func (w *world) carryOut(t *rapid.T, now core.Time) {
	plan := map[core.JobID]core.Planned{}
	for _, p := range w.state.Clone().Plan(now).Jobs {
		plan[p.Job] = p
	}
	for _, s := range w.state.Starts(now, nil) {
		if s.Begins {
			p, planned := plan[s.Job]
			if !planned || p.Start != now || p.Choice != s.Choice {
				t.Fatalf("second %d: job %d begins, planned %+v", now, s.Job, p)
			}
			w.runs[s.Job] = p.Allocation
			for i, j := range w.queued {
				if j.ID == s.Job {
					w.queued = append(w.queued[:i:i], w.queued[i+1:]...)
					break
				}
			}
		}
		w.size[s.Job] = s.Nodes
		sum := 0
		for _, n := range w.size {
			sum += n
		}
		if sum > w.nodes {
			t.Fatalf("second %d: %d nodes of %d in use after %+v", now, sum, w.nodes, s)
		}
	}
	for id, a := range w.runs {
		if want := a.EP.At(now - a.Start); w.size[id] != want {
			t.Fatalf("second %d: job %d has %d nodes, promised %d by %+v", now, id, w.size[id], want, a)
		}
	}
}

// fresh returns a new state to which all running and waiting jobs are added at this second.
func (w *world) fresh(now core.Time) sched.State {
	s := w.policy.New(core.Machine{Nodes: w.nodes})
	for _, a := range w.runs {
		s.Running(now, a)
	}
	return load(s, now, nil, w.queued)
}

func TestTheMachineIsNeverExceededAndEveryPromiseIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			nodes:  rapid.IntRange(1, 6).Draw(t, "machine"),
			policy: drawPolicy(t),
			runs:   map[core.JobID]core.Allocation{},
			size:   map[core.JobID]int{},
		}
		w.state = w.policy.New(core.Machine{Nodes: w.nodes})
		next := core.JobID(1)
		for now := range core.Time(25) {
			for id := core.JobID(1); id < next; id++ {
				if a, runs := w.runs[id]; runs && (a.End() <= now || rapid.IntRange(0, 15).Draw(t, "ends early") == 0) {
					w.end(now, id)
				}
			}
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0, 1:
				j := drawJob(t, next, w.nodes)
				w.state.Submit(now, j)
				w.queued = append(w.queued, j)
				next++
			case 2:
				if len(w.queued) > 0 {
					i := rapid.IntRange(0, len(w.queued)-1).Draw(t, "cancelled")
					w.end(now, w.queued[i].ID)
					w.queued = append(w.queued[:i:i], w.queued[i+1:]...)
				}
			}
			w.carryOut(t, now)
			// The state that was kept from earlier seconds makes the same plan as a restarted planner.
			if d := cmp.Diff(w.fresh(now).Plan(now), w.state.Plan(now), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("second %d: (-planned afresh +kept)\n%s", now, d)
			}
		}
	})
}

func TestACloneGoesItsOwnWay(t *testing.T) {
	s := load(sched.Repeated{}.New(core.Machine{Nodes: 4}), 0, nil, []core.Job{
		{ID: 1, Choices: []core.EP{epOf("4x10")}}, {ID: 2, Choices: []core.EP{epOf("4x10")}},
	})
	s.Starts(0, nil)
	before := s.Plan(5)
	c := s.Clone()
	c.End(5, 1)
	c.Submit(5, core.Job{ID: 3, Choices: []core.EP{epOf("1x1")}})
	if got := len(c.Starts(5, nil)); got != 1 {
		t.Errorf("the clone starts %d jobs, want job 2 alone", got)
	}
	if d := cmp.Diff(before, s.Plan(5), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("the original changed: %s", d)
	}
}

func TestUnusualInputDoesNoHarm(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		odd   func(sched.State)
		want  string // the plan at second 0 for job 7, which needs 2 nodes for 5 seconds
	}{
		{"nothing odd", 4, func(sched.State) {}, "0+5"},
		{"nodes were lost", 4, func(s sched.State) {
			s.Running(0, core.Allocation{Job: 1, Start: -2, EP: epOf("4x10")})
			s.Nodes(0, core.Machine{Nodes: 2})
		}, "8+5"},
		{"all nodes were lost", 4, func(s sched.State) { s.Nodes(0, core.Machine{}) }, "never"},
		{"a machine of less than nothing", -4, func(sched.State) {}, "never"},
		{"the machine is exceeded for ever", 4, func(s sched.State) {
			s.Running(0, core.Allocation{Job: 1, EP: core.EP{{Duration: core.Forever, Nodes: 9}}})
		}, "never"},
		{"a job without choices before it", 4, func(s sched.State) { s.Submit(0, core.Job{ID: 1}) }, "0+5"},
		{"an empty choice before it", 4, func(s sched.State) { s.Submit(0, core.Job{ID: 1, Choices: []core.EP{nil, {}}}) }, "0+5"},
		{"steps of no or negative size before it", 4, func(s sched.State) {
			s.Submit(0, core.Job{ID: 1, Choices: []core.EP{epOf("2x0"), epOf("-2x5"), epOf("2x-5 4x9")}})
		}, "0+5"},
		{"a job that exceeds the machine before it", 4, func(s sched.State) {
			s.Submit(0, core.Job{ID: 1, Choices: []core.EP{epOf("1x5 5x5"), epOf("5x1")}})
		}, "0+5"},
		{"jobs that begin at the end of time before it", 4, func(s sched.State) {
			s.Submit(0, core.Job{ID: 1, Begin: core.Forever, Choices: []core.EP{epOf("3x5"), epOf("3x5 4x5")}})
			s.Submit(0, core.Job{ID: 2, Choices: []core.EP{{{Duration: core.Forever, Nodes: 4}, {Duration: 1, Nodes: 3}}}})
		}, "0+5"},
		{"a job without a limit before it", 4, func(s sched.State) {
			s.Submit(0, core.Job{ID: 1, Choices: []core.EP{{{Duration: core.Forever, Nodes: 2}}}})
		}, "0+5"},
		{"an allocation that is over", 4, func(s sched.State) { s.Running(0, core.Allocation{Job: 1, Start: -9, EP: epOf("4x9")}) }, "0+5"},
		{"an allocation told twice", 4, func(s sched.State) {
			s.Running(0, core.Allocation{Job: 1, EP: epOf("4x9")})
			s.Running(0, core.Allocation{Job: 1, EP: epOf("4x3")})
		}, "3+5"},
		{"a waiting job that runs after all", 4, func(s sched.State) {
			s.Submit(0, core.Job{ID: 1, Choices: []core.EP{epOf("4x9")}})
			s.Running(0, core.Allocation{Job: 1, EP: epOf("4x2")})
		}, "2+5"},
		{"a reservation to come", 4, func(s sched.State) { s.Running(0, core.Allocation{Job: 1, Start: 4, EP: epOf("3x3")}) }, "7+5"},
		{"the end of nobody", 4, func(s sched.State) { s.End(0, 99) }, "0+5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sched.Repeated{Limit: ep.Twice}.New(core.Machine{Nodes: c.nodes})
			c.odd(s)
			s.Submit(0, core.Job{ID: 7, Choices: []core.EP{epOf("2x5")}})
			got := "never"
			for _, p := range s.Plan(0).Jobs {
				if p.Job == 7 {
					got = fmt.Sprintf("%d+%d", p.Start, p.EP.Total())
				}
			}
			if got != c.want {
				t.Errorf("planned %s, want %s", got, c.want)
			}
		})
	}
}

func TestStartsReportsShrinksThenGrowthsThenBeginnings(t *testing.T) {
	s := sched.Repeated{}.New(core.Machine{Nodes: 6})
	s.Running(0, core.Allocation{Job: 1, EP: epOf("2x10 3x10")})
	s.Running(0, core.Allocation{Job: 2, EP: epOf("4x10 1x10")})
	s.Running(0, core.Allocation{Job: 3, Start: 10, EP: epOf("1x10")}) // a reservation that the planner did not make
	s.Submit(0, core.Job{ID: 4, Choices: []core.EP{epOf("9x1"), epOf("1x5")}})
	if got := s.Starts(0, nil); got != nil {
		t.Errorf("at 0 nothing is due, got %+v", got)
	}
	want := []core.Start{{Job: 2, Nodes: 1}, {Job: 1, Nodes: 3}, {Job: 4, Choice: 1, Nodes: 1, Begins: true}}
	if d := cmp.Diff(want, s.Starts(10, nil), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if got := s.Starts(10, nil); got != nil {
		t.Errorf("asked again, it reports %+v", got)
	}
}

func TestAChangeThatWasMissedIsReportedLate(t *testing.T) {
	s := sched.Repeated{}.New(core.Machine{Nodes: 6})
	s.Running(0, core.Allocation{Job: 1, EP: epOf("2x10 3x10 5x10")})
	s.Submit(0, core.Job{ID: 2, Begin: 12, Choices: []core.EP{epOf("1x5")}})
	s.Plan(0)
	want := []core.Start{{Job: 1, Nodes: 3}, {Job: 2, Nodes: 1, Begins: true}}
	if d := cmp.Diff(want, s.Starts(15, nil), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

func TestAnEarlierSecondIsPlannedAnew(t *testing.T) {
	s := load(sched.Repeated{}.New(core.Machine{Nodes: 4}), 0, nil, []core.Job{{ID: 1, Choices: []core.EP{epOf("4x9")}}})
	for _, now := range []core.Time{20, 10} {
		if got := s.Plan(now).Jobs[0].Start; got != now {
			t.Errorf("at %d it would start at %d", now, got)
		}
	}
}

func TestPlannerAnswersAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wild := rapid.OneOf(rapid.Int64Range(-3, 30), rapid.Int64Range(-core.Forever, core.Forever), rapid.SampledFrom([]core.Time{core.Forever, -core.Forever}))
		number := rapid.OneOf(rapid.IntRange(-1<<40, 1<<40), rapid.IntRange(-2, 5))
		profile := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Step {
			return core.Step{Duration: wild.Draw(t, "duration"), Nodes: number.Draw(t, "nodes")}
		}), 0, 4)
		allocations := func(label string) []core.Allocation {
			all := make([]core.Allocation, rapid.IntRange(0, 3).Draw(t, label))
			for i := range all {
				all[i] = core.Allocation{Job: core.JobID(i), Start: wild.Draw(t, "start"), EP: profile.Draw(t, "ep")}
			}
			return all
		}
		m := core.Machine{Nodes: rapid.IntRange(-1, 9).Draw(t, "machine")}
		s := drawPolicy(t).New(m)
		for _, a := range allocations("running") {
			s.Running(wild.Draw(t, "now"), a)
		}
		for _, a := range allocations("waiting") {
			s.Submit(0, core.Job{ID: a.Job, Begin: a.Start, Choices: []core.EP{a.EP}})
		}
		now := wild.Draw(t, "then")
		for _, p := range s.Plan(now).Jobs {
			if p.Start < now || p.Start >= core.Forever || len(p.EP) == 0 {
				t.Fatalf("at %d: %+v", now, p)
			}
		}
		s.Starts(now, nil)
		s.End(now, 1)
		s.Plan(now)
		fixed := allocations("fixed")
		sched.Fits(m, fixed)
		var broken []sched.Remainder
		for _, a := range allocations("broken") {
			broken = append(broken, sched.Remainder{Job: a.Job, Nodes: number.Draw(t, "held"), Left: a.Start, Next: a.EP})
		}
		if got := sched.Refit(now, m, fixed, broken); len(got) != len(broken) {
			t.Fatalf("%d promises for %d remainders", len(got), len(broken))
		}
	})
}

func TestAPlanWithTheLeastWasteWaitsWithTheFewestNodes(t *testing.T) {
	requested := core.EP{{Duration: 60, Nodes: 3}, {Duration: 60, Nodes: 2}, {Duration: 120, Nodes: 1}, {Duration: 60, Nodes: 3}}
	for _, c := range []struct {
		policy sched.Repeated
		want   string
	}{
		{sched.Repeated{Limit: ep.Twice, Compact: true}, "3x60s,2x120s,1x120s,3x60s"},
		{sched.Repeated{Limit: ep.Twice, LeastWaste: true}, "3x60s,2x60s,1x180s,3x60s"},
	} {
		s := c.policy.New(core.Machine{Nodes: 4})
		s.Running(0, core.Allocation{Job: -1, Start: 180, EP: core.EP{{Duration: 240, Nodes: 2}}})
		s.Submit(0, core.Job{ID: 1, Choices: []core.EP{requested}})
		plan := s.Plan(0)
		if len(plan.Jobs) != 1 || plan.Jobs[0].Start != 120 || plan.Jobs[0].EP.String() != c.want {
			t.Errorf("%+v: %v; want %s from 120", c.policy, plan, c.want)
		}
	}
}
