package sched_test

import (
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/sched"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// ordinary returns a job that lasts at most limit plus its guard.
func ordinary(id core.JobID, nodes int, limit, guard core.Time) core.Job {
	return core.Job{ID: id, Choices: []core.EP{{{Duration: limit + guard, Nodes: nodes}}}, Guard: guard}
}

func TestJobDoesNotDelayJobsThatMayStartInAGuard(t *testing.T) {
	// Job 9 has a node until 10 and may keep it until 40. At one second in between, three nodes become free for job
	// 1.
	holds := core.Allocation{Job: 9, EP: epOf("1x40"), Guard: 30}
	waits := ordinary(1, 3, 10, 75)
	for _, c := range []struct {
		name    string
		nodes   int
		running []core.Allocation
		before  []core.Job
		want    core.Time // start of a job of one node for 14 s that comes after all others
	}{
		{"it is over before", 3, []core.Allocation{{Job: 9, EP: epOf("1x50"), Guard: 30}}, []core.Job{waits}, 0},
		{"it would begin in the guard", 3, []core.Allocation{holds}, []core.Job{waits}, 40 + 85},
		{"the nodes in their guard are enough for both", 8, []core.Allocation{{Job: 9, EP: epOf("5x40"), Guard: 30}}, []core.Job{ordinary(1, 4, 10, 75)}, 0},
		{"nobody waits for them", 3, []core.Allocation{holds}, nil, 0},
		{"the second of two also waits", 3, []core.Allocation{holds}, []core.Job{waits, ordinary(2, 3, 10, 75)}, 40 + 2*85},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs := append(c.before, core.Job{ID: 100, Choices: []core.EP{epOf("1x14")}})
			plan := load(sched.Repeated{}.New(core.Machine{Nodes: c.nodes}), 0, c.running, jobs).Plan(0)
			if got := plan.Jobs[len(plan.Jobs)-1]; got.Start != c.want {
				t.Errorf("it starts at %d, want %d\n%+v", got.Start, c.want, plan)
			}
		})
	}
}

// drawGuarded draws jobs of which some have a guard, and jobs that run before them.
func drawGuarded(t *rapid.T, now core.Time, nodes int) (running []core.Allocation, jobs []core.Job) {
	running = drawRunning(t, now, nodes)
	for i := range running {
		running[i].Guard = rapid.Int64Range(0, 6).Draw(t, "guard")
	}
	jobs = drawJobs(t, nodes)
	for i := range jobs {
		if rapid.Bool().Draw(t, "ordinary") {
			id, begin := jobs[i].ID, jobs[i].Begin
			jobs[i] = ordinary(id, rapid.IntRange(1, nodes).Draw(t, "nodes"), rapid.Int64Range(1, 6).Draw(t, "limit"), rapid.Int64Range(1, 5).Draw(t, "guard"))
			jobs[i].Begin = begin
		} else {
			jobs[i].Margin = rapid.Int64Range(0, 6).Draw(t, "margin")
		}
	}
	return running, jobs
}

// unused returns the part of an allocation from now on, without its guard.
func unused(a core.Allocation, now core.Time) core.Allocation {
	end := max(a.End()-a.Guard, now)
	b := core.Allocation{Job: a.Job, Start: a.Start}
	for _, s := range a.EP {
		s.Duration = min(s.Duration, max(end-b.End(), 0))
		b.EP = append(b.EP, s)
	}
	return b
}

