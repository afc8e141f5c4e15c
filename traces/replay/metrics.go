package replay

import (
	"math"
	"slices"

	"accordion/core"
	"accordion/traces/workload"
)

// Metrics are the figures of one replay: the content of metrics.json. Times and their means are in seconds, areas in node-seconds, shares in
// percent.
//
// A job that never began counts in NeverBegan and in no other figure.
type Metrics struct {
	Trace      string `json:"trace"`
	Policy     string `json:"policy"`
	Nodes      int    `json:"nodes"`    // number of nodes of the machine
	Jobs       int    `json:"jobs"`     // number of jobs in the workload
	Evolving   int    `json:"evolving"` // number of evolving jobs among Jobs
	Moldable   int    `json:"moldable"` // number of moldable jobs among Jobs
	Malleable  int    `json:"malleable,omitempty"`
	Cut        int    `json:"cut"`         // number of jobs that ran longer in the log than requested, and are cut at the requested time
	NeverBegan int    `json:"never_began"` // number of jobs that were never started
	// FirstSubmit and LastEnd are seconds of the log. Makespan is their difference.
	FirstSubmit core.Time `json:"first_submit"`
	LastEnd     core.Time `json:"last_end"`
	Makespan    core.Time `json:"makespan"`
	// HeldArea is the area that jobs held. WorkedArea is the area that they needed for their work. WorkedArea
	// is smaller if an evolving job waited in a step or was run as a rigid job. For a moldable job WorkedArea
	// has the area that the job held in the log. Utilisation is HeldArea as a share of machine × makespan, and
	// EffectiveUtilisation is WorkedArea as a share of the same product. Waste is HeldArea minus WorkedArea, in
	// percent of WorkedArea. Waste is negative if moldable jobs ran on smaller sizes than in the log, with less
	// overhead.
	HeldArea             float64 `json:"held_area"`
	WorkedArea           float64 `json:"worked_area"`
	Utilisation          float64 `json:"utilisation"`
	EffectiveUtilisation float64 `json:"effective_utilisation"`
	Waste                float64 `json:"waste"`

	// MoldableTurnaround and OtherTurnaround are the mean turnarounds of moldable jobs and of all others. They are 0 if there are no such
	// jobs.
	MoldableTurnaround float64 `json:"moldable_turnaround"`
	OtherTurnaround    float64 `json:"other_turnaround"`

	Resizes Resizes `json:"resizes,omitzero"` // of malleable jobs

	ByKind []Kind `json:"by_kind"` // one per kind of jobs, except kinds of which no job began

	Figures
	BySize   []Class `json:"by_size"`   // by the largest size that a job requested
	ByLength []Class `json:"by_length"` // by run time in the log
	Weeks    []Week  `json:"weeks"`     // from FirstSubmit on, 604,800 seconds each; at most MaxWeeks
}

// Figures are the figures of some jobs that matter to users.
type Figures struct {
	Waiting    Distribution `json:"waiting"`          // from submission to start
	Turnaround Distribution `json:"turnaround"`       // from submission to end
	Slowdown   Distribution `json:"bounded_slowdown"` // turnaround / run time (Outcome.Slowdown), where a run time below 10 s counts as 10 s; at least 1
}

// Kind is the jobs of one kind: rigid, moldable or evolving. The means cover jobs that began, in seconds.
type Kind struct {
	Kind        string  `json:"kind"` // workload.Kinds
	Jobs        int     `json:"jobs"`
	Waiting     float64 `json:"waiting"`
	LongestWait float64 `json:"longest_wait"`
	Turnaround  float64 `json:"turnaround"`
	Slowdown    float64 `json:"bounded_slowdown"`
}

