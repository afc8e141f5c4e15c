package advise

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/ep"
)

// Carried is one job that carried a line, and is over.
type Carried struct {
	ID, User, Line string      // the line as its user wrote it
	Told           core.EP     // what it told: of several sizes the one on which it ran
	Began          core.Time   // Unix seconds
	Real           []core.Time // how long its steps took, seconds, from when their nodes were there until its application said that they were over; fewer than Told where it did not come to all
	Ended          bool        // it came to its own end in the last of them
}

// whole says whether the job says something of each of its steps.
func (c *Carried) whole() bool { return c.Ended && len(c.Real) == len(c.Told) && len(c.Told) > 0 }

// Review is how the jobs of a user kept to one line.
type Review struct {
	User, Line string
	Told       core.EP
	Runs       int    // that came to their own end
	Others     int    // that did not, or of which the steps are not known
	Steps      []Kept // beside Told
	Better     core.EP
	Checked    int    // the last third of the runs, of which Better knows nothing
	Before     int    // of these, that kept to the line in each step
	OnTime     int    // of these, that would have kept to Better
	Latest     string // the last of the runs
}

// Kept is how the runs kept to one step of their line.
type Kept struct {
	Median, Mostly core.Time // how long it took: half of the runs up to this, and the quantile of Options
	Late           int       // runs that took longer than told
	By             core.Time // the most that one was late, seconds
}

// near is how far a line may be from a better one and is left as it is.
const near = 0.1

// Reviews says how jobs kept to the lines that they carried, and of each line of which enough runs are known a better one, where there is one: the
// nodes are the user's, the durations are made as those of advice are. Who promises most beyond what he needs comes first, by area.
func Reviews(jobs []Carried, o Options) []Review {
	o = o.filled(nil)
	type key struct{ user, line, told string }
	by := map[key][]*Carried{}
	for i := range jobs {
		j := &jobs[i]
		k := key{j.User, j.Line, j.Told.String()}
		by[k] = append(by[k], j)
	}
	var all []Review
	for _, its := range by {
		all = append(all, o.review(its))
	}
	over := func(r *Review) (area int64) {
		for i, s := range r.Steps {
			area += max(r.Told[i].Duration-s.Mostly, s.Mostly-r.Told[i].Duration) * int64(r.Told[i].Nodes) * int64(r.Runs)
		}
		return area
	}
	slices.SortFunc(all, func(a, b Review) int {
		return cmp.Or(cmp.Compare(over(&b), over(&a)), cmp.Compare(a.User, b.User), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Told.String(), b.Told.String()))
	})
	return all
}

// review is of jobs with one line.
func (o Options) review(jobs []*Carried) Review {
	slices.SortFunc(jobs, func(a, b *Carried) int { return cmp.Or(cmp.Compare(a.Began, b.Began), cmp.Compare(a.ID, b.ID)) })
	first := jobs[0]
	r := Review{User: first.User, Line: first.Line, Told: first.Told}
	whole := slices.DeleteFunc(slices.Clone(jobs), func(j *Carried) bool { return !j.whole() })
	r.Runs, r.Others = len(whole), len(jobs)-len(whole)
	if r.Runs == 0 {
		return r
	}
	r.Latest = whole[r.Runs-1].ID
	for i := range r.Told {
		r.Steps = append(r.Steps, o.kept(whole, i))
	}
	if r.Runs < o.Runs {
		return r
	}
	r.Checked = r.Runs / 3
	known, last := whole[:r.Runs-r.Checked], whole[r.Runs-r.Checked:]
	better := make(core.EP, len(r.Told))
	far := false
	for i, s := range r.Told {
		better[i] = core.Step{Duration: o.written(o.kept(known, i).Mostly), Nodes: s.Nodes}
		by := better[i].Duration - s.Duration
		far = far || float64(max(by, -by)) > near*float64(s.Duration)
	}
	for _, j := range last {
		r.Before += kept(j.Real, r.Told)
		r.OnTime += kept(j.Real, better)
	}
	if far && ep.Format(better) != ep.Format(r.Told) {
		r.Better = better
	}
	return r
}

// kept is of one step of the jobs.
func (o Options) kept(jobs []*Carried, step int) (k Kept) {
	var lengths []core.Time
	for _, j := range jobs {
		lengths = append(lengths, j.Real[step])
		if late := j.Real[step] - j.Told[step].Duration; late > 0 {
			k.Late++
			k.By = max(k.By, late)
		}
	}
	k.Median, k.Mostly = Quantile(lengths, 0.5), Quantile(lengths, o.Quantile)
	return k
}

// kept is 1 where each step took no longer than the line has it.
func kept(real []core.Time, line core.EP) int {
	for i, d := range real {
		if d > line[i].Duration {
			return 0
		}
	}
	return 1
}
