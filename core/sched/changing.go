package sched

import "accordion/core"

// Changing is a job on the machine whose size may change, or that is to come.
type Changing struct {
	core.Allocation
	told    int  // its size as the world knows it
	foreign bool // it lay in the future when we were told
}

// Told is an allocation that somebody else made, and told of at an instant.
func Told(now core.Time, a core.Allocation) Changing {
	return Changing{Allocation: a, foreign: a.Start > now, told: a.EP.At(now - a.Start)}
}

// changingFrom returns an allocation that starts now. The world is told its first size.
func changingFrom(a core.Allocation) Changing { return Changing{Allocation: a, told: a.EP.At(0)} }

// ToCome says whether it lay in the future when we were told of it.
func (r *Changing) ToCome() bool { return r.foreign }

// Size is its size as the world knows it.
func (r *Changing) Size() int { return r.told }

// Resize reports the running jobs whose size has changed: those that shrink, then those that grow.
func Resize(all []Changing, now core.Time, into []core.Start) []core.Start {
	into = resizes(all, now, into, func(size, told int) bool { return size < told })
	return resizes(all, now, into, func(size, told int) bool { return size > told })
}

// resizes reports the running jobs whose size has changed in the way asked for.
func resizes(all []Changing, now core.Time, into []core.Start, which func(size, told int) bool) []core.Start {
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

// Next is the first instant after now at which the job's size changes, or at which it ends; Forever when there is none.
func (r *Changing) Next(now core.Time) core.Time {
	at := r.Start
	for i := 0; i < len(r.EP) && at <= now; i++ {
		at += r.EP[i].Duration
	}
	if at <= now {
		return core.Forever
	}
	return min(at, core.Forever)
}

// asAllocations returns the promises of what runs.
func asAllocations(all []Changing) []core.Allocation {
	promises := make([]core.Allocation, len(all))
	for i := range all {
		promises[i] = all[i].Allocation
	}
	return promises
}
