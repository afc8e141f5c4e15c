package sched

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// An outlook keeps waiting jobs out of each other's way where some have a guard (core.Job): a time after their limit that they may
// use or not. Nobody knows when in its guard such a job ends. So nobody knows when the jobs that wait for its nodes start. The view
// takes all guards as used. A job without a guard that was fitted into that view could start in the guard of a running job and end
// after it. Then it would delay the job that should get these nodes. A reservation for it could do so long before.
//
// So a waiting job with a guard is placed twice, at the latest in the view and at the earliest in early. It occupies taken from the
// earliest start to the latest end. A job without a guard is fitted into taken. At every instant taken is no less than view and early.
//
// The zero value is ready for Renew. A nil outlook is for a plan in which no job has a guard: it has Room, Best, Occupy and Clone.
type outlook struct {
	early   *profile.Profile // as if no guard were used
	taken   *profile.Profile // by jobs with a guard at one time or another
	firm    *profile.Profile // taken without the waiting jobs that have no guard
	waits   bool             // a waiting job has a guard
	chooser moldable.Chooser // of what a job is believed to take: it is not expanded
	guards  []stretch        // of what runs, as far as no waiting job counts on it; apart and in order
}

// stretch is a number of nodes from one second to another.
type stretch struct {
	from, to core.Time
	nodes    int
}

// Renew begins anew with what runs, in the memory of before. view is its occupation, with all guards.
func (o *outlook) Renew(now core.Time, view *profile.Profile, running []core.Allocation) {
	if o.early == nil {
		o.early, o.taken, o.firm = profile.New(0), profile.New(0), profile.New(0)
		o.chooser.Algorithm.Limit = ep.NoExpansion
	}
	o.early.CopyFrom(view)
	o.taken.CopyFrom(view)
	o.firm.CopyFrom(view)
	o.waits = false
	o.guards = o.guards[:0]
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
	o.guards = sum(ends, o.guards)
}

// Clone is an independent copy; of nil it is nil.
func (o *outlook) Clone() *outlook {
	switch {
	case o == nil:
		return nil
	case o.early == nil:
		return new(outlook)
	}
	return &outlook{
		early: o.early.Clone(), taken: o.taken.Clone(), firm: o.firm.Clone(), waits: o.waits,
		chooser: moldable.Chooser{Algorithm: o.chooser.Algorithm}, guards: slices.Clone(o.guards),
	}
}

// Room is what a job is fitted into, read only: the view of the plan, or if the job has no guard what is taken.
func (o *outlook) Room(view *profile.Profile, j core.Job) *profile.Profile {
	if o != nil && j.Guard <= 0 {
		return o.taken
	}
	return view
}

// Best is a job's earliest completion (moldable.Chooser), where its margin, too, is in the way of no job with a guard before it.
func (o *outlook) Best(c *moldable.Chooser, view *profile.Profile, now core.Time, j core.Job) (core.Planned, bool) {
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

// Clear is when a place may begin, at its start or later, so that it is in the way of no waiting job with a guard by
// itself, its margin counted. It is false when there is no such time.
func (o *outlook) Clear(p core.Planned, margin core.Time) (core.Time, bool) {
	if !o.waits || margin <= 0 {
		return p.Start, true
	}
	start, _, ok := o.chooser.Fit(o.firm.Without(0, nil), believed(p.EP, margin), p.Start)
	return start, ok
}

// believed is what a job takes by its limit: every node that it has once, until the end.
func believed(ep core.EP, margin core.Time) core.EP {
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

// sum appends the sum of stretches that may overlap, as stretches that do not.
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

// Occupy enters the place of a waiting job, into the view of the plan, too. Of one with a guard, p has its latest begin; it may begin from
// notBefore on, and p.Early is set to its earliest.
func (o *outlook) Occupy(view *profile.Profile, p *core.Planned, notBefore core.Time) {
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

// occupy enters the place of a job with a guard. Where it begins sooner than at the latest, because somebody does not
// use his guard, it has his nodes: together they take no more than the greater of the two.
func (o *outlook) occupy(p *core.Planned, notBefore core.Time) {
	step := p.EP[0]
	needs := max(step.Duration-p.Guard, 1)
	p.Early, _ = o.early.FirstFit(step.Nodes, needs, notBefore)
	o.early.Add(p.Early, core.EP{{Duration: needs, Nodes: step.Nodes}})
	end := max(p.End(), p.Early+step.Duration)
	t, ep := min(p.Early, p.Start), core.EP(nil)
	begin := t
	for _, g := range o.use(p.Early, p.Start, step.Nodes) {
		ep = append(ep, core.Step{Duration: g.from - t, Nodes: step.Nodes}, core.Step{Duration: g.to - g.from, Nodes: step.Nodes - g.nodes})
		t = g.to
	}
	ep = append(ep, core.Step{Duration: end - t, Nodes: step.Nodes})
	o.taken.Add(begin, ep)
	o.firm.Add(begin, ep)
	o.waits = true
}

// use counts on the guards in [from, to), for up to so many nodes at every instant, and says on what it does.
func (o *outlook) use(from, to core.Time, nodes int) []stretch {
	var used []stretch
	i, _ := slices.BinarySearchFunc(o.guards, from, func(g stretch, t core.Time) int { return cmp.Compare(g.to, t+1) })
	for ; i < len(o.guards) && o.guards[i].from < to; i++ {
		g := o.guards[i]
		u := stretch{max(g.from, from), min(g.to, to), min(g.nodes, nodes)}
		used = append(used, u)
		left := make([]stretch, 0, 3)
		for _, part := range [...]stretch{{g.from, u.from, g.nodes}, {u.from, u.to, g.nodes - u.nodes}, {u.to, g.to, g.nodes}} {
			if part.from < part.to && part.nodes > 0 {
				left = append(left, part)
			}
		}
		o.guards = slices.Replace(o.guards, i, i+1, left...)
		i += len(left) - 1
	}
	return used
}
