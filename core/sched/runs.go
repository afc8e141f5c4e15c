package sched

import (
	"slices"

	"accordion/core"
	"accordion/core/profile"
)

// Running is the jobs that run, by requested end. The soonest end is last, because most jobs that come and go have one of the soonest
// ends. The zero value has no jobs.
type Running struct {
	List    ByEnd          // those whose end is to come, the latest first; read only
	overdue []RunningJob   // those whose end has come, in the order of their ends
	spans   jobTable[span] // of both
}

// RunningJob is a job that runs. It requested its nodes until End.
type RunningJob struct {
	End   core.Time
	ID    core.JobID
	Nodes int
}

// span is when a job began, and when it ends.
type span struct{ end, began core.Time }

// near is how many of the last of a list are looked at and moved one by one, which is done sooner than a search and a copy of
// the few that they mostly are.
const near = 96

// ByEnd is jobs by their ends, the latest first; of those that end together the last one that came.
type ByEnd []RunningJob

// Add puts a job in its place.
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

// Add enters a job that began at an instant, and whose end is to come.
func (r *Running) Add(h RunningJob, began core.Time) {
	r.spans.Set(h.ID, span{h.End, began})
	r.List.Add(h)
}

// later is how many of a list end after an instant. Which half they end in is not known beforehand, so that a branch would be guessed
// wrongly every other time: the sign of a difference decides instead.
func later(list []RunningJob, at core.Time) int {
	low := 0
	for n := len(list); n > 0; {
		half := (n + 1) >> 1
		low += half & int((at-list[low+half-1].End)>>63) // when it ends later
		n -= half
	}
	return low
}

// Take takes a job out. It is overdue when its end had come.
func (r *Running) Take(id core.JobID) (h RunningJob, overdue, known bool) {
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

// remove takes a job out whose end is to come.
func (r *Running) remove(id core.JobID, end core.Time) RunningJob {
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

// Pass finds those overdue whose end has come by an instant, and gives their nodes.
func (r *Running) Pass(now core.Time) (nodes int) {
	for i := len(r.List) - 1; i >= 0 && r.List[i].End <= now; i-- {
		nodes += r.List[i].Nodes
		r.overdue = append(r.overdue, r.List[i])
		r.List = r.List[:i]
	}
	return nodes
}

// Back has all ends to come again, and gives the nodes of those that were overdue.
func (r *Running) Back() (nodes int) {
	for _, h := range slices.Backward(r.overdue) {
		r.List = append(r.List, h)
		nodes += h.Nodes
	}
	r.overdue = r.overdue[:0]
	return nodes
}

// Get returns a job that is there, whether or not its end has come, and when it began.
func (r *Running) Get(id core.JobID) (h RunningJob, began core.Time, known bool) {
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

// Each visits all: those whose end has come, then the others.
func (r *Running) Each(visit func(RunningJob)) {
	for _, list := range [][]RunningJob{r.overdue, r.List} {
		for _, h := range list {
			visit(h)
		}
	}
}

// Next is the first end behind an instant; Forever when there is none.
func (r *Running) Next(now core.Time) core.Time {
	for i := len(r.List) - 1; i >= 0; i-- {
		if end := r.List[i].End; end > now {
			return end
		}
	}
	return core.Forever
}

// Occupy makes a profile the occupation of a machine of so many nodes from an instant on, by what runs: these, and others whose size
// changes. What has outstayed its request is not in it.
func (r *Running) Occupy(view *profile.Profile, nodes int, now core.Time, others []Changing) {
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

// Clone is an independent copy.
func (r *Running) Clone() Running {
	return Running{slices.Clone(r.List), slices.Clone(r.overdue), r.spans.Clone()}
}
