package managed

import (
	"slices"

	"accordion/core"
)

// ApplyLimit applies the time limit, in seconds, that a running job has in the batch system now. It
// reports whether the profile changed. The limit may end before the job's profile does, because the
// limit was shortened or steps began late. Then ApplyLimit removes steps that would begin after the
// limit, and shortens a step that would last longer. If the whole profile fits again, ApplyLimit
// restores it. A job that started without the sidecar keeps the limit that its user set.
func (r *Job) ApplyLimit(limit core.Time) bool {
	if r.Limit == 0 || r.Resizing() {
		return false
	}
	if limit >= core.Forever || limit >= r.Limit && (!r.Decided || r.WholeEnd() <= r.ends(limit)+Tolerance) {
		limit = 0
	}
	if limit == r.ShortLimit && (limit == 0 || r.End() <= r.ends(limit)+Tolerance) {
		return false
	}
	was := slices.Clone(r.Promise)
	r.restoreProfile()
	if r.ShortLimit = limit; limit > 0 {
		r.cutAt(r.ends(limit))
	}
	r.Unsaved = true
	return !slices.Equal(was, r.Promise)
}

// ends returns the second in which the batch system ends a job that has this limit. The second is
// by the clock of the promise, which may have been set since the job began.
func (r *Job) ends(limit core.Time) core.Time { return r.Began + r.Clock + limit }

// WholeEnd returns the second in which the job would end if nothing of its profile were cut off.
func (r *Job) WholeEnd() core.Time {
	if r.CutProfile == nil {
		return r.End()
	}
	return r.WholePromise[len(r.WholePromise)-1] + r.slipped()
}

// slipped returns by how many seconds the steps before a cut have slipped since the profile was
// cut.
func (r *Job) slipped() core.Time {
	last := len(r.Promise) - 1
	if last == 0 {
		return 0
	}
	return max(0, r.Promise[last-1]-r.WholePromise[last-1])
}

// UntilLimit returns in how many seconds a running job reaches its time limit. It returns
// core.Forever if the job has no limit or has not started.
func (r *Job) UntilLimit(now core.Time) core.Time {
	if r.Seen == nil || r.Seen.Limit >= core.Forever || r.Limit == 0 {
		return core.Forever
	}
	return max(0, r.Began+r.Seen.Limit-now)
}

// cutAt ends the profile at the given second. The present step stays in any case.
func (r *Job) cutAt(end core.Time) {
	last := r.Step
	for last+1 < len(r.Promise) && r.Promise[last] < end {
		last++
	}
	if r.Promise[last] <= end && last+1 == len(r.Promise) {
		return
	}
	ep, off := slices.Clone(r.EP()[:last+1]), max(0, r.Promise[last]-end)
	ep[last].Duration = max(1, ep[last].Duration-off)
	r.WholePromise, r.CutProfile, r.Promise = r.Promise, ep, slices.Clone(r.Promise[:last+1])
	r.Promise[last] -= off
}

// restoreProfile restores the steps that were cut off. Their promised times are those of the old
// promise, plus the seconds by which earlier steps have slipped since. The restored steps
// count as newly promised. Promises that other jobs got in the meantime take precedence.
func (r *Job) restoreProfile() {
	if r.CutProfile == nil {
		return
	}
	last, later := len(r.Promise)-1, r.slipped()
	r.Promise = r.Promise[:last]
	for _, end := range r.WholePromise[last:] {
		r.Promise = append(r.Promise, end+later)
	}
	r.CutProfile, r.WholePromise, r.LimitRegained = nil, nil, true
	r.BestEnd, r.SlipLogged, r.SlipCause = 0, 0, ""
}
