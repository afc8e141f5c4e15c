// Package advise says which jobs of the past would have gained by an evolution profile, and writes the line that they could have
// carried. It is pure: what it reads are values, and the same values give the same advice.
//
//	report := advise.Make(runs, advise.Options{}) // runs: jobs that are over, with their steps, from the accounting
//	for _, a := range report.Advice {
//		fmt.Println(a.User, a.Name, a.Line) // ada mesh_# #EP 2x20m,16x1h10m,2x25m
//	}
//
// observe.go says what a job used, join.go makes that coarse enough to be written, group.go finds jobs that are run again and again,
// suggest.go makes one line for all runs of a group, and judges it by runs that it has not seen. sizes.go does the same for jobs that were run
// on several sizes, by the curves of curves.go.
package advise

import (
	"cmp"
	"slices"

	"accordion/core"
)

// Run is one job that is over, as the accounting has it.
type Run struct {
	ID                             string // as users know it: 123, or 123_4 for a task of an array
	User, Account, Partition, Name string
	Submit, Start, End             core.Time // Unix seconds, Start < End
	Requested                      int       // nodes asked for
	Limit                          core.Time // seconds asked for; 0: none, or nobody knows
	Held                           int       // nodes it had, all the time
	Completed                      bool      // it came to its own end: its steps lasted as long as they do
	Exact                          bool      // runs of its job have the same name, digits and all
	Script                         int32     // the node of its script, as Step.Nodes has them; below 0: it has no script
	Steps                          []Step    // what it started with srun, in the order of their beginnings
}

// Step is a job step: a program on some of the job's nodes for a while.
type Step struct {
	Name     string
	From, To core.Time // Unix seconds
	Nodes    []int32   // numbers that stand for nodes, each once; shared between steps, never changed
}

// Options say how advice is made. The zero value is what users get who say nothing.
type Options struct {
	Shortest core.Time // of a profile's steps, seconds; 0: 60, or 2 % of the job where that is more
	Quantile float64   // of the durations seen, above 0 and up to 1; 0: 0.9
	Margin   float64   // added to the quantile: 0.1 is a tenth; below 0: none; 0: 0.1
	Runs     int       // of a group, at least; 0: 3
	Period   core.Time // in which the runs were, seconds; less than a day, or 0: from the first start to the last end, a day at least
}

// The limits that hold where Options say nothing, and some that nobody chooses.
const (
	usualShortest   core.Time = 60
	shortestPerCent           = 2
	usualQuantile             = 0.9
	usualMargin               = 0.1
	usualRuns                 = 3
	day             core.Time = 24 * 60 * 60
	month                     = 30 * day
	growing         core.Time = 2 // seconds that a resize takes: the program is over, and the next cannot begin (docs/performance.md)
	shrinking       core.Time = 1
	mostSteps                 = 12   // of a line: nobody writes more, and more is seldom the same twice
	worth                     = 0.05 // of what a group held must be saved, or the line is not worth a user's time
	alike                     = 0.8  // of the runs that a line is made of have its shape, or there is no line
)

func (o Options) filled(runs []Run) Options {
	o.Quantile = cmp.Or(o.Quantile, usualQuantile)
	o.Margin = max(cmp.Or(o.Margin, usualMargin), 0)
	o.Runs = cmp.Or(o.Runs, usualRuns)
	if o.Period < day {
		var first, last core.Time
		for i := range runs {
			if r := &runs[i]; i == 0 || r.Start < first {
				first = r.Start
			}
			last = max(last, runs[i].End)
		}
		o.Period = max(last-first, day)
	}
	return o
}

// shortest is how long a step of a job's profile lasts at least.
func (o Options) shortest(length core.Time) core.Time {
	if o.Shortest > 0 {
		return o.Shortest
	}
	return max(usualShortest, (length*shortestPerCent+99)/100)
}

// Kind says what is advised to a group.
type Kind string

// The kinds of advice.
const (
	Evolving  Kind = "evolving" // carry the line
	Smaller   Kind = "smaller"  // ask for fewer nodes: some were never used
	LeftAlone Kind = "left"     // there is waste, and no one line for all: Why says so
)

