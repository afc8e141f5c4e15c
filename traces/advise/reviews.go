package advise

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/ep"
)

// ManagedRun is one finished job that carried a line.
type ManagedRun struct {
	ID, User, Line string      // Line is what the user wrote
	Declared       core.EP     // steps of the line; if the line lists several sizes, only the size on which the job ran
	Began          core.Time   // Unix seconds
	Actual         []core.Time // real durations of the steps, in seconds: from when the nodes were usable until the script declared the step's end; has fewer steps than Declared if the job ended early
	Ended          bool        // the job ended by itself, in its last step
}

// complete reports whether the durations of all steps are known.
func (c *ManagedRun) complete() bool {
	return c.Ended && len(c.Actual) == len(c.Declared) && len(c.Declared) > 0
}

// Review compares the line of a user's jobs with their real durations.
type Review struct {
	User, Line string
	Declared   core.EP
	Runs       int          // jobs that ended by themselves
	Others     int          // jobs that did not end by themselves, or whose steps are unknown
	Steps      []StepReview // one per step of Declared
	Better     core.EP
	Checked    int    // the last third of Runs, which Better was not computed from
	Before     int    // runs of Checked that kept to Declared in each step
	OnTime     int    // runs of Checked that would have kept to Better
	Latest     string // ID of the last job of Runs
}

// StepReview compares one step of a line with the runs.
type StepReview struct {
	Median, Quantile core.Time // real duration: the median, and the quantile of Options
	Late             int       // runs in which the step lasted longer than the line says
	Delay            core.Time // maximum delay in seconds
}

// tolerance is the relative difference of a duration up to which a line counts as good enough.
const tolerance = 0.1

// Reviews returns one review per user and line. A review has a better line if there are enough runs and the
// durations differ by more than `tolerance`. The better line has the user's nodes, and durations computed as in
// advice. Reviews are sorted by the area between the durations of the line and the real ones, largest first.
func Reviews(jobs []ManagedRun, o Options) []Review {
	o = o.filled(nil)
	type key struct{ user, line, told string }
	by := map[key][]*ManagedRun{}
	for i := range jobs {
		j := &jobs[i]
		k := key{j.User, j.Line, j.Declared.String()}
		by[k] = append(by[k], j)
	}
	var all []Review
	for _, its := range by {
		all = append(all, o.review(its))
	}
	over := func(r *Review) (area int64) {
		for i, s := range r.Steps {
			area += max(r.Declared[i].Duration-s.Quantile, s.Quantile-r.Declared[i].Duration) * int64(r.Declared[i].Nodes) * int64(r.Runs)
		}
		return area
	}
	slices.SortFunc(all, func(a, b Review) int {
		return cmp.Or(cmp.Compare(over(&b), over(&a)), cmp.Compare(a.User, b.User), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Declared.String(), b.Declared.String()))
	})
	return all
}

// review returns the review of jobs with the same line.
func (o Options) review(jobs []*ManagedRun) Review {
	slices.SortFunc(jobs, func(a, b *ManagedRun) int { return cmp.Or(cmp.Compare(a.Began, b.Began), cmp.Compare(a.ID, b.ID)) })
	first := jobs[0]
	r := Review{User: first.User, Line: first.Line, Declared: first.Declared}
	whole := slices.DeleteFunc(slices.Clone(jobs), func(j *ManagedRun) bool { return !j.complete() })
	r.Runs, r.Others = len(whole), len(jobs)-len(whole)
	if r.Runs == 0 {
		return r
	}
	r.Latest = whole[r.Runs-1].ID
	for i := range r.Declared {
		r.Steps = append(r.Steps, o.kept(whole, i))
	}
	if r.Runs < o.Runs {
		return r
	}
	r.Checked = r.Runs / 3
	known, last := whole[:r.Runs-r.Checked], whole[r.Runs-r.Checked:]
	better := make(core.EP, len(r.Declared))
	far := false
	for i, s := range r.Declared {
		better[i] = core.Step{Duration: o.rounded(o.kept(known, i).Quantile), Nodes: s.Nodes}
		by := better[i].Duration - s.Duration
		far = far || float64(max(by, -by)) > tolerance*float64(s.Duration)
	}
	for _, j := range last {
		r.Before += kept(j.Actual, r.Declared)
		r.OnTime += kept(j.Actual, better)
	}
	if far && ep.Format(better) != ep.Format(r.Declared) {
		r.Better = better
	}
	return r
}

// kept compares one step of the line with the jobs.
func (o Options) kept(jobs []*ManagedRun, step int) (k StepReview) {
	var lengths []core.Time
	for _, j := range jobs {
		lengths = append(lengths, j.Actual[step])
		if late := j.Actual[step] - j.Declared[step].Duration; late > 0 {
			k.Late++
			k.Delay = max(k.Delay, late)
		}
	}
	k.Median, k.Quantile = Quantile(lengths, 0.5), Quantile(lengths, o.Quantile)
	return k
}

// kept returns 1 if no step lasted longer than in the line, and 0 otherwise.
func kept(real []core.Time, line core.EP) int {
	for i, d := range real {
		if d > line[i].Duration {
			return 0
		}
	}
	return 1
}
