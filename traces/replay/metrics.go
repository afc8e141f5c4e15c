package replay

import (
	"math"
	"slices"

	"accordion/core"
	"accordion/traces/workload"
)

// Metrics are the figures of one replay: the content of metrics.json. Times and their means are seconds, areas
// node-seconds, shares percentages.
//
// A job that never began is in NeverBegan and in no other figure.
type Metrics struct {
	Trace      string `json:"trace"`
	Policy     string `json:"policy"`
	Nodes      int    `json:"nodes"`       // of the machine
	Jobs       int    `json:"jobs"`        // in the workload
	Evolving   int    `json:"evolving"`    // of them
	Moldable   int    `json:"moldable"`    // of them
	Cut        int    `json:"cut"`         // ran longer in the log than they asked for, and end there
	NeverBegan int    `json:"never_began"` // got no place
	// FirstSubmit and LastEnd are seconds of the log; Makespan lies between them.
	FirstSubmit core.Time `json:"first_submit"`
	LastEnd     core.Time `json:"last_end"`
	Makespan    core.Time `json:"makespan"`
	// HeldArea is what jobs occupied, WorkedArea what they needed for their work: less where an evolving job waited in a
	// step or was run rigidly, and of a moldable job what it held in the log. Utilisation and EffectiveUtilisation are
	// their shares of machine × makespan; Waste is what was held for nothing, in percent of what was needed, below 0
	// where moldable jobs ran on small sizes with less overhead than in the log.
	HeldArea             float64 `json:"held_area"`
	WorkedArea           float64 `json:"worked_area"`
	Utilisation          float64 `json:"utilisation"`
	EffectiveUtilisation float64 `json:"effective_utilisation"`
	Waste                float64 `json:"waste"`

	// MoldableTurnaround and OtherTurnaround are means of the turnaround of moldable jobs and of all others; 0 where there are none.
	MoldableTurnaround float64 `json:"moldable_turnaround"`
	OtherTurnaround    float64 `json:"other_turnaround"`

	ByKind []Kind `json:"by_kind"` // evolving, moldable, rigid jobs; a kind of which none began is left out

	Figures
	BySize   []Class `json:"by_size"`   // of the nodes that jobs asked for: their peak
	ByLength []Class `json:"by_length"` // of their run time in the log
	Weeks    []Week  `json:"weeks"`     // from FirstSubmit on, 604,800 seconds each; at most MaxWeeks
}

// Figures are what users feel, of some jobs.
type Figures struct {
	Waiting    Distribution `json:"waiting"`          // from submission to start
	Turnaround Distribution `json:"turnaround"`       // from submission to end
	Slowdown   Distribution `json:"bounded_slowdown"` // turnaround / run time (Outcome.Slowdown), runs below 10 s counted as 10 s; at least 1
}

// Kind is the jobs that tell as much of what they need. The means are of those that began, in seconds.
type Kind struct {
	Kind        string  `json:"kind"` // workload.Kinds
	Jobs        int     `json:"jobs"`
	Waiting     float64 `json:"waiting"`
	LongestWait float64 `json:"longest_wait"`
	Turnaround  float64 `json:"turnaround"`
	Slowdown    float64 `json:"bounded_slowdown"`
}

// Distribution tells how values are spread. A quantile is the least value that so many percent of the values do not exceed.
// Of no values all are 0.
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

// Class is the jobs of similar size or length.
type Class struct {
	Class string    `json:"class"` // in words: "9-64"
	From  core.Time `json:"from"`  // nodes, or seconds
	To    core.Time `json:"to"`    // included; −1: without end
	Jobs  int       `json:"jobs"`
	Held  float64   `json:"held_area"`
	Figures
}

// Week is one week of a replay.
type Week struct {
	Week      int       `json:"week"`      // from 0
	From      core.Time `json:"from"`      // its first second
	Submitted int       `json:"submitted"` // jobs
	Waiting   float64   `json:"waiting"`   // mean of the jobs submitted in it, seconds
	Slowdown  float64   `json:"bounded_slowdown"`
	Held      float64   `json:"held_area"`   // within it
	Busy      float64   `json:"utilisation"` // Held in percent of the machine; the last week up to the last end
	Queue     float64   `json:"queue"`       // jobs that wait, on average over it
}

// Bounds of the series, and of the bounded slowdown.
const (
	week     core.Time = 7 * 24 * 60 * 60
	MaxWeeks           = 5218 // of a hundred years: later ones are not in the series
	bound    core.Time = 10   // seconds: Figures.Slowdown
)

// Classes are ranges of whole numbers: each ends at its value, and the last has no end.
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

// Of is the class of a value, among Names.
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
	m.OtherTurnaround = mean(slices.Concat(kinds[workload.Evolving].turnarounds, kinds[workload.Rigid].turnarounds))
	m.ByKind = byKind(kinds[:])
	m.Figures = all.figures()
	m.BySize = SizeClasses.measure(sizes)
	m.ByLength = LengthClasses.measure(lengths)
	m.Weeks = weeks(w, r, m.FirstSubmit, m.LastEnd)
	return m
}

// byKind is the kinds of which jobs began.
func byKind(of []samples) []Kind {
	all := []Kind{}
	for _, kind := range []workload.Kind{workload.Evolving, workload.Moldable, workload.Rigid} {
		if s := &of[kind]; len(s.waits) > 0 {
			all = append(all, Kind{
				Kind: kind.String(), Jobs: len(s.waits), Waiting: mean(s.waits), LongestWait: slices.Max(s.waits),
				Turnaround: mean(s.turnarounds), Slowdown: mean(s.slowdowns),
			})
		}
	}
	return all
}

// Of is the jobs of a kind; zero where none began.
func (m *Metrics) Of(kind workload.Kind) Kind {
	for _, k := range m.ByKind {
		if k.Kind == kind.String() {
			return k
		}
	}
	return Kind{Kind: kind.String()}
}

// count notes what kind of job it is, and when it ended.
func (m *Metrics) count(j *workload.Job, o Outcome) {
	switch j.Kind() {
	case workload.Evolving:
		m.Evolving++
	case workload.Moldable:
		m.Moldable++
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

// measure gives each class its figures.
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

// figures sorts the samples.
func (s *samples) figures() Figures {
	return Figures{Waiting: distribution(s.waits), Turnaround: distribution(s.turnarounds), Slowdown: distribution(s.slowdowns)}
}

// distribution sorts the values.
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

// mean of no values is 0.
func mean(values []float64) float64 { return sum(values) / float64(max(len(values), 1)) }

// sum adds up without losing digits (Neumaier, 1974): a mean is the same in whatever order others add.
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

// weeks is the weekly series from one second to another.
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

// spread gives each week the seconds of a stretch that lie in it.
func spread(all []Week, from, to core.Time, add func(*Week, float64)) {
	for k := weekOf(all, from); k < len(all) && all[k].From < to; k++ {
		if seconds := min(to, all[k].From+week) - max(from, all[k].From); seconds > 0 {
			add(&all[k], float64(seconds))
		}
	}
}

// weekOf is in which week a second lies.
func weekOf(all []Week, at core.Time) int {
	if len(all) == 0 {
		return 0
	}
	return int(max(0, min((at-all[0].From)/week, int64(len(all)))))
}
