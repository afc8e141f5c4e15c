package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// wild draws any job that a user may submit. Its sizes are in any order. Some sizes occur twice, some last
// longer on more nodes, and some exceed the machine. Durations are from one second to ten years.
func wild(r *rand.Rand, id core.JobID, now core.Time, machine int) core.Job {
	j := core.Job{ID: id, Submit: now}
	for range 1 + r.IntN(6) {
		seconds := []core.Time{1, 2, 30, 59, 60, 600, 3600, 86_400, 10 * 365 * 86_400}[r.IntN(9)]
		j.Choices = append(j.Choices, core.EP{{Duration: seconds + r.Int64N(seconds), Nodes: 1 + r.IntN(machine+2)}})
	}
	if r.IntN(5) == 0 {
		j.Choices[0] = append(j.Choices[0], core.Step{Duration: 5, Nodes: 1 + r.IntN(machine)})
	}
	return j
}

// least returns the fewest nodes on which a job may start if no node of the machine is lost: its floor, or the next listed
// size.
func least(j core.Job, f sizing.Floor, machine int) int {
	s := sizing.New(j, f)
	lo, _, _ := s.Range(0, machine)
	return s.Steps[lo].Nodes
}

// history runs a policy until no more jobs are submitted and all that can start have ended. Nodes are lost and
// return, the clock is set back, and jobs end early or late.
func history(t *testing.T, name string, p sched.Policy, seed uint64) {
	const machine = 12
	r := rand.New(rand.NewPCG(seed, 7))
	s := p.New(core.Machine{Nodes: machine})
	jobs, waits, runs := map[core.JobID]core.Job{}, map[core.JobID]bool{}, map[core.JobID]core.Time{}
	nodes, now := machine, core.Time(1_000_000)
	held := map[core.JobID]int{}
	ask := func() {
		for _, start := range s.Starts(now, nil) {
			if !start.Begins {
				held[start.Job] = start.Nodes
				continue
			}
			j := jobs[start.Job]
			ep := j.Choices[start.Choice]
			if !waits[start.Job] || len(ep) == 1 && ep[0].Nodes != start.Nodes {
				t.Fatalf("%s, seed %d: job %d starts on %d nodes, choice %d of %v", name, seed, start.Job, start.Nodes, start.Choice, j.Choices)
			}
			if sizes := sizing.New(j, sizing.HalfReference); nodes == machine && !sizes.Several && sizes.Nodes <= machine && start.Nodes < least(j, floor(name), machine) {
				t.Fatalf("%s, seed %d: job %d starts on %d nodes, below the floor of %v", name, seed, start.Job, start.Nodes, j.Choices)
			}
			delete(waits, start.Job)
			runs[start.Job], held[start.Job] = now+ep.Total(), start.Nodes
		}
		sum := 0
		for id, n := range held {
			if runs[id] <= now { // after its end the job's nodes count as free, even if the clock is set back
				delete(held, id)
				continue
			}
			sum += n
		}
		if sum > machine {
			t.Fatalf("%s, seed %d: %d nodes are held", name, seed, sum)
		}
	}
	for id := core.JobID(1); id <= 40; id++ {
		now += r.Int64N(4000)
		j := wild(r, id, now, machine)
		jobs[id], waits[id] = j, true
		s.Submit(now, j)
		ask()
		switch r.IntN(6) {
		case 0:
			nodes = machine - r.IntN(4)
			s.Nodes(now, core.Machine{Nodes: nodes})
		case 1:
			now -= r.Int64N(10_000)
		case 2:
			s = s.Clone()
		}
		ask()
		for _, over := range sorted(runs) {
			if r.IntN(3) == 0 {
				s.End(now, over)
				delete(runs, over)
				delete(held, over)
				ask()
			}
		}
	}
	nodes = machine
	s.Nodes(now, core.Machine{Nodes: nodes})
	ask()
	for len(runs) > 0 || s.Next(now) < core.Forever {
		if ids := sorted(runs); len(ids) > 0 {
			s.End(now, ids[0])
			delete(runs, ids[0])
			delete(held, ids[0])
		} else {
			now = s.Next(now)
		}
		ask()
	}
	for id := range waits {
		if sizing.New(jobs[id], sizing.AsListed).Steps[0].Nodes <= machine {
			t.Errorf("%s, seed %d: job %d never starts: %v", name, seed, id, jobs[id].Choices)
		}
	}
}

func sorted(runs map[core.JobID]core.Time) (ids []core.JobID) {
	for id := range runs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// floor returns the floor of a policy.
func floor(name string) sizing.Floor {
	if name[0] == 'e' || name[0] == 'p' || name[0] == 'r' || name[0] == 's' && name[1] == 'h' {
		return sizing.HalfReference
	}
	return sizing.AsListed
}

func TestEveryJobStartsOnASizeThatItListedAndNotBelowItsFloor(t *testing.T) {
	for _, name := range []string{
		"easy+reference", "easy+least", "easy+earliest", "easy+load", "easy+share", "repeated+reference", "repeated+least", "repeated+earliest",
		"repeated+load", "repeated+share", "traditional", "traditional:top", "scojo-p", "scojo-p:nonpredictive:top", "cirne-berman",
		"cirne-berman:opt:top", "share", "share:2h", "easy-evolving+least", "easy-evolving+share", "patient+load", "patient:1h:r2+share",
	} {
		p, err := policy.Named(name, sched.FirstCome)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(40) {
			history(t, name, p, seed)
		}
	}
}

// When the sizing rule changes while jobs wait and run, a new state receives both. Running jobs keep their promises,
// and no other job gets their nodes.
func TestPromisesStandWhereTheSizingIsSwitched(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 8))
		var waiting []core.Job
		running := map[core.JobID]core.Allocation{}
		now, id := core.Time(0), core.JobID(0)
		for _, name := range []string{"repeated+share", "repeated+earliest", "easy+share", "repeated+least", "share", "patient+share", "repeated", "easy-evolving"} {
			p, err := policy.Named(name, sched.FirstCome)
			if err != nil {
				t.Fatal(err)
			}
			s := p.New(core.Machine{Nodes: 12})
			for _, a := range running {
				s.Running(now, a)
			}
			for range 5 {
				id++
				waiting = append(waiting, wild(r, id, now, 10))
			}
			for _, j := range waiting {
				s.Submit(now, j)
			}
			plan := s.Plan(now)
			free := 12
			for _, a := range running {
				free -= a.EP.At(now - a.Start)
				if kept, ok := s.(sched.Promiser).Promise(a.Job); !ok || kept.End() != a.End() || kept.EP.At(now-kept.Start) != a.EP.At(now-a.Start) {
					t.Fatalf("seed %d, %s: job %d was promised %+v, and now %+v", seed, name, a.Job, a, kept)
				}
			}
			for _, p := range plan.Jobs {
				if p.Start > now {
					continue
				}
				if free -= p.EP[0].Nodes; free < 0 {
					t.Fatalf("seed %d, %s: job %d is given the nodes of others", seed, name, p.Job)
				}
				running[p.Job] = p.Allocation
				waiting = slices.DeleteFunc(waiting, func(j core.Job) bool { return j.ID == p.Job })
			}
			now += 500
			for id, a := range running {
				if a.End() <= now {
					delete(running, id)
				}
			}
		}
	}
}