// guardedPlan computes the plan of jobs with guards in three arrays of seconds: the occupation with the latest
// starts, the occupation with the earliest starts, and the occupation from the earliest start to the latest end
// of each job (`taken`).
func guardedPlan(policy sched.Repeated, nodes int, now core.Time, running []core.Allocation, jobs []core.Job) core.Plan {
	late, early, taken, firm := newDumb(nodes, running...), newDumb(nodes), newDumb(nodes, running...), newDumb(nodes, running...)
	ordinary := false // a waiting job has a guard
	for _, a := range running {
		early.Add(unused(a, now))
	}
	var loose [horizon]int // nodes in guards that no waiting job claims
	for t := range loose {
		if core.Time(t) >= now {
			loose[t] = late.Used[t] - early.Used[t]
		}
	}
	var plan core.Plan
	for _, j := range jobs {
		room := late
		if j.Guard == 0 {
			room = taken
		}
		before := *room
		one := room.plan(policy, now, []core.Job{j})
		*room = before
		for ordinary && j.Margin > 0 && len(one.Jobs) > 0 {
			at := one.Jobs[0].Start
			for ; at < horizon && !firm.counts(one.Jobs[0].EP, j.Margin, at); at++ {
			}
			if at == one.Jobs[0].Start {
				break
			}
			j.Begin = at
			one = room.plan(policy, now, []core.Job{j})
			*room = before
		}
		if len(one.Jobs) == 0 {
			continue
		}
		p := one.Jobs[0]
		p.Guard = j.Guard
		late.Add(p.Allocation)
		if j.Guard == 0 {
			early.Add(p.Allocation)
			taken.Add(p.Allocation)
			plan.Jobs = append(plan.Jobs, p)
			continue
		}
		step := core.Step{Duration: p.EP[0].Duration - j.Guard, Nodes: p.EP[0].Nodes}
		for p.Early = max(now, j.Begin); !early.Free(step.Nodes, p.Early, p.Early+step.Duration); {
			p.Early++
		}
		early.Add(core.Allocation{Start: p.Early, EP: core.EP{step}})
		for t := min(p.Early, p.Start); t < max(p.End(), p.Early+p.EP[0].Duration); t++ {
			counted := 0
			if t >= p.Early && t < p.Start {
				counted = min(step.Nodes, loose[t])
			}
			loose[t] -= counted
			taken.Used[t] += step.Nodes - counted
			firm.Used[t] += step.Nodes - counted
		}
		ordinary = true
		plan.Jobs = append(plan.Jobs, p)
	}
	return plan
}

// counts reports whether a job may start at second `at` if each of its nodes counts as used until its time limit.
func (d *dumb) counts(ep core.EP, margin, at core.Time) bool {
	most := 0
	for t := range ep.Total() + margin {
		most = max(most, ep.At(t))
		if !d.Free(most, at+t, at+t+1) {
			return false
		}
	}
	return true
}

func TestEveryPlanWithGuardsIsThatOfArraysOfSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const now = 12
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		policy := drawPolicy(t)
		running, jobs := drawGuarded(t, now, nodes)
		if unfit(nodes, now, running) {
			t.Skip("what runs exceeds the machine")
		}
		half := rapid.IntRange(0, len(jobs)).Draw(t, "planned before the others come")
		state := load(policy.New(core.Machine{Nodes: nodes}), now, running, jobs[:half])
		state.Plan(now)
		clone := load(state.Clone(), now, nil, jobs[half:])
		state = load(state, now, nil, jobs[half:])
		want := guardedPlan(policy, nodes, now, running, jobs)
		for _, s := range []sched.State{state, clone} {
			if d := cmp.Diff(want, s.Plan(now), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("(-seconds +plan)\n%s", d)
			}
		}
	})
}

// unfit reports whether the running jobs exceed the machine from now on.
func unfit(nodes int, now core.Time, running []core.Allocation) bool {
	d := newDumb(nodes, running...)
	return !d.Free(0, now, horizon-1)
}

// Jobs with a guard run one after the other, each as soon as it fits. This happens twice: once no guard is used, and once all
// running jobs use their guards. Later jobs without a guard start as planned, and never delay the jobs with a guard.
func TestLaterJobsDelayNoOrdinaryJobWhetherGuardsAreUsedOrNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const now = 0
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		var running []core.Allocation
		left := nodes
		for i := 0; left > 0 && i < 4; i++ {
			n := rapid.IntRange(0, left).Draw(t, "nodes")
			left -= n
			guard := rapid.Int64Range(0, 8).Draw(t, "guard")
			running = append(running, core.Allocation{Job: core.JobID(-1 - i), EP: core.EP{{Duration: 1 + guard + rapid.Int64Range(0, 9).Draw(t, "limit"), Nodes: n}}, Guard: guard})
		}
		var jobs []core.Job
		for i := range rapid.IntRange(1, 4).Draw(t, "ordinary jobs") {
			jobs = append(jobs, ordinary(core.JobID(1+i), rapid.IntRange(1, nodes).Draw(t, "nodes"), rapid.Int64Range(1, 9).Draw(t, "limit"), 9))
		}
		behind := make([]core.Job, rapid.IntRange(1, 4).Draw(t, "jobs behind them"))
		for i := range behind {
			behind[i] = core.Job{ID: core.JobID(100 + i), Choices: []core.EP{drawEP(t, 3, nodes)}}
		}
		plan := load(drawPolicy(t).New(core.Machine{Nodes: nodes}), now, running, append(jobs, behind...)).Plan(now)
		for _, none := range []bool{true, false} {
			world := newDumb(nodes)
			for _, a := range running {
				if none {
					a = unused(a, now)
				}
				world.Add(a)
			}
			alone := *world
			for _, p := range plan.Jobs[len(jobs):] {
				world.Add(p.Allocation)
			}
			for i, j := range jobs {
				n, limit, at := j.Choices[0][0].Nodes, j.Choices[0][0].Duration, core.Time(now)
				if none {
					limit -= j.Guard
				}
				for ; !alone.Free(n, at, at+limit); at++ {
				}
				run := core.Allocation{Start: at, EP: core.EP{{Duration: limit, Nodes: n}}}
				if !world.Free(n, at, at+limit) {
					t.Fatalf("guards unused: %v; job %d begins at %d, unless a job behind it is in the way: %+v", none, i+1, at, plan)
				}
				alone.Add(run)
				world.Add(run)
			}
		}
	})
}

