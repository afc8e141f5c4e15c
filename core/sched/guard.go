package sched

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// A guardView keeps waiting jobs from delaying each other if some jobs have a guard (core.Job): an overrun
// allowance that a job may or may not use. It is unknown when in its guard a job ends. So the starts of the
// jobs that wait for its nodes are unknown too. The plan's view counts all guards as used. Suppose that a job
// without a guard is fitted into this view. It could start in the unused guard of a job and end after that
// guard, and so delay the job that should get these nodes. Even the reservation of a job without a guard could
// delay other jobs in this way, long before it starts.
//
// So a waiting job with a guard is placed twice: with its latest start in the plan's view and with its earliest
// start in the profile `early`. In the profile `taken` it occupies its nodes from the earliest start to the
// latest end. A job without a guard is fitted into `taken`. At every instant `taken` has at least as many used
// nodes as the view and as `early`.
//
// Call Renew before the first use. The methods Room, Best, Occupy and Clone also work on nil, for a plan in which no
// job has a guard.
type guardView struct {
	early     *profile.Profile // the occupation if no guard is used
	taken     *profile.Profile // the occupation if jobs with a guard take their nodes at every possible time
	firm      *profile.Profile // like `taken`, but without the waiting jobs that have no guard
	waiting   bool             // a waiting job has a guard
	chooser   moldable.Chooser // finds room for a job with its time limit; never expands steps
	unclaimed []stretch        // guards of running jobs that no waiting job claims yet; disjoint and in order
}

// stretch is a number of nodes for the time [from, to).
type stretch struct {
	from, to core.Time
	nodes    int
}

// Renew starts again with the running jobs, and reuses memory. `view` is the occupation by these jobs, with all guards.
func (o *guardView) Renew(now core.Time, view *profile.Profile, running []core.Allocation) {
	if o.early == nil {
		o.early, o.taken, o.firm = profile.New(0), profile.New(0), profile.New(0)
		o.chooser.Algorithm.Limit = ep.NoExpansion
	}
	o.early.CopyFrom(view)
	o.taken.CopyFrom(view)
	o.firm.CopyFrom(view)
	o.waiting = false
	o.unclaimed = o.unclaimed[:0]
	var ends []stretch
	for _, a := range running {
		end := a.End()
		for k := len(a.EP) - 1; k >= 0 && end > max(now, a.End()-a.Guard); k-- {
			from := max(now, a.End()-a.Guard, end-a.EP[k].Duration)
			o.early.Remove(from, core.EP{{Duration: end - from, Nodes: a.EP[k].Nodes}})
			ends = append(ends, stretch{from, end, a.EP[k].Nodes})
			end -= a.EP[k].Duration
		}
	}
	o.unclaimed = sum(ends, o.unclaimed)
}

// Clone returns an independent copy, or nil for nil.
func (o *guardView) Clone() *guardView {
	switch {
	case o == nil:
		return nil
	case o.early == nil:
		return new(guardView)
	}
	return &guardView{
		early: o.early.Clone(), taken: o.taken.Clone(), firm: o.firm.Clone(), waiting: o.waiting,
		chooser: moldable.Chooser{Algorithm: o.chooser.Algorithm}, unclaimed: slices.Clone(o.unclaimed),
	}
}

// Room returns the profile into which a job is fitted, read only: the plan's view, or `taken` if the job has no
// guard.
func (o *guardView) Room(view *profile.Profile, j core.Job) *profile.Profile {
	if o != nil && j.Guard <= 0 {
		return o.taken
	}
	return view
}

// Best returns a job's earliest completion (moldable.Chooser) at which its margin, too, delays no earlier job with a
// guard.
func (o *guardView) Best(c *moldable.Chooser, view *profile.Profile, now core.Time, j core.Job) (core.Planned, bool) {
	room := o.Room(view, j)
	p, ok := c.Best(room, now, j)
	for ok && o != nil {
		begin, clear := o.Clear(p, j.Margin)
		if !clear || begin == p.Start {
			return p, clear
		}
		j.Begin = begin
		p, ok = c.Best(room, now, j)
	}
	return p, ok
}