// Advice is about one group of runs, or about those of its runs that have the same sequence of sizes. Areas are in node-seconds.
type Advice struct {
	Group
	Kind  Kind
	Line  string  // to be written into the script; "" where it is left alone
	EP    core.EP // of the line; of one step where fewer nodes are advised
	Where []Where // `accordion step` goes there: one boundary less than the line has steps
	Why   string  // it is left alone
	// Where the runs of the group do not evolve alike: the sizes of these, such as "2, 16, 1 nodes", and how many runs the group has in all. "" where
	// it is about all of them, or those that are left.
	Sequence string
	Of       int
	shape    string // of these runs; "": whatever is not of another's

	Runs    int    // that came to their own end, and whose steps are known
	Checked int    // the last third of them, of which the line knows nothing
	OnTime  int    // of these, that would have kept to the line in each of its steps
	Held    int64  // by all runs
	Used    int64  // by the observed profiles of all runs
	Saved   int64  // had those of the line's shape carried it; where it is left alone: what is wasted
	Latest  string // the run of which Where tells
}

// Waste is what the runs held and no step used, in node-seconds.
func (a *Advice) Waste() int64 { return a.Held - a.Used }

// Report is the advice on all that was read.
type Report struct {
	Advice []Advice  // users who gain most first, and of each what gains most; what is left alone last
	Sizes  []Sizing  // of jobs that were run on several sizes, those that were run most often first
	Period core.Time // seconds: what is saved is saved in it
	Left   Left
	// Of all runs, in node-seconds: what they held, and what those of them held of which nobody knows what they used, or whose group has too few.
	Held, Unknown int64
}

// Monthly is node-seconds of the period as node-hours of 30 days.
func (r *Report) Monthly(area int64) float64 {
	return float64(area) / 3600 * float64(month) / float64(r.Period)
}

// For is the advice to the group of a run about which own is, and to its sequence of sizes; nil where there is none.
func (r *Report) For(own *Advice) *Advice {
	var found *Advice
	for i := range r.Advice {
		if a := &r.Advice[i]; a.Group == own.Group && (a.shape == own.shape || a.shape == "" && found == nil) {
			found = a
		}
	}
	return found
}

// LineCount returns the number of lines in the report, of profiles and of sizes.
func (r *Report) LineCount() int {
	n := len(r.Sizes)
	for i := range r.Advice {
		if r.Advice[i].Kind != LeftAlone {
			n++
		}
	}
	return n
}

// Left counts the runs of which nothing is said.
type Left struct {
	NotCompleted int // they failed, were cancelled or met their limit: their steps might have lasted longer
	NoSteps      int // they started nothing with srun: nobody knows what they used
	Seldom       int // their group has too few runs
	Sound        int // their group uses what it holds
}

// OnlyUser returns the user of all runs, or "" if there are no runs or several users.
func OnlyUser(runs []Run) string {
	for i := range runs {
		if runs[i].User != runs[0].User {
			return ""
		}
	}
	if len(runs) == 0 {
		return ""
	}
	return runs[0].User
}

// Latest returns the run with this ID that started last, or nil if there is none. Slurm uses the ID of a requeued job again.
func Latest(runs []Run, id string) *Run {
	var found *Run
	for i := range runs {
		if r := &runs[i]; r.ID == id && (found == nil || r.Start > found.Start) {
			found = r
		}
	}
	return found
}

// Make gives the advice on the runs, which may come in any order.
func Make(runs []Run, o Options) Report {
	o = o.filled(runs)
	report := Report{Period: o.Period}
	groups := gather(runs, &report.Left)
	for i := range runs {
		report.Held += max(runs[i].held(), 0)
	}
	report.Unknown = report.Held
	var watch watcher
	for _, g := range groups {
		if len(g.runs) < o.Runs {
			report.Left.Seldom += len(g.runs)
			continue
		}
		for _, r := range g.runs {
			report.Unknown -= r.held()
		}
		told, sound := o.advise(g, &watch)
		report.Left.Sound += sound
		report.Advice = append(report.Advice, told...)
	}
	order(report.Advice)
	report.Sizes = o.sizings(runs, report.Advice)
	return report
}

// order puts users first who gain most.
func order(all []Advice) {
	gain := map[string]int64{}
	for _, a := range all {
		if a.Kind != LeftAlone {
			gain[a.User] += a.Saved
		}
	}
	left := func(a *Advice) int {
		if a.Kind == LeftAlone {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b Advice) int {
		return cmp.Or(cmp.Compare(left(&a), left(&b)), cmp.Compare(gain[b.User], gain[a.User]), cmp.Compare(a.User, b.User),
			cmp.Compare(b.Saved, a.Saved), a.Group.compare(b.Group))
	})
}
