package sched

import (
	"slices"
	"sort"

	"accordion/core"
	"accordion/core/profile"
)

// runningJobs are the running jobs of a Repeated.
type runningJobs struct {
	all          []Active          // in the order in which they were added
	holds        []profile.Holding // nodes of the jobs that have one size and had started when they were added, by end
	since        core.Time         // all jobs in holds had started by then
	asOf         core.Time         // the latest time of any call
	clockSetBack bool              // the clock was set back: holds is not reliable any more
}

// find returns the index of a job in the list `all`, or -1 if the job does not run.
func (r *runningJobs) find(id core.JobID) int {
	return slices.IndexFunc(r.all, func(c Active) bool { return c.Job == id })
}

// begin adds a job.
func (r *runningJobs) begin(c Active) {
	r.all = append(r.all, c)
	if h, one := holding(&c); one {
		r.holds = slices.Insert(r.holds, r.endingBy(h.Until), h)
		r.since = max(r.since, c.Start)
	}
}

// end removes the job at index i of the list `all`.
func (r *runningJobs) end(i int) {
	if h, one := holding(&r.all[i]); one {
		k := r.endingBy(h.Until) - 1
		for r.holds[k] != h {
			k--
		}
		r.holds = slices.Delete(r.holds, k, k+1)
	}
	r.all = slices.Delete(r.all, i, i+1)
}

// holding returns what a job holds until its end, if it has one size and has started.
func holding(c *Active) (profile.Holding, bool) {
	if len(c.EP) != 1 || c.EP[0].Nodes <= 0 || c.Future() {
		return profile.Holding{}, false
	}
	return profile.Holding{Until: c.Allocation.End(), Nodes: c.EP[0].Nodes}, true
}

// endingBy returns how many entries of the list `holds` end at or before a time.
func (r *runningJobs) endingBy(at core.Time) int {
	return sort.Search(len(r.holds), func(i int) bool { return r.holds[i].Until > at })
}

// reliable reports whether the jobs in the list `holds` keep their nodes without a change until their ends.
func (r *runningJobs) reliable(now core.Time) bool {
	r.clockSetBack = r.clockSetBack || now < r.asOf || now < r.since
	r.asOf = max(r.asOf, now)
	return !r.clockSetBack
}

// resize appends the jobs whose size has changed (Resize).
func (r *runningJobs) resize(now core.Time, into []core.Start) []core.Start {
	if r.reliable(now) && len(r.holds) == len(r.all) {
		return into
	}
	return Resize(r.all, now, into)
}

// next returns the first time after now at which a size changes or a job ends, or Forever when there is none.
func (r *runningJobs) next(now core.Time) core.Time {
	at := core.Forever
	if r.reliable(now) && len(r.holds) == len(r.all) {
		if i := r.endingBy(now); i < len(r.holds) {
			at = min(at, r.holds[i].Until)
		}
		return at
	}
	for i := range r.all {
		at = min(at, r.all[i].Next(now))
	}
	return at
}

// occupy sets p to the occupation of a machine by the running jobs, for searches from now on.
func (r *runningJobs) occupy(p *profile.Profile, nodes int, now core.Time) {
	holds := r.holds
	if now < r.since { // the clock was set back
		holds = nil
	}
	p.Hold(nodes, now, holds)
	for i := range r.all {
		a := &r.all[i].Allocation
		if _, one := holding(&r.all[i]); one && holds != nil || a.End() <= now {
			continue
		}
		p.Add(a.Start, a.EP)
	}
}

func (r *runningJobs) clone() runningJobs {
	c := *r
	c.all, c.holds = slices.Clone(r.all), slices.Clone(r.holds)
	return c
}
