package whatif

import (
	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// Case is one replay. The first of several cases is the site as it was.
type Case struct {
	Policy   string
	Lines    bool // jobs carry the lines
	Jobs     []workload.Job
	Outcomes []replay.Outcome // one per job
}

// Result is what the lines would have changed.
type Result struct {
	Weeks      int // weeks in which jobs were submitted
	NeverBegan int // jobs that did not start in one of the cases; no figure includes them
	Carriers   Group
	Others     Group
}

// Group is either the jobs with lines or the others.
type Group struct {
	Jobs int
	Rows []Row // one per case
}

// Row is the result of a group in one case.
type Row struct {
	Policy string
	Lines  bool
	Of     [Kinds]Figure
}

// Kind is the kind of a figure.
type Kind int

// The kinds of figures.
const (
	Wait       Kind = iota // mean time from submission to start, in seconds
	Turnaround             // mean time from submission to end, in seconds
	Slowdown               // mean of turnaround over the original run time, which counts as at least 10 s; at least 1
	NodeHours              // sum over all jobs
	Kinds      = 4
)

// KindNames are the names of the kinds in JSON.
var KindNames = [Kinds]string{Wait: "wait", Turnaround: "turnaround", Slowdown: "bounded_slowdown", NodeHours: "node_hours"}

// Figure is a value and its differences.
type Figure struct {
	Value float64
	Now   Change  // difference to the first case
	Alone *Change // difference to the same policy without lines, which is the effect of the lines; nil if no such case exists
}

const (
	week  core.Time = 7 * 24 * 60 * 60
	bound core.Time = 10 // shortest run time of a slowdown, in seconds
)

// sums holds the weekly sums of each figure of one group of jobs, and the weekly number of jobs. A job belongs to the week of its submission.
type sums struct {
	of     [Kinds][]float64
	counts []float64
}

// Compare measures the cases, which have the same jobs in the same order. The first case has the jobs as they
// were. `carries` has for each job whether it carries a line. Slowdowns use the original run times in all
// cases, because a line may change the run time.
func Compare(cases []Case, carries []bool, b Bootstrap) Result {
	weekOf, weeks := weeks(cases[0].Jobs)
	began, never := startedInAll(cases)
	r := Result{Weeks: weeks, NeverBegan: never}
	for _, g := range []struct {
		group   *Group
		carries bool
	}{{&r.Carriers, true}, {&r.Others, false}} {
		in := make([]bool, len(carries))
		for i := range in {
			if in[i] = began[i] && carries[i] == g.carries; in[i] {
				g.group.Jobs++
			}
		}
		g.group.Rows = rows(cases, in, weekOf, weeks, b)
	}
	return r
}

// weeks returns the week of each job, and the number of weeks. It skips weeks without submissions.
func weeks(jobs []workload.Job) (of []int32, n int) {
	of = make([]int32, len(jobs))
	last := core.Time(-1)
	for i := range jobs { // they are in order of submission
		if w := (jobs[i].Submit - jobs[0].Submit) / week; w != last {
			last = w
			n++
		}
		of[i] = int32(n - 1)
	}
	return of, n
}

// startedInAll returns which jobs started in all cases, and how many did not.
func startedInAll(cases []Case) (began []bool, never int) {
	began = make([]bool, len(cases[0].Jobs))
	for i := range began {
		began[i] = true
		for _, c := range cases {
			began[i] = began[i] && c.Outcomes[i].Start >= 0
		}
		if !began[i] {
			never++
		}
	}
	return began, never
}

// rows returns the figures of the jobs in a group.
func rows(cases []Case, in []bool, weekOf []int32, weeks int, b Bootstrap) []Row {
	all := make([]Row, len(cases))
	its := make([]sums, len(cases))
	var differences []series
	for k := range cases {
		all[k] = Row{Policy: cases[k].Policy, Lines: cases[k].Lines}
		its[k] = sum(&cases[k], cases[0].Jobs, in, weekOf, weeks)
		its[k].setValues(&all[k])
		differences = append(differences, its[k].minus(&its[0])...)
		if plain := caseWithoutLines(cases, k); plain > 0 {
			differences = append(differences, its[k].minus(&its[plain])...)
		}
	}
	changes := b.changes(weeks, differences)
	for k := range all {
		alone := caseWithoutLines(cases, k) > 0
		for i := range all[k].Of {
			all[k].Of[i].Now = changes[i]
			if alone {
				all[k].Of[i].Alone = &changes[Kinds+i]
			}
		}
		if changes = changes[Kinds:]; alone {
			changes = changes[Kinds:]
		}
	}
	return all
}

// caseWithoutLines returns the index of the case with the same policy and no lines. It returns −1 if case k has no lines itself, or no such
// case exists.
func caseWithoutLines(cases []Case, k int) int {
	for i, c := range cases {
		if cases[k].Lines && !c.Lines && c.Policy == cases[k].Policy {
			return i
		}
	}
	return -1
}

// sum returns the sums of a group in one case. `were` has the jobs as they were.
func sum(c *Case, were []workload.Job, in []bool, weekOf []int32, weeks int) sums {
	s := sums{counts: make([]float64, weeks)}
	for i := range s.of {
		s.of[i] = make([]float64, weeks)
	}
	for i := range c.Jobs {
		if !in[i] {
			continue
		}
		j, o, w := &c.Jobs[i], &c.Outcomes[i], weekOf[i]
		turnaround := float64(o.End - j.Submit)
		s.counts[w]++
		s.of[Wait][w] += float64(o.Start - j.Submit)
		s.of[Turnaround][w] += turnaround
		s.of[Slowdown][w] += max(1, turnaround/float64(max(were[i].Run, bound)))
		s.of[NodeHours][w] += float64(o.Area(j)) / 3600
	}
	return s
}

// setValues sets the values of a row from the sums of all weeks.
func (s *sums) setValues(r *Row) {
	n := 0.0
	for _, jobs := range s.counts {
		n += jobs
	}
	for i := range r.Of {
		for _, v := range s.of[i] {
			r.Of[i].Value += v
		}
		if Kind(i) != NodeHours {
			r.Of[i].Value /= max(n, 1)
		}
	}
}

// minus returns the differences to the figures of other, per week. Node-hours are a sum, the other figures are means.
func (s *sums) minus(other *sums) []series {
	all := make([]series, Kinds)
	for i := range all {
		all[i].sums, all[i].base = make([]float64, len(s.counts)), other.of[i]
		for w := range s.counts {
			all[i].sums[w] = s.of[i][w] - other.of[i][w]
		}
		if Kind(i) != NodeHours {
			all[i].counts = s.counts
		}
	}
	return all
}
