package sched_test

import (
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func drawAlgorithm(t *rapid.T) ep.Algorithm {
	if rapid.IntRange(0, 4).Draw(t, "rigid") == 0 {
		return ep.Algorithm{Rigid: true}
	}
	p := drawPolicy(t)
	return ep.Algorithm{Limit: p.Limit, Compact: p.Compact, LeastWaste: p.LeastWaste}
}

func drawOrder(t *rapid.T) sched.Order {
	return rapid.SampledFrom([]sched.Order{sched.FirstCome, sched.FirstCome, sched.ShortestFirst, sched.LongestFirst}).Draw(t, "order")
}

// drawMachine draws a number of nodes. Random draws prefer the first value, which is a machine with more nodes than a job needs.
func drawMachine(t *rapid.T) int {
	return rapid.SampledFrom([]int{5, 4, 8, 6, 3, 7, 2, 1}).Draw(t, "machine")
}

// drawRigid draws a job of one step. Some jobs have the same size and duration, because users submit equal jobs.
func drawRigid(t *rapid.T, id core.JobID, nodes int) core.Job {
	return core.Job{ID: id, Choices: []core.EP{{{
		Duration: rapid.SampledFrom([]core.Time{8, 5, 3, 13, 3, 1, 2, 8}).Draw(t, "duration"),
		Nodes:    rapid.SampledFrom([]int{max(1, nodes/2), 1, nodes, max(1, nodes-2), 1, rapid.IntRange(1, nodes).Draw(t, "nodes")}).Draw(t, "size"),
	}}}}
}

// story is a random history of a machine. It passes each event to a state and to its twin, then compares their
// answers.
type story struct {
	nodes  int
	state  sched.State
	twin   backfiller
	job    func(*rapid.T, core.JobID, int) core.Job
	runs   map[core.JobID]bool
	queued []core.JobID
	jobs   map[core.JobID]core.Job
	began  map[core.JobID]core.Time
}

// play draws the history. Jobs end at their limit or before. Some are canceled while they wait.
func (s *story) play(t *rapid.T, most int, after func(now core.Time)) {
	s.runs, s.jobs, s.began = map[core.JobID]bool{}, map[core.JobID]core.Job{}, map[core.JobID]core.Time{}
	next := core.JobID(1)
	if rapid.Bool().Draw(t, "large numbers") {
		next = 1 << 40
	}
	first := next
	ask := func(now core.Time) {
		s.ask(t, now)
		after(now)
	}
	for now := core.Time(0); now < 50; now++ {
		for rapid.IntRange(0, 2).Draw(t, "submit") == 0 && int(next-first) < most {
			j := s.job(t, next, s.nodes)
			j.Submit = now
			s.state.Submit(now, j)
			s.twin.submit(now, j)
			s.queued, s.jobs[next] = append(s.queued, next), j
			next++
			ask(now)
		}
		for id := first; id < next; id++ {
			if s.runs[id] && (now >= s.until(id) || rapid.IntRange(0, 5).Draw(t, "ends") == 5) && now > s.began[id] {
				delete(s.runs, id)
				s.state.End(now, id)
				s.twin.end(now, id)
				ask(now)
			}
		}
		if len(s.queued) > 0 && rapid.IntRange(0, 15).Draw(t, "cancel") == 15 {
			id := s.queued[rapid.IntRange(0, len(s.queued)-1).Draw(t, "which")]
			s.state.End(now, id)
			s.twin.end(now, id)
			s.forget(id)
			ask(now)
		}
		ask(now)
	}
}

func (s *story) forget(id core.JobID) {
	for i, q := range s.queued {
		if q == id {
			s.queued = append(s.queued[:i:i], s.queued[i+1:]...)
			return
		}
	}
}

// until returns the latest end of a running job.
func (s *story) until(id core.JobID) core.Time {
	if p, ok := s.state.(sched.Promiser); ok {
		a, _ := p.Promise(id)
		return a.End()
	}
	return s.began[id] + s.jobs[id].Choices[0].Total()
}

// ask compares the answers of both. No answer may change before the time that Next announced.
func (s *story) ask(t *rapid.T, now core.Time) {
	var got []core.JobID
	for _, start := range s.state.Clone().Starts(now, nil) {
		if start.Begins {
			got = append(got, start.Job)
		}
	}
	var again []core.JobID
	for _, start := range s.state.Starts(now, nil) {
		if !start.Begins {
			continue
		}
		again = append(again, start.Job)
		s.runs[start.Job], s.began[start.Job] = true, now
		s.forget(start.Job)
	}
	want := s.twin.starts(now)
	if d := cmp.Diff(want, again, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("second %d starts (-dumb +clever)\n%s", now, d)
	}
	if d := cmp.Diff(got, again, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("second %d: a clone starts others (-clone +original)\n%s", now, d)
	}
}

func TestConservativeIsThatOfArraysOfSeconds(t *testing.T) {
	checks(t)
	kinds := map[string]struct {
		job  func(*rapid.T, core.JobID, int) core.Job
		most int
	}{
		"rigid jobs":    {drawRigid, 16},
		"jobs of kinds": {drawJob, 8},
	}
	for name, c := range kinds {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				nodes, order, a := drawMachine(t), drawOrder(t), drawAlgorithm(t)
				twin := &plainConservative{crowd{nodes: nodes, order: order}, a}
				s := story{nodes: nodes, twin: twin, job: c.job}
				s.state = sched.Conservative{Algorithm: a, Order: order}.New(core.Machine{Nodes: nodes})
				if second := rapid.SampledFrom([]core.Time{1, 700, 100_000}).Draw(t, "second"); second > 1 {
					s.state = slow{s.state, second}
				}
				due := core.Time(-1)
				s.play(t, c.most, func(now core.Time) {
					if d := cmp.Diff(twin.plan(), s.state.Plan(now).Jobs, cmpopts.EquateEmpty()); d != "" {
						t.Fatalf("second %d is planned (-dumb +clever)\n%s", now, d)
					}
					due = s.state.Next(now)
					for _, p := range twin.plan() {
						if due > p.Start || due <= now {
							t.Fatalf("second %d: something is due at %d, next at %d", now, p.Start, due)
						}
					}
				})
			})
		})
	}
}

