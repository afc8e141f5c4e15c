package whatif

import (
	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// Case is a replay of one of the two workloads. The first of several is the site as it was.
type Case struct {
	Policy   string
	Lines    bool // of the workload in which jobs tell
	Jobs     []workload.Job
	Outcomes []replay.Outcome // beside Jobs
}

// Result is what the lines would have changed.
type Result struct {
	Weeks      int // in which jobs were submitted
	NeverBegan int // jobs that got no place in one of the cases: they are in no figure
	Carriers   Group
	Others     Group
}

// Group is some of the jobs, under each of the cases.
type Group struct {
	Jobs int
	Rows []Row // beside the cases
}

// Row is what these jobs came to in a case.
type Row struct {
	Policy string
	Lines  bool
	Of     [Kinds]Figure
}

// Kind says of what a figure is.
type Kind int

// The kinds of figures.
const (
	Wait       Kind = iota // from submission to start: the mean, seconds
	Turnaround             // from submission to end: the mean, seconds
	Slowdown               // the mean of the turnaround over the run time as it was, of 10 s at least, and not below 1
	NodeHours              // that were held, all together
	Kinds      = 4
)

// KindNames are their names for programs, by kind.
var KindNames = [Kinds]string{Wait: "wait", Turnaround: "turnaround", Slowdown: "bounded_slowdown", NodeHours: "node_hours"}

// Figure is a value, and how far it is from others.
type Figure struct {
	Value float64
	Now   Change  // from the first case
	Alone *Change // from the same policy without lines: what these add; nil where there is no such case, or it is the first one
}

const (
	week  core.Time = 7 * 24 * 60 * 60
	bound core.Time = 10 // seconds, of a slowdown
)

// sums are of the jobs of a group that were submitted in a week: the values of the figures, and how many jobs.
type sums struct {
	of     [Kinds][]float64
	counts []float64
}

// Compare measures the cases, which have the same jobs in the same order, those as they were in the first. Carries is beside the jobs. A slowdown is by the run time
// as it was, however long a job runs with its line.
func Compare(cases []Case, tells []bool, b Bootstrap) Result {
	weekOf, weeks := weeks(cases[0].Jobs)
	began, never := everywhere(cases)
	r := Result{Weeks: weeks, NeverBegan: never}
	for _, g := range []struct {
		group *Group
		tell  bool
	}{{&r.Carriers, true}, {&r.Others, false}} {
		in := make([]bool, len(tells))
		for i := range in {
			if in[i] = began[i] && tells[i] == g.tell; in[i] {
				g.group.Jobs++
			}
		}
		g.group.Rows = rows(cases, in, weekOf, weeks, b)
	}
	return r
}

// weeks gives each job its week. One in which no job was submitted is none.
func weeks(jobs []workload.Job) (of []int32, n int) {
	of = make([]int32, len(jobs))
	last := core.Time(-1)
	for i := range jobs { // in the order of submission
		if w := (jobs[i].Submit - jobs[0].Submit) / week; w != last {
			last = w
			n++
		}
		of[i] = int32(n - 1)
	}
	return of, n
}

// everywhere says which jobs began in all cases, and how many did not.
func everywhere(cases []Case) (began []bool, never int) {
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

// rows are the figures of the jobs in a group.
func rows(cases []Case, in []bool, weekOf []int32, weeks int, b Bootstrap) []Row {
	all := make([]Row, len(cases))
	its := make([]sums, len(cases))
	var differences []series
	for k := range cases {
		all[k] = Row{Policy: cases[k].Policy, Lines: cases[k].Lines}
		its[k] = sum(&cases[k], cases[0].Jobs, in, weekOf, weeks)
		its[k].into(&all[k])
		differences = append(differences, its[k].less(&its[0])...)
		if plain := without(cases, k); plain > 0 {
			differences = append(differences, its[k].less(&its[plain])...)
		}
	}
	changes := b.changes(weeks, differences)
	for k := range all {
		alone := without(cases, k) > 0
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

// without is the case of the same policy without lines; below 0 where the case has none itself, or there is no such case.
func without(cases []Case, k int) int {
	for i, c := range cases {
		if cases[k].Lines && !c.Lines && c.Policy == cases[k].Policy {
			return i
		}
	}
	return -1
}

// sum adds up what the jobs of a group came to. Jobs as they were are beside the case's.
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

// into writes the figures of all weeks together.
func (s *sums) into(r *Row) {
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

// less is how far the figures are from others', week by week. Node-hours are no mean.
func (s *sums) less(other *sums) []series {
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
