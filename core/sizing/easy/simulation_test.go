package easy

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"accordion/core"
	"accordion/core/sizing"
	"accordion/traces/model"
	"accordion/traces/workload"
)

// unpruned returns the size on which a job ends first. It simulates each size separately, in a copy of the state,
// until the job starts.
func (s *state) unpruned(now core.Time, j core.Job) int {
	sizes := sizing.New(j, sizing.AsListed)
	most := math.Inf(1)
	if s.top == ToReference {
		most = 1
	}
	lo, hi, _ := sizes.Range(most, s.machine.Nodes)
	best, end := lo, core.Forever
	for k := lo; k <= hi; k++ {
		c := s.clone()
		w := &waiter{id: j.ID, submit: j.Submit, sizes: sizes.At(k), rank: rank{seq: c.submitted}}
		c.advance(now)
		c.enqueue(now, w)
		c.load.Enter(now, j, w.sizes)
		if at := c.until(now, j.ID); at+sizes.Steps[k].Duration < end {
			best, end = k, at+sizes.Steps[k].Duration
		}
	}
	return sizes.Choice(best)
}

// until returns the second at which a job starts, if no other job is submitted and all jobs run for their requested times.
func (s *state) until(now core.Time, id core.JobID) core.Time {
	for now < core.Forever {
		for _, start := range s.Starts(now, nil) {
			if start.Job == id {
				return now
			}
		}
		now = s.Next(now)
		for i := len(s.runs.List) - 1; i >= 0 && s.runs.List[i].End <= now; i = len(s.runs.List) - 1 {
			s.End(now, s.runs.List[i].ID)
		}
	}
	return now
}

// drawn draws a job like those of the paper: run times from seconds to days, on a curve.
func drawn(r *rand.Rand, id core.JobID, now core.Time, machine int) core.Job {
	j := core.Job{ID: id, Submit: now}
	n := int(math.Exp2(r.Float64() * math.Log2(float64(machine)) * .9))
	t := core.Time(math.Exp(1 + 9.5*r.Float64()))
	if r.IntN(5) == 0 {
		j.Choices = []core.EP{{{Duration: t, Nodes: n}}}
		return j
	}
	for k := (n + 1) / 2; k <= min(2*n, machine); k++ {
		speed := .5*float64(k)/float64(n) + .15
		if k > n {
			speed = .15*float64(k)/float64(n) + .5
		}
		j.Choices = append(j.Choices, core.EP{{Duration: core.Time(math.Ceil(float64(t) * .65 / speed)), Nodes: k}})
	}
	return j
}

// play submits jobs that end at their requested times, and compares each size with the unpruned result. It returns
// the largest number of waiting jobs.
func play(t *testing.T, policy CirneBerman, machine int, jobs []core.Job) (most int) {
	s := policy.New(core.Machine{Nodes: machine}).(*state)
	now := core.Time(0)
	for _, j := range jobs {
		for ends := s.Next(now); ends < j.Submit; ends = s.Next(now) {
			now = ends
			s.End(now, s.runs.List[len(s.runs.List)-1].ID)
			s.Starts(now, nil)
		}
		now = j.Submit
		want := s.unpruned(now, j)
		s.Submit(now, j)
		got := -1
		for _, w := range s.queue {
			if w.id == j.ID {
				got = w.sizes.Choice(0)
			}
		}
		if got != want {
			t.Fatalf("%+v, job %d at second %d, %d waiting: choice %d, unpruned %d", policy, j.ID, now, len(s.queue), got, want)
		}
		s.Starts(now, nil)
		most = max(most, len(s.queue))
	}
	return most
}

// isLong reports whether the command line asks for a long run.
func isLong() bool { return flag.Lookup("accordion.long").Value.String() == "true" }

// Dozens of jobs wait at a time, and many age. A long run has ten times as many jobs.
func TestPruningChangesNoSizeOfCirneAndBerman(t *testing.T) {
	length := core.JobID(250)
	if isLong() {
		length = 2500
	}
	for seed, policy := range []CirneBerman{
		{Order: Order{By: Class}}, {Order: Order{By: Class, Aging: ToTop}}, {Order: Order{By: Class}, Top: ToReference}, {Order: Order{By: Work}},
		{Order: Order{By: Class, Aging: Again}},
	} {
		r := rand.New(rand.NewPCG(uint64(seed), 15))
		now := core.Time(0)
		var jobs []core.Job
		for id := range length {
			now += core.Time(r.ExpFloat64() * 600)
			jobs = append(jobs, drawn(r, id, now, 32))
		}
		if most := play(t, policy, 32, jobs); most < 15 {
			t.Errorf("policy %d: at most %d jobs waited: too few", seed, most)
		}
	}
}

// This test uses the workload W1 of the paper, in both interpretations. A long run has the paper's length and
// four seeds.
func TestPruningChangesNoSizeOnThePapersWorkload(t *testing.T) {
	seeds, length := uint64(1), 500
	if isLong() {
		seeds, length = 4, 10_000
	}
	for seed := range seeds {
		jobs := w1(t, length, seed+1)
		for _, policy := range []CirneBerman{{Order: Order{By: Class}}, {Order: Order{By: Class, Aging: ToTop}, Top: ToReference}} {
			most := play(t, policy, 128, jobs)
			t.Logf("seed %d, %+v: at most %d of %d jobs waited", seed+1, policy, most, len(jobs))
			if most < 5 {
				t.Error("too few")
			}
		}
	}
}

// w1 draws W1 with all jobs moldable. They run for their requested times.
func w1(t *testing.T, length int, seed uint64) (jobs []core.Job) {
	selected, err := workload.Selection{}.Select(model.Lublin{Jobs: length, Nodes: 128, Alpha: 10.23, Seed: seed}.Log())
	if err != nil {
		t.Fatal(err)
	}
	workload.WhatIf{Moldable: 1, Curve: workload.Piecewise, Seed: seed}.Apply(&selected.Workload)
	for i, j := range selected.Workload.Jobs {
		for k, ep := range j.Choices {
			if ep.Total() != j.Runs[k] {
				t.Fatalf("seed %d: job %d runs %d s of %d", seed, i, j.Runs[k], ep.Total())
			}
		}
		jobs = append(jobs, core.Job{ID: core.JobID(i), Submit: j.Submit, Choices: j.Choices})
	}
	return jobs
}