func TestMarginOfAJobDelaysNoOrdinaryJob(t *testing.T) {
	// Job 9 has four of five nodes until 42 and perhaps until 72. Job 1 waits for all five.
	holds := []core.Allocation{{Job: 9, EP: epOf("4x72"), Guard: 30}}
	waits := []core.Job{ordinary(1, 5, 45, 75)}
	for _, c := range []struct {
		name    string
		running []core.Allocation
		before  []core.Job
		profile string
		margin  core.Time
		want    core.Time
	}{
		{"it is over in time even by its limit", holds, waits, "1x12", 30, 0},
		{"by its limit it is not", holds, waits, "1x13", 30, 72 + 120},
		{"nobody waits", holds, nil, "1x13", 30, 0},
		{"who waits has nodes beside it", holds, []core.Job{ordinary(1, 4, 45, 75)}, "1x13", 30, 0},
		{"the nodes that it will have given back are counted, too", []core.Allocation{{Job: 9, EP: epOf("2x10")}}, []core.Job{ordinary(1, 4, 10, 5)}, "2x5 1x10", 1, 25},
		{"a managed one waits", holds, []core.Job{{ID: 1, Choices: []core.EP{epOf("5x45")}}}, "1x13", 100, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs := append(c.before, core.Job{ID: 100, Choices: []core.EP{epOf(c.profile)}, Margin: c.margin})
			plan := load(sched.Repeated{}.New(core.Machine{Nodes: 5}), 0, c.running, jobs).Plan(0)
			if got := plan.Jobs[len(plan.Jobs)-1]; got.Start != c.want {
				t.Errorf("it starts at %d, want %d\n%+v", got.Start, c.want, plan)
			}
		})
	}
}

// A batch system counts each node of a managed job as used until the job's time limit, and places ordinary jobs one after the
// other. Each ordinary job gets the same place as if the managed job did not exist.
func TestNoOrdinaryJobIsPlannedLaterForOneBehindItThatCountsUntilItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		running := []core.Allocation{{Job: -1, EP: core.EP{{Duration: rapid.Int64Range(1, 12).Draw(t, "runs"), Nodes: rapid.IntRange(0, nodes).Draw(t, "held")}}}}
		var jobs []core.Job
		for i := range rapid.IntRange(1, 4).Draw(t, "ordinary jobs") {
			jobs = append(jobs, ordinary(core.JobID(1+i), rapid.IntRange(1, nodes).Draw(t, "nodes"), rapid.Int64Range(1, 9).Draw(t, "limit"), 3))
		}
		shrinking := drawEP(t, 3, nodes)
		slices.SortFunc(shrinking, func(a, b core.Step) int { return b.Nodes - a.Nodes })
		behind := core.Job{ID: 100, Choices: []core.EP{shrinking}, Margin: rapid.Int64Range(1, 9).Draw(t, "margin")}
		plan := load(drawPolicy(t).New(core.Machine{Nodes: nodes}), 0, running, append(jobs, behind)).Plan(0)
		p := plan.Jobs[len(plan.Jobs)-1]
		believed := newDumb(nodes)
		most := 0
		for k := range p.EP.Total() + behind.Margin {
			most = max(most, p.EP.At(k))
			believed.Used[p.Start+k] = most
		}
		alone, beside := newDumb(nodes, running...), newDumb(nodes, running...)
		for k := range beside.Used {
			beside.Used[k] += believed.Used[k]
		}
		for i, j := range jobs {
			step, at := j.Choices[0][0], core.Time(0)
			for ; !alone.Free(step.Nodes, at, at+step.Duration); at++ {
			}
			if !beside.Free(step.Nodes, at, at+step.Duration) {
				t.Fatalf("job %d would begin at %d, unless the job behind it counted until its limit: %+v", i+1, at, plan)
			}
			alone.Add(core.Allocation{Start: at, EP: j.Choices[0]})
			beside.Add(core.Allocation{Start: at, EP: j.Choices[0]})
		}
	})
}
