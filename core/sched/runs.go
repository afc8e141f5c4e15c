package sched

import (
	"slices"

	"accordion/core"
	"accordion/core/profile"
)

// RunningByEnd lists running jobs by requested end. The job that ends soonest is last, because most jobs that start or end are
// near the end of this list. The zero value is empty.
type RunningByEnd struct {
	List    ByEnd          // jobs whose requested end is in the future, the latest first; read only
	overdue []RunningJob   // jobs whose requested end has passed, by end
	spans   jobTable[span] // start and end of each job in both lists
}

// RunningJob is a running job with its nodes and its requested end.
type RunningJob struct {
	End   core.Time
	ID    core.JobID
	Nodes int
}

// span is when a job started and when it ends.
type span struct{ end, began core.Time }

// near is the number of entries at the end of a list that are compared and moved one by one. That is faster than a
// search and a copy, because most entries that change are among them.
const near = 96

// ByEnd lists jobs by end, the latest first. Among equal ends the job that was added last comes first.
type ByEnd []RunningJob

// Add inserts a job.
func (l *ByEnd) Add(h RunningJob) {
	i := len(*l)
	*l = append(*l, h)
	list := *l
	if i > near && list[i-near].End <= h.End {
		first := later(list[:i-near], h.End)
		copy(list[first+1:], list[first:i])
		list[first] = h
		return
	}
	for ; i > 0; i-- {
		before := &list[i-1]
		if before.End > h.End {
			break
		}
		list[i] = *before
	}
	list[i] = h
}

// Add adds a job that started at second `began` and whose end is in the future.
func (r *RunningByEnd) Add(h RunningJob, began core.Time) {
	r.spans.Set(h.ID, span{h.End, began})
	r.List.Add(h)
}

// later returns how many entries of a list end after a time. It computes with the sign of a difference instead of
// branching, because the processor would mispredict every second branch.
func later(list []RunningJob, at core.Time) int {
	low := 0
	for n := len(list); n > 0; {
		half := (n + 1) >> 1
		low += half & int((at-list[low+half-1].End)>>63) // adds half if that job ends later
		n -= half
	}
	return low
}

// Take removes a job. overdue reports whether its requested end had passed.
func (r *RunningByEnd) Take(id core.JobID) (h RunningJob, overdue, known bool) {
	s, known := r.spans.Take(id)
	if !known {
		return RunningJob{}, false, false
	}
	for i, h := range r.overdue {
		if h.ID == id {
			r.overdue = slices.Delete(r.overdue, i, i+1)
			return h, true, true
		}
	}
	return r.remove(id, s.end), false, true
}

// remove removes a job whose requested end is in the future.
func (r *RunningByEnd) remove(id core.JobID, end core.Time) RunningJob {
	list, last := r.List, len(r.List)-1
	r.List = r.List[:last]
	if last >= near && list[last-near].End <= end {
		i := later(list[:last-near], end)
		for list[i].ID != id {
			i++
		}
		h := list[i]
		copy(list[i:], list[i+1:])
		return h
	}
	h := list[last]
	for i := last - 1; h.ID != id; i-- {
		list[i], h = h, list[i]
	}
	return h
}

// Pass moves the jobs whose requested end has passed to the list `overdue`, and returns the sum of their nodes.
func (r *RunningByEnd) Pass(now core.Time) (nodes int) {
	for i := len(r.List) - 1; i >= 0 && r.List[i].End <= now; i-- {
		nodes += r.List[i].Nodes
		r.overdue = append(r.overdue, r.List[i])
		r.List = r.List[:i]
	}
	return nodes
}

// Back undoes Pass for all overdue jobs, and returns the sum of their nodes.
func (r *RunningByEnd) Back() (nodes int) {
	for _, h := range slices.Backward(r.overdue) {
		r.List = append(r.List, h)
		nodes += h.Nodes
	}
	r.overdue = r.overdue[:0]
	return nodes
}

// Get returns a running job and when it started, whether or not its requested end has passed.
func (r *RunningByEnd) Get(id core.JobID) (h RunningJob, began core.Time, known bool) {
	s, known := r.spans.Get(id)
	if !known {
		return RunningJob{}, 0, false
	}
	for i := later(r.List, s.end); i < len(r.List) && r.List[i].End == s.end; i++ {
		if r.List[i].ID == id {
			return r.List[i], s.began, true
		}
	}
	i := slices.IndexFunc(r.overdue, func(h RunningJob) bool { return h.ID == id })
	return r.overdue[i], s.began, true
}

// Each calls `visit` for all jobs: first the overdue ones.
func (r *RunningByEnd) Each(visit func(RunningJob)) {
	for _, list := range [][]RunningJob{r.overdue, r.List} {
		for _, h := range list {
			visit(h)
		}
	}
}

// Next returns the first requested end after now, or Forever when there is none.
func (r *RunningByEnd) Next(now core.Time) core.Time {
	for i := len(r.List) - 1; i >= 0; i-- {
		if end := r.List[i].End; end > now {
			return end
		}
	}
	return core.Forever
}

// Occupy sets `view` to the occupation of a machine from now on, by these jobs and by other jobs whose size
// changes. Overdue jobs are not in it.
func (r *RunningByEnd) Occupy(view *profile.Profile, nodes int, now core.Time, others []Active) {
	view.Clear(nodes)
	for _, h := range r.List {
		view.Change(now, h.End, h.Nodes)
	}
	for i := range others {
		if a := &others[i].Allocation; a.End() > now {
			view.Add(a.Start, a.EP)
		}
	}
}

// Clone returns an independent copy.
func (r *RunningByEnd) Clone() RunningByEnd {
	return RunningByEnd{slices.Clone(r.List), slices.Clone(r.overdue), r.spans.Clone()}
}
