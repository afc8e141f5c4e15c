// Package pairs makes workloads for tests on real batch systems, and measures how long their jobs waited. The tests run
// each workload several times under different policies.
//
//	jobs := pairs.Mix{Evolving: 45, Others: 105, Nodes: 16, Load: 1.2, Sizes: 6, Least: 3, Mean: 5, Step: 4}.Jobs(seed)
//	fmt.Print(pairs.Table([]pairs.Measured{pairs.Measure(runs)}, []pairs.Measured{pairs.Measure(runsUnderEASY)}))
//
// Times are in seconds.
package pairs

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"accordion/core"
)

// Job is one job of a workload. An ordinary job has Nodes nodes, runs for Runs seconds and requests Asks seconds.
// An evolving job requests its profile, and ends in the last step. If an evolving job runs as a rigid job, it has
// Nodes nodes, the maximum of its profile, and requests Asks seconds, the sum of its steps.
type Job struct {
	At         time.Duration // since the beginning of the workload
	User       int           // index of the user, from 0
	Profile    core.EP       // nil for an ordinary job
	Nodes      int
	Runs, Asks core.Time // Runs is the run time if the job does not have to wait for nodes between steps
}

// Mix holds the parameters of a workload.
type Mix struct {
	Evolving, Others int
	Users            int
	Nodes            int       // number of nodes of the machine
	Load             float64   // node-seconds of all jobs, relative to those of the machine while jobs arrive
	Sizes            int       // number of nodes of the largest job
	Least, Mean      core.Time // of an ordinary job's run time: the minimum, and the mean of the time beyond the minimum
	Step             core.Time // minimum duration of each of the three steps; the maximum is twice as long
}

// Longer returns the mix with run times and intervals multiplied by `times`.
func (m Mix) Longer(times int) Mix {
	m.Least, m.Mean, m.Step = m.Least*core.Time(times), m.Mean*core.Time(times), m.Step*core.Time(times)
	return m
}

// Jobs returns the workload for a seed, in the order of submission.
func (m Mix) Jobs(seed uint64) []Job {
	r := rand.New(rand.NewPCG(seed, 17))
	all := make([]Job, 0, m.Evolving+m.Others)
	for range m.Others {
		j := Job{Nodes: min(1+int(r.ExpFloat64()*float64(m.Sizes)/5), m.Sizes)}
		j.Runs = m.Least + min(core.Time(r.ExpFloat64()*float64(m.Mean)), 4*m.Mean)
		j.Asks = core.Time(float64(j.Runs)*(1+2*r.Float64())) + 2
		all = append(all, j)
	}
	for range m.Evolving {
		all = append(all, m.evolving(r))
	}
	area := 0.0
	for i := range all {
		area += all[i].area()
	}
	lasts := area / (m.Load * float64(m.Nodes))
	for i := range all {
		all[i].At, all[i].User = time.Duration(r.Float64()*lasts*float64(time.Second)), r.IntN(max(m.Users, 1))
	}
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.At, b.At) })
	return all
}

// evolving returns a job of three steps. The job grows twice, or grows and then shrinks. It ends within its last
// step.
func (m Mix) evolving(r *rand.Rand) Job {
	peak := 3 + r.IntN(m.Sizes-2)
	sizes := []int{max(1, peak/4), max(2, peak/2), peak}
	if r.IntN(2) == 0 {
		sizes = []int{max(1, peak/2), peak, max(1, peak/4)}
	}
	j := Job{Nodes: peak}
	for _, n := range sizes {
		s := core.Step{Duration: m.Step + r.Int64N(m.Step+1), Nodes: n}
		j.Profile, j.Asks = append(j.Profile, s), j.Asks+s.Duration
	}
	last := j.Profile[2].Duration
	j.Runs = j.Asks - last + max(1, core.Time(float64(last)*(0.3+0.6*r.Float64())))
	return j
}

// area returns the node-seconds that a job uses.
func (j Job) area() float64 {
	if j.Profile == nil {
		return float64(j.Nodes) * float64(j.Runs)
	}
	early := int64(j.Profile[len(j.Profile)-1].Nodes) * (j.Asks - j.Runs)
	return float64(j.Profile.Area() - early)
}

// Run is a job with its start and end.
type Run struct {
	Job
	Start, End float64 // since the beginning of the workload
}

// Figures holds the mean wait, mean slowdown and longest wait of some jobs.
type Figures struct{ Wait, Slowdown, Longest float64 }

// shortest is a run time in seconds. For the slowdown, shorter run times count as this one.
const shortest = 10

// figures returns the figures of some jobs. A wait begins when the job should have been submitted, because this
// time is the same under every policy. The real submission may be delayed.
func figures(all []Run) (f Figures) {
	for _, s := range all {
		wait := max(0, s.Start-s.At.Seconds())
		f.Wait += wait / float64(len(all))
		f.Slowdown += max(1, (s.End-s.At.Seconds())/math.Max(float64(s.Runs), shortest)) / float64(len(all))
		f.Longest = max(f.Longest, wait)
	}
	return f
}

// Hold is a number of nodes that a job holds for some time. An evolving job may have several holds at the same time.
type Hold struct {
	From, To float64 // since the beginning of the workload
	Nodes    int
}

// Busy returns the mean number of held nodes over all times at which at least `waiting` jobs wait. It returns 0 if
// there are no such times.
func Busy(all []Run, holds []Hold, waiting int) float64 {
	last := 0.0
	for _, s := range all {
		last = max(last, s.End)
	}
	seconds, held := 0, 0
	for now := range int(last) {
		at, waits := float64(now), 0
		for _, s := range all {
			if s.At.Seconds() <= at && at < s.Start {
				waits++
			}
		}
		if waits < waiting {
			continue
		}
		seconds++
		for _, h := range holds {
			if h.From <= at && at < h.To {
				held += h.Nodes
			}
		}
	}
	return float64(held) / float64(max(seconds, 1))
}

// Measured holds the figures of all jobs, of evolving jobs and of the others.
type Measured struct{ All, Evolving, Others Figures }

// Measure returns the figures of a workload.
func Measure(all []Run) Measured {
	evolves := func(s Run) bool { return s.Profile != nil }
	others := slices.DeleteFunc(slices.Clone(all), evolves)
	evolving := slices.DeleteFunc(slices.Clone(all), func(s Run) bool { return !evolves(s) })
	return Measured{figures(all), figures(evolving), figures(others)}
}