// Distribution describes how values are distributed. A percentile is the smallest value that this percentage of the values does not exceed.
// Without values all fields are 0.
type Distribution struct {
	Mean   float64 `json:"mean"`
	P25    float64 `json:"p25"`
	Median float64 `json:"median"`
	P75    float64 `json:"p75"`
	P90    float64 `json:"p90"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// Class is jobs of similar size or length.
type Class struct {
	Class string    `json:"class"` // name: "9-64"
	From  core.Time `json:"from"`  // nodes or seconds
	To    core.Time `json:"to"`    // inclusive; −1 means no upper limit
	Jobs  int       `json:"jobs"`
	Held  float64   `json:"held_area"`
	Figures
}

// Week is one week of a replay.
type Week struct {
	Week      int       `json:"week"`      // number of the week; the first week is 0
	From      core.Time `json:"from"`      // first second of the week
	Submitted int       `json:"submitted"` // number of jobs submitted in the week
	Waiting   float64   `json:"waiting"`   // mean of the jobs submitted in the week, in seconds
	Slowdown  float64   `json:"bounded_slowdown"`
	Held      float64   `json:"held_area"`   // area held in this week
	Busy      float64   `json:"utilisation"` // Held in percent of the machine; the last week ends with the last job
	Queue     float64   `json:"queue"`       // mean number of waiting jobs
}

// Limits of the weekly series and of the bounded slowdown.
const (
	week     core.Time = 7 * 24 * 60 * 60
	MaxWeeks           = 5218 // a hundred years: later weeks are left out
	bound    core.Time = 10   // seconds: Figures.Slowdown
)

// Classes are consecutive ranges of whole numbers. Each ends at its value of Ends; the last one has no end.
type Classes struct {
	Names []string
	Ends  []int64
}

// The classes of Metrics.BySize, by a job's Size, and of Metrics.ByLength, by its Run.
var (
	SizeClasses   = Classes{[]string{"1", "2-8", "9-64", "65-512", "more than 512"}, []int64{1, 8, 64, 512}}
	LengthClasses = Classes{
		[]string{"up to 1 min", "1-10 min", "10-60 min", "1-6 h", "6-24 h", "more than 24 h"},
		[]int64{60, 600, 3600, 6 * 3600, 24 * 3600},
	}
)

// Of returns the class of a value, as an index of Names.
func (c Classes) Of(value int64) int {
	at, _ := slices.BinarySearch(c.Ends, value)
	return at
}

// Measure computes the metrics of a result.
func Measure(w workload.Workload, r Result) Metrics {
	m := Metrics{Trace: w.Name, Policy: r.Policy, Nodes: w.Machine.Nodes, Jobs: len(w.Jobs)}
	var (
		all     samples
		kinds   [len(workload.Kinds)]samples
		sizes   = make([]samples, len(SizeClasses.Names))
		lengths = make([]samples, len(LengthClasses.Names))
	)
	for i, o := range r.Outcomes {
		j := &w.Jobs[i]
		m.count(j, o)
		if o.Start < 0 {
			continue
		}
		held := float64(o.Area(j))
		m.HeldArea += held
		m.WorkedArea += float64(j.Need())
		all.add(j, o, held)
		kinds[j.Kind()].add(j, o, held)
		sizes[SizeClasses.Of(int64(j.Size))].add(j, o, held)
		lengths[LengthClasses.Of(j.Run)].add(j, o, held)
	}
	if len(w.Jobs) > 0 {
		m.FirstSubmit = w.Jobs[0].Submit
		m.LastEnd = max(m.LastEnd, m.FirstSubmit)
	}
	m.Makespan = m.LastEnd - m.FirstSubmit
	if room := float64(m.Nodes) * float64(m.Makespan); room > 0 {
		m.Utilisation = 100 * m.HeldArea / room
		m.EffectiveUtilisation = 100 * m.WorkedArea / room
	}
	if m.WorkedArea > 0 {
		m.Waste = 100 * (m.HeldArea - m.WorkedArea) / m.WorkedArea
	}
	m.MoldableTurnaround = mean(kinds[workload.Moldable].turnarounds)
	m.OtherTurnaround = mean(slices.Concat(kinds[workload.Malleable].turnarounds, kinds[workload.Evolving].turnarounds, kinds[workload.Rigid].turnarounds))
	m.ByKind = byKind(kinds[:])
	m.Resizes = resizes(w, r, m.Makespan)
	m.Figures = all.figures()
	m.BySize = SizeClasses.measure(sizes)
	m.ByLength = LengthClasses.measure(lengths)
	m.Weeks = weeks(w, r, m.FirstSubmit, m.LastEnd)
	return m
}

// byKind returns the kinds of which jobs began.
func byKind(of []samples) []Kind {
	all := []Kind{}
	for _, kind := range []workload.Kind{workload.Malleable, workload.Evolving, workload.Moldable, workload.Rigid} {
		if s := &of[kind]; len(s.waits) > 0 {
			all = append(all, Kind{
				Kind: kind.String(), Jobs: len(s.waits), Waiting: mean(s.waits), LongestWait: slices.Max(s.waits),
				Turnaround: mean(s.turnarounds), Slowdown: mean(s.slowdowns),
			})
		}
	}
	return all
}

// Of returns the figures of the jobs of a kind. All of them are zero if no job of this kind began.
func (m *Metrics) Of(kind workload.Kind) Kind {
	for _, k := range m.ByKind {
		if k.Kind == kind.String() {
			return k
		}
	}
	return Kind{Kind: kind.String()}
}

// count counts a job by its kind, and updates the last end.
func (m *Metrics) count(j *workload.Job, o Outcome) {
	switch j.Kind() {
	case workload.Evolving:
		m.Evolving++
	case workload.Moldable:
		m.Moldable++
	case workload.Malleable:
		m.Malleable++
	}
	if j.Cut {
		m.Cut++
	}
	if o.Start < 0 {
		m.NeverBegan++
	} else {
		m.LastEnd = max(m.LastEnd, o.End)
	}
}

// measure returns the figures of each class.
func (c Classes) measure(of []samples) []Class {
	all := make([]Class, len(of))
	from := int64(0)
	for i := range of {
		to := int64(-1)
		if i < len(c.Ends) {
			to = c.Ends[i]
		}
		all[i] = Class{Class: c.Names[i], From: from + 1, To: to, Jobs: len(of[i].waits), Held: of[i].held, Figures: of[i].figures()}
		from = to
	}
	return all
}

// samples are the values of some jobs.
type samples struct {
	waits, turnarounds, slowdowns []float64
	held                          float64
}

func (s *samples) add(j *workload.Job, o Outcome, held float64) {
	s.waits = append(s.waits, float64(o.Start-j.Submit))
	s.turnarounds = append(s.turnarounds, float64(o.End-j.Submit))
	s.slowdowns = append(s.slowdowns, o.Slowdown(j))
	s.held += held
}

// figures returns the distributions of the samples. It sorts them.
func (s *samples) figures() Figures {
	return Figures{Waiting: distribution(s.waits), Turnaround: distribution(s.turnarounds), Slowdown: distribution(s.slowdowns)}
}

// distribution returns the distribution of the values. It sorts them.
func distribution(values []float64) Distribution {
	if len(values) == 0 {
		return Distribution{}
	}
	slices.Sort(values)
	at := func(percent int) float64 { return values[(len(values)*percent+99)/100-1] }
	return Distribution{
		Mean: mean(values), P25: at(25), Median: at(50), P75: at(75), P90: at(90), P95: at(95), P99: at(99),
		Max: values[len(values)-1],
	}
}

// mean returns the mean of the values, or 0 if there are none.
func mean(values []float64) float64 { return sum(values) / float64(max(len(values), 1)) }

// sum adds values without losing digits (Neumaier, 1974), so that a mean does not depend on the order of the values.
func sum(values []float64) float64 {
	total, lost := 0.0, 0.0
	for _, v := range values {
		next := total + v
		if math.Abs(total) >= math.Abs(v) {
			lost += total - next + v
		} else {
			lost += v - next + total
		}
		total = next
	}
	return total + lost
}

// weeks returns the weekly series between two seconds.
func weeks(w workload.Workload, r Result, from, to core.Time) []Week {
	n := int(min((to-from+week-1)/week, MaxWeeks))
	all := make([]Week, n)
	for k := range all {
		all[k].Week, all[k].From = k, from+core.Time(k)*week
	}
	for i, o := range r.Outcomes {
		j := &w.Jobs[i]
		if o.Start < 0 {
			continue
		}
		if k := (j.Submit - from) / week; k < int64(n) {
			all[k].Submitted++
			all[k].Waiting += float64(o.Start - j.Submit)
			all[k].Slowdown += o.Slowdown(j)
		}
		spread(all, j.Submit, o.Start, func(k *Week, seconds float64) { k.Queue += seconds })
		at := o.Start
		for s := range o.sizes(j) {
			spread(all, at, at+s.Duration, func(k *Week, seconds float64) { k.Held += seconds * float64(s.Nodes) })
			at += s.Duration
		}
	}
	for k := range all {
		length := float64(min(week, to-all[k].From))
		all[k].Queue /= length
		all[k].Busy = 100 * all[k].Held / (length * float64(w.Machine.Nodes))
		all[k].Waiting /= math.Max(float64(all[k].Submitted), 1)
		all[k].Slowdown /= math.Max(float64(all[k].Submitted), 1)
	}
	return all
}

// spread calls `add` for each week, with the number of seconds of a period that are in this week.
func spread(all []Week, from, to core.Time, add func(*Week, float64)) {
	for k := weekOf(all, from); k < len(all) && all[k].From < to; k++ {
		if seconds := min(to, all[k].From+week) - max(from, all[k].From); seconds > 0 {
			add(&all[k], float64(seconds))
		}
	}
}

// weekOf returns the index of the week of a second.
func weekOf(all []Week, at core.Time) int {
	if len(all) == 0 {
		return 0
	}
	return int(max(0, min((at-all[0].From)/week, int64(len(all)))))
}
