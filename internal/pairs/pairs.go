// Package pairs is workloads to be run several times, each time planned in another way, and how long their jobs waited: for tests on
// real batch systems.
//
//	jobs := pairs.Mix{Evolving: 45, Others: 105, Nodes: 16, Load: 1.2, Sizes: 6, Least: 3, Mean: 5, Step: 4}.Jobs(seed)
//	one, other := pairs.Measure(spells), pairs.Measure(theOthers) // of the same jobs under two policies
//	fmt.Println(one.Ratio(other))
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

// Job is one of a workload. An ordinary one is Nodes for Runs seconds, and asks for Asks. One that evolves asks for its profile, and
// is over in its last step; seen as a rigid one it is Nodes, its most, for Asks, its whole length.
type Job struct {
	At         time.Duration // after the beginning of the workload
	User       int           // from 0
	Profile    core.EP       // nil: it is an ordinary one
	Nodes      int
	Runs, Asks core.Time // where nobody is in its way
}

// Mix says what a workload is like.
type Mix struct {
	Evolving, Others int
	Users            int
	Nodes            int       // of the machine
	Load             float64   // what all jobs use, for as long as they come, to what there is
	Sizes            int       // of the largest job
	Least, Mean      core.Time // length of an ordinary job: so much at least, and in the mean so much more
	Step             core.Time // length of the shortest step of three; the longest is twice as long
}

// Longer is the mix with jobs so many times as long, which therefore come at so much greater intervals.
func (m Mix) Longer(times int) Mix {
	m.Least, m.Mean, m.Step = m.Least*core.Time(times), m.Mean*core.Time(times), m.Step*core.Time(times)
	return m
}

// Jobs is the workload of a seed, in the order of submission.
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

// evolving is a job of three steps: it grows twice, or once and shrinks again. It ends within its last step.
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

// area is the node-seconds that a job uses.
func (j Job) area() float64 {
	if j.Profile == nil {
		return float64(j.Nodes) * float64(j.Runs)
	}
	early := int64(j.Profile[len(j.Profile)-1].Nodes) * (j.Asks - j.Runs)
	return float64(j.Profile.Area() - early)
}

// Spell is what became of a job.
type Spell struct {
	Job
	Start, End float64 // after the beginning of the workload
}

// Figures are those of some jobs.
type Figures struct{ Wait, Slowdown, Longest float64 }

// shortest is the run time below which a slowdown is counted as of so long a job.
const shortest = 10

// figures counts waits from the second in which it was a job's turn to be submitted: it is the same under every policy, however long it took
// to submit the job.
func figures(all []Spell) (f Figures) {
	for _, s := range all {
		wait := max(0, s.Start-s.At.Seconds())
		f.Wait += wait / float64(len(all))
		f.Slowdown += max(1, (s.End-s.At.Seconds())/math.Max(float64(s.Runs), shortest)) / float64(len(all))
		f.Longest = max(f.Longest, wait)
	}
	return f
}

// Hold is nodes that a job holds for some time; one that evolves may have several at once.
type Hold struct {
	From, To float64 // after the beginning of the workload
	Nodes    int
}

// Busy is how many nodes are held in the mean while so many jobs wait, or more; 0 when they never do.
func Busy(all []Spell, holds []Hold, waiting int) float64 {
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

// Measured is the figures of a workload's jobs: of all, of those that evolve, and of the others.
type Measured struct{ All, Evolving, Others Figures }

// Measure is that of a workload.
func Measure(all []Spell) Measured {
	evolves := func(s Spell) bool { return s.Profile != nil }
	others := slices.DeleteFunc(slices.Clone(all), evolves)
	evolving := slices.DeleteFunc(slices.Clone(all), func(s Spell) bool { return !evolves(s) })
	return Measured{figures(all), figures(evolving), figures(others)}
}
