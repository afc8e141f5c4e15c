package sched

import (
	"slices"
	"sort"

	"accordion/core"
	"accordion/core/profile"
)

// running is what runs beside a queue that is planned whole.
type running struct {
	all   []Changing        // in the order in which they came
	holds []profile.Holding // of those of one size that had begun when they came, by their ends
	since core.Time         // all of these had begun by then
	asOf  core.Time         // the latest instant that was asked about
	back  bool              // the clock was set back: nothing follows from that any more
}

// find is the index of a job in all, −1 when it does not run.
func (r *running) find(id core.JobID) int {
	return slices.IndexFunc(r.all, func(c Changing) bool { return c.Job == id })
}

// begin enters a job.
func (r *running) begin(c Changing) {
	r.all = append(r.all, c)
	if h, one := holding(&c); one {
		r.holds = slices.Insert(r.holds, r.within(h.Until), h)
		r.since = max(r.since, c.Start)
	}
}

// end takes number i of all out.
func (r *running) end(i int) {
	if h, one := holding(&r.all[i]); one {
		k := r.within(h.Until) - 1
		for r.holds[k] != h {
			k--
		}
		r.holds = slices.Delete(r.holds, k, k+1)
	}
	r.all = slices.Delete(r.all, i, i+1)
}

// holding is what a job holds until its end, if it is of one size and has begun.
func holding(c *Changing) (profile.Holding, bool) {
	if len(c.EP) != 1 || c.EP[0].Nodes <= 0 || c.ToCome() {
		return profile.Holding{}, false
	}
	return profile.Holding{Until: c.Allocation.End(), Nodes: c.EP[0].Nodes}, true
}

// within is how many of holds end at an instant or before.
func (r *running) within(at core.Time) int {
	return sort.Search(len(r.holds), func(i int) bool { return r.holds[i].Until > at })
}

// plainly says whether those in holds are as they were told of, and hold their nodes until their ends.
func (r *running) plainly(now core.Time) bool {
	r.back = r.back || now < r.asOf || now < r.since
	r.asOf = max(r.asOf, now)
	return !r.back
}

// resize reports those whose size has changed (sched.Resize).
func (r *running) resize(now core.Time, into []core.Start) []core.Start {
	if r.plainly(now) && len(r.holds) == len(r.all) {
		return into
	}
	return Resize(r.all, now, into)
}

// next is the first instant after one at which a size changes, or a job ends; Forever when there is none.
func (r *running) next(now core.Time) core.Time {
	at := core.Forever
	if r.plainly(now) && len(r.holds) == len(r.all) {
		if i := r.within(now); i < len(r.holds) {
			at = min(at, r.holds[i].Until)
		}
		return at
	}
	for i := range r.all {
		at = min(at, r.all[i].Next(now))
	}
	return at
}

// occupy makes a profile the machine of so many nodes with what runs, for searches from an instant on.
func (r *running) occupy(p *profile.Profile, nodes int, now core.Time) {
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

func (r *running) clone() running {
	c := *r
	c.all, c.holds = slices.Clone(r.all), slices.Clone(r.holds)
	return c
}