// slow is a state for which a second of a story lasts many seconds. Its decisions do not depend on that length, but
// its table of time spans does.
type slow struct {
	sched.State
	second core.Time
}

func (s slow) Submit(now core.Time, j core.Job) {
	j.Submit, j.Begin = j.Submit*s.second, j.Begin*s.second
	j.Choices = slices.Clone(j.Choices)
	for i := range j.Choices {
		j.Choices[i] = s.times(j.Choices[i], func(d core.Time) core.Time { return d * s.second })
	}
	s.State.Submit(now*s.second, j)
}

func (s slow) times(ep core.EP, of func(core.Time) core.Time) core.EP {
	ep = slices.Clone(ep)
	for i := range ep {
		ep[i].Duration = of(ep[i].Duration)
	}
	return ep
}

func (s slow) End(now core.Time, id core.JobID) { s.State.End(now*s.second, id) }

func (s slow) Starts(now core.Time, into []core.Start) []core.Start {
	return s.State.Starts(now*s.second, into)
}

func (s slow) Next(now core.Time) core.Time { return s.State.Next(now*s.second) / s.second }

func (s slow) Clone() sched.State { return slow{s.State.Clone(), s.second} }

func (s slow) Plan(now core.Time) core.Plan {
	plan := s.State.Plan(now * s.second)
	for i := range plan.Jobs {
		plan.Jobs[i].Allocation = s.faster(plan.Jobs[i].Allocation)
	}
	return plan
}

func (s slow) Promise(id core.JobID) (core.Allocation, bool) {
	a, ok := s.State.(sched.Promiser).Promise(id)
	return s.faster(a), ok
}

func (s slow) faster(a core.Allocation) core.Allocation {
	a.Start /= s.second
	a.EP = s.times(a.EP, func(d core.Time) core.Time { return d / s.second })
	return a
}

