package queue

import "accordion/core"

// running is a job on the machine.
type running struct {
	core.Allocation
	told    int  // its size as the world knows it
	foreign bool // it lay in the future when we were told
}

// resize reports the running jobs whose size has changed: those that shrink, then those that grow.
func resize(all []running, now core.Time, into []core.Start) []core.Start {
	into = resizes(all, now, into, func(size, told int) bool { return size < told })
	return resizes(all, now, into, func(size, told int) bool { return size > told })
}

// resizes reports the running jobs whose size has changed in the way asked for.
func resizes(all []running, now core.Time, into []core.Start, which func(size, told int) bool) []core.Start {
	for i := range all {
		r := &all[i]
		if r.foreign || now >= r.Allocation.End() {
			continue
		}
		if size := r.EP.At(now - r.Start); which(size, r.told) {
			r.told = size
			into = append(into, core.Start{Job: r.Job, Nodes: size})
		}
	}
	return into
}

// next is the first instant after now at which the job's size changes, or at which it ends; Forever when there is none.
func (r *running) next(now core.Time) core.Time {
	at := r.Start
	for i := 0; i < len(r.EP) && at <= now; i++ {
		at += r.EP[i].Duration
	}
	if at <= now {
		return core.Forever
	}
	return min(at, core.Forever)
}

// allocations are the promises of what runs.
func allocations(all []running) []core.Allocation {
	promises := make([]core.Allocation, len(all))
	for i := range all {
		promises[i] = all[i].Allocation
	}
	return promises
}
