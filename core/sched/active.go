package sched

import "accordion/core"

// Active is a job that runs, or a reservation that begins later. Its size may change.
type Active struct {
	core.Allocation
	reported int  // the size that Starts reported last
	future   bool // the allocation had not begun when the caller reported it
}

// NewActive returns an allocation that the caller made, and reported to the planner at the given time.
func NewActive(now core.Time, a core.Allocation) Active {
	return Active{Allocation: a, future: a.Start > now, reported: a.EP.At(now - a.Start)}
}

// activeFrom returns an allocation that starts now. Starts reports its first size.
func activeFrom(a core.Allocation) Active { return Active{Allocation: a, reported: a.EP.At(0)} }

// Future reports whether the allocation had not begun when the caller reported it.
func (r *Active) Future() bool { return r.future }

// Size returns the size that was reported last.
func (r *Active) Size() int { return r.reported }

// Resize appends the changes of the running jobs whose size has changed: first those that shrink, then those that
// grow.
func Resize(all []Active, now core.Time, into []core.Start) []core.Start {
	into = resizes(all, now, into, func(size, reported int) bool { return size < reported })
	return resizes(all, now, into, func(size, reported int) bool { return size > reported })
}

// resizes appends the running jobs whose change of size the function `which` selects.
func resizes(all []Active, now core.Time, into []core.Start, which func(size, reported int) bool) []core.Start {
	for i := range all {
		r := &all[i]
		if r.future || now >= r.Allocation.End() {
			continue
		}
		if size := r.EP.At(now - r.Start); which(size, r.reported) {
			r.reported = size
			into = append(into, core.Start{Job: r.Job, Nodes: size})
		}
	}
	return into
}

// Next returns the first instant after now at which the job's size changes or at which it ends, or Forever when there
// is none.
func (r *Active) Next(now core.Time) core.Time {
	at := r.Start
	for i := 0; i < len(r.EP) && at <= now; i++ {
		at += r.EP[i].Duration
	}
	if at <= now {
		return core.Forever
	}
	return min(at, core.Forever)
}

// asAllocations returns the promises of all jobs.
func asAllocations(all []Active) []core.Allocation {
	promises := make([]core.Allocation, len(all))
	for i := range all {
		promises[i] = all[i].Allocation
	}
	return promises
}