func TestConservativeNeverMovesAPromiseLater(t *testing.T) {
	checks(t)
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawMachine(t)
		p := sched.Conservative{Algorithm: drawAlgorithm(t), Order: drawOrder(t)}
		s := story{nodes: nodes, state: p.New(core.Machine{Nodes: nodes}), job: drawJob}
		s.twin = &plainConservative{crowd{nodes: nodes, order: p.Order}, p.Algorithm}
		promised := map[core.JobID]core.Time{}
		s.play(t, 8, func(now core.Time) {
			for _, p := range s.state.Plan(now).Jobs {
				if end, ok := promised[p.Job]; ok && p.End() > end {
					t.Fatalf("second %d: job %d was to be over at %d, and now at %d", now, p.Job, end, p.End())
				}
				promised[p.Job] = p.End()
			}
			for id := range s.runs {
				if a, ok := s.state.(sched.Promiser).Promise(id); !ok || a.End() > promised[id] && promised[id] > 0 {
					t.Fatalf("second %d: job %d runs until %d, promised %d", now, id, a.End(), promised[id])
				}
			}
		})
	})
}

func TestEASYAndFCFSAreThoseOfTheRules(t *testing.T) {
	checks(t)
	twins := map[string]func(crowd) (sched.Policy, backfiller){
		"fcfs on arrays of seconds": func(c crowd) (sched.Policy, backfiller) {
			return sched.EASY{Order: c.order, Strict: true}, &plainEASY{c, false}
		},
		"easy on arrays of seconds": func(c crowd) (sched.Policy, backfiller) {
			return sched.EASY{Order: c.order}, &plainEASY{c, true}
		},
		"easy with shadow and extra": func(c crowd) (sched.Policy, backfiller) {
			return sched.EASY{Order: c.order}, &ruledEASY{plainEASY{c, true}}
		},
		"patient, of no patience, on arrays of seconds": func(c crowd) (sched.Policy, backfiller) {
			c.order = sched.FirstCome
			return sched.Patient{}, &plainEASY{c, true}
		},
	}
	for name, twin := range twins {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				nodes := drawMachine(t)
				p, b := twin(crowd{nodes: nodes, order: drawOrder(t)})
				s := story{nodes: nodes, twin: b, job: drawRigid, state: p.New(core.Machine{Nodes: nodes})}
				s.play(t, 16, func(core.Time) {})
			})
		})
	}
	t.Run("easy, jobs of kinds", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			nodes, order := drawMachine(t), drawOrder(t)
			s := story{nodes: nodes, job: drawFirst, twin: &plainEASY{crowd{nodes: nodes, order: order}, true}}
			s.state = sched.EASY{Order: order}.New(core.Machine{Nodes: nodes})
			s.play(t, 8, func(core.Time) {})
		})
	})
	t.Run("easy and fcfs next to what changes", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			nodes, order, strict := rapid.IntRange(2, 8).Draw(t, "machine"), drawOrder(t), rapid.Bool().Draw(t, "fcfs")
			twin := &plainEASY{crowd{nodes: nodes, order: order}, !strict}
			s := story{nodes: nodes, job: drawFirst, twin: twin}
			s.state = sched.EASY{Order: order, Strict: strict}.New(core.Machine{Nodes: nodes})
			for _, a := range drawRunning(t, 0, nodes/2) {
				s.state.Running(0, a)
				twin.running = append(twin.running, a)
			}
			s.play(t, 8, func(core.Time) {})
		})
	})
}

// drawFirst draws a job that ranks by its first choice: its other choices have the same length.
func drawFirst(t *rapid.T, id core.JobID, nodes int) core.Job {
	j := drawJob(t, id, nodes)
	j.Choices = j.Choices[:1]
	return j
}

func TestEASYNeverDelaysTheHeadBeyondItsReservation(t *testing.T) {
	checks(t)
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawMachine(t)
		s := story{nodes: nodes, job: drawRigid, state: sched.EASY{}.New(core.Machine{Nodes: nodes})}
		s.twin = &ruledEASY{plainEASY{crowd{nodes: nodes}, true}}
		head, promised := core.JobID(-1), core.Time(0)
		s.play(t, 16, func(now core.Time) {
			if head >= 0 && s.runs[head] && s.began[head] > promised {
				t.Fatalf("job %d began at %d, reserved was %d", head, s.began[head], promised)
			}
			plan := s.state.Plan(now).Jobs
			if len(plan) == 0 {
				return
			}
			if at := plan[0].Start; plan[0].Job == head && at > promised {
				t.Fatalf("second %d: the reservation of job %d moved from %d to %d", now, head, promised, at)
			}
			head, promised = plan[0].Job, plan[0].Start
		})
	})
}
