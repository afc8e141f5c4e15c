// Package advise finds jobs of the past that would have gained from an evolution profile, and writes the #EP request for their scripts.
// It is pure: the same input gives the same advice.
//
//	report := advise.Make(runs, advise.Options{}) // runs: finished jobs with their steps, from the accounting
//	for _, a := range report.Advice {
//		fmt.Println(a.User, a.Name, a.Line) // ada mesh_# #EP 2x20m,16x1h10m,2x25m
//	}
//
// observe.go computes which nodes a job used. join.go joins short steps. group.go groups runs of the same job.
// suggest.go computes one line for the runs of a group, and checks it with runs that it was not computed from.
// sizes.go does the same for jobs that ran on several sizes, with the speed-up curves of curves.go. log.go
// makes runs from a workload log, lines.go computes the sizes and times that a run would have had with its
// line, reviews.go compares the lines of managed jobs with their real steps, and check.go and script.go check
// requests that users wrote.
package advise

import (
	"cmp"
	"slices"

	"accordion/core"
)

// Run is one finished job of the accounting.
type Run struct {
	ID                             string // 123, or 123_4 for a task of an array
	User, Account, Partition, Name string
	Submit, Start, End             core.Time // Unix seconds, Start < End
	Requested                      int       // nodes that the job asked for
	Limit                          core.Time // requested seconds; 0 if there is no limit or it is unknown
	Held                           int       // nodes that the job had during its whole life
	Completed                      bool      // the job ended by itself: its last step was not cut off
	Exact                          bool      // runs of the same job have exactly this name; otherwise digits in names are ignored
	Script                         int32     // node of the batch script, numbered as in Step.Nodes; negative if there is no script
	Steps                          []Step    // job steps started with srun, in order of their starts
}

// Step is a job step: a program that ran on some of the job's nodes.
type Step struct {
	Name     string
	From, To core.Time // Unix seconds
	Nodes    []int32   // numbers of nodes, without duplicates; steps share these slices, so nothing may change them
}

// Options are the parameters of advice. The zero value has the defaults of the command.
type Options struct {
	Shortest core.Time // shortest step of a profile in seconds; 0 means 60, or 2 % of the job if that is more
	Quantile float64   // share of the runs whose steps must fit into the line's durations, above 0 and up to 1; 0 means 0.9
	Margin   float64   // share by which durations are lengthened, such as 0.1 for a tenth; a negative value means none, 0 means 0.1
	Runs     int       // minimum number of runs of a group; 0 means 3
	Period   core.Time // seconds in which the runs were submitted; if that is less than a day, the time from the first start to the last end is used
}

// Defaults of Options, and constants without an option.
const (
	defaultShortest core.Time = 60
	shortestPerCent           = 2
	defaultQuantile           = 0.9
	defaultMargin             = 0.1
	defaultRuns               = 3
	day             core.Time = 24 * 60 * 60
	month                     = 30 * day
	growSeconds     core.Time = 2 // seconds of a resize, during which the job holds the larger size without using it (docs/performance.md)
	shrinkSeconds   core.Time = 1
	maxSteps                  = 12   // maximum number of steps of a line: users write no longer ones, and longer sequences seldom repeat
	minSaving                 = 0.05 // a line must save at least this share of the area that its group held
	minAlike                  = 0.8  // at least this share of the runs of a line must have the same shape
)