// Clear returns the first time from p.Start on at which the place, with the margin, delays no waiting job with a
// guard. It returns false if there is no such time.
func (o *guardView) Clear(p core.Planned, margin core.Time) (core.Time, bool) {
	if !o.waiting || margin <= 0 {
		return p.Start, true
	}
	start, _, ok := o.chooser.Fit(o.firm.Without(0, nil), byLimit(p.EP, margin), p.Start)
	return start, ok
}

// byLimit returns the occupation by a job as the batch system sees it: the job releases no node before its time limit.
func byLimit(ep core.EP, margin core.Time) core.EP {
	var all core.EP
	for _, step := range ep {
		if last := len(all) - 1; last >= 0 && step.Nodes <= all[last].Nodes {
			all[last].Duration += step.Duration
			continue
		}
		all = append(all, step)
	}
	all[len(all)-1].Duration += margin
	return all
}

// sum appends the sum of overlapping stretches as disjoint stretches.
func sum(all []stretch, into []stretch) []stretch {
	type change struct {
		at    core.Time
		nodes int
	}
	changes := make([]change, 0, 2*len(all))
	for _, s := range all {
		changes = append(changes, change{s.from, s.nodes}, change{s.to, -s.nodes})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	nodes := 0
	for i, c := range changes {
		if i > 0 && c.at > changes[i-1].at && nodes > 0 {
			into = append(into, stretch{changes[i-1].at, c.at, nodes})
		}
		nodes += c.nodes
	}
	return into
}

// Occupy enters the place of a waiting job into the plan's view and the guardView. For a job with a guard, p.Start is
// its latest start. Occupy sets p.Early to its earliest start, which is not before notBefore.
func (o *guardView) Occupy(view *profile.Profile, p *core.Planned, notBefore core.Time) {
	view.Add(p.Start, p.EP)
	switch {
	case o == nil:
	case p.Guard > 0:
		o.occupy(p, notBefore)
	default:
		o.early.Add(p.Start, p.EP)
		o.taken.Add(p.Start, p.EP)
	}
}

// occupy enters the place of a job with a guard. The job starts before its latest start only if an earlier job does not use its
// guard. It then takes that job's nodes, so that both together never take more nodes than the larger of the two jobs.
func (o *guardView) occupy(p *core.Planned, notBefore core.Time) {
	step := p.EP[0]
	needs := max(step.Duration-p.Guard, 1)
	p.Early, _ = o.early.FirstFit(step.Nodes, needs, notBefore)
	o.early.Add(p.Early, core.EP{{Duration: needs, Nodes: step.Nodes}})
	end := max(p.End(), p.Early+step.Duration)
	t, ep := min(p.Early, p.Start), core.EP(nil)
	begin := t
	for _, g := range o.claim(p.Early, p.Start, step.Nodes) {
		ep = append(ep, core.Step{Duration: g.from - t, Nodes: step.Nodes}, core.Step{Duration: g.to - g.from, Nodes: step.Nodes - g.nodes})
		t = g.to
	}
	ep = append(ep, core.Step{Duration: end - t, Nodes: step.Nodes})
	o.taken.Add(begin, ep)
	o.firm.Add(begin, ep)
	o.waiting = true
}

// claim claims unclaimed guards in [from, to), at every instant up to the given number of nodes. It returns what it claimed.
func (o *guardView) claim(from, to core.Time, nodes int) []stretch {
	var used []stretch
	i, _ := slices.BinarySearchFunc(o.unclaimed, from, func(g stretch, t core.Time) int { return cmp.Compare(g.to, t+1) })
	for ; i < len(o.unclaimed) && o.unclaimed[i].from < to; i++ {
		g := o.unclaimed[i]
		u := stretch{max(g.from, from), min(g.to, to), min(g.nodes, nodes)}
		used = append(used, u)
		left := make([]stretch, 0, 3)
		for _, part := range [...]stretch{{g.from, u.from, g.nodes}, {u.from, u.to, g.nodes - u.nodes}, {u.to, g.to, g.nodes}} {
			if part.from < part.to && part.nodes > 0 {
				left = append(left, part)
			}
		}
		o.unclaimed = slices.Replace(o.unclaimed, i, i+1, left...)
		i += len(left) - 1
	}
	return used
}