func (o Options) filled(runs []Run) Options {
	o.Quantile = cmp.Or(o.Quantile, defaultQuantile)
	o.Margin = max(cmp.Or(o.Margin, defaultMargin), 0)
	o.Runs = cmp.Or(o.Runs, defaultRuns)
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

// shortest returns the minimum duration of a step of a job that lasted length seconds.
func (o Options) shortest(length core.Time) core.Time {
	if o.Shortest > 0 {
		return o.Shortest
	}
	return max(defaultShortest, (length*shortestPerCent+99)/100)
}

// Kind is the kind of advice for a group.
type Kind string

// The kinds of advice.
const (
	Evolving  Kind = "evolving" // use the line, an evolution profile
	Smaller   Kind = "smaller"  // ask for fewer nodes: some were never used
	LeftAlone Kind = "left"     // no line, although nodes are wasted; Advice.Why has the reason
)

// Advice is the advice for a group of runs, or for those runs of the group that have the same sequence of sizes. Areas are in node-seconds.
type Advice struct {
	Group
	Kind       Kind
	Line       string     // line to put into the script; "" for LeftAlone
	EP         core.EP    // profile of the line; a single step for Smaller
	Boundaries []Boundary // where to call accordion step: one boundary less than the line has steps
	Why        string     // reason for LeftAlone
	// Sequence is set if the runs of the group evolve differently. It has the sizes of the runs that this advice is about, such as "2, 16, 1
	// nodes". Of is the number of all runs of the group. Sequence is "" if the advice is about all runs, or about the rest of them.
	Sequence string
	Of       int
	shape    string // shape of these runs; "" stands for all runs whose shape has no advice of its own

	Runs    int    // runs that ended by themselves and have steps
	Checked int    // the last third of Runs, which the line was not computed from
	OnTime  int    // runs of Checked that would have kept to the line in each step
	Held    int64  // area that all runs held
	Used    int64  // area that the steps of all runs used
	Saved   int64  // area that would be saved if all runs that fit the line had used it; for LeftAlone the wasted area
	Latest  string // ID of the run from which Boundaries was computed
}

// Waste returns what the runs held without using it, in node-seconds.
func (a *Advice) Waste() int64 { return a.Held - a.Used }

// Report is the advice for all runs.
type Report struct {
	Advice   []Advice  // sorted by what the user gains, then by what the line saves; LeftAlone comes last
	Sizes    []Sizing  // jobs that ran on several sizes, those with most runs first
	Period   core.Time // seconds to which Advice.Saved refers
	NoAdvice NoAdvice
	// Held is the number of node-seconds that all runs held. Unknown is the part held by runs without steps, or in groups with too few
	// runs.
	Held, Unknown int64
}

// Monthly returns node-seconds of the report's period as node-hours per 30 days.
func (r *Report) Monthly(area int64) float64 {
	return float64(area) / 3600 * float64(month) / float64(r.Period)
}

// For returns the advice for the group and the sequence of sizes of a run, or nil if there is none. `own` is
// the result of ForRun for the run.
func (r *Report) For(own *Advice) *Advice {
	var found *Advice
	for i := range r.Advice {
		if a := &r.Advice[i]; a.Group == own.Group && (a.shape == own.shape || a.shape == "" && found == nil) {
			found = a
		}
	}
	return found
}

// LineCount returns the number of lines in the report.
func (r *Report) LineCount() int {
	n := len(r.Sizes)
	for i := range r.Advice {
		if r.Advice[i].Kind != LeftAlone {
			n++
		}
	}
	return n
}

// NoAdvice counts the runs without advice.
type NoAdvice struct {
	NotCompleted int // failed, canceled or at their time limit: their steps might have lasted longer
	NoSteps      int // started nothing with srun, so that their use of nodes is unknown
	TooFewRuns   int // their group has too few runs
	FullyUsed    int // their group uses what it holds
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

// Latest returns the run with this ID that started last, or nil. Slurm reuses the ID of a requeued job.
func Latest(runs []Run, id string) *Run {
	var found *Run
	for i := range runs {
		if r := &runs[i]; r.ID == id && (found == nil || r.Start > found.Start) {
			found = r
		}
	}
	return found
}

// Make returns the advice for the runs, which may be in any order.
func Make(runs []Run, o Options) Report {
	o = o.filled(runs)
	report := Report{Period: o.Period}
	groups := gather(runs, &report.NoAdvice)
	for i := range runs {
		report.Held += max(runs[i].held(), 0)
	}
	report.Unknown = report.Held
	var watch watcher
	for _, g := range groups {
		if len(g.runs) < o.Runs {
			report.NoAdvice.TooFewRuns += len(g.runs)
			continue
		}
		for _, r := range g.runs {
			report.Unknown -= r.held()
		}
		advised, sound := o.advise(g, &watch)
		report.NoAdvice.FullyUsed += sound
		report.Advice = append(report.Advice, advised...)
	}
	order(report.Advice)
	report.Sizes = o.sizings(runs, report.Advice)
	return report
}

// order sorts advice as in Report.Advice.
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
