package plan

import (
	"cmp"
	"slices"

	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/place"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// The planner knows machines of like nodes. A pool whose nodes differ is planned as several of them where jobs tell the
// nodes apart: kinds that every job takes or leaves together are one machine. Each job is planned on one of its machines, the
// one on which it ends first. One that needs more nodes than any of them has makes one machine of several; jobs that can run
// on a part of that only, and came later, wait for it.

// machine is a part of the pool that is planned by itself.
type machine struct {
	*World // its nodes, and what holds them and waits for them; its queue in rank order
	kinds  map[string]bool
	state  sched.State
	fixed  []core.Allocation // what others hold
	kept   []core.Allocation // what the running managed jobs are promised
	work   int64             // node-seconds of its queue
	world  *sizing.World     // by which moldable jobs were sized; nil: they were not
}

// machines divides the pool.
func (v *World) machines() []*machine {
	d := newDivision(v.Snapshot.Nodes)
	for _, w := range v.Queue {
		d.TellApart(w.Seen.Kinds)
	}
	for _, r := range v.drafts {
		if r.Seen != nil {
			d.TellApart(r.Seen.Kinds)
		}
	}
	d.Divide()
	for i, w := range v.Queue {
		if w.Managed != nil {
			d.Join(needs(d, w, v.Queue[:i]))
		}
	}
	for {
		all := v.parts(d)
		lost := settle(v, all)
		if lost == nil {
			return all
		}
		d.Join(d.RunsOn(lost.Kinds(), 0))
	}
}

// settle gives each running job to the machine that has all of its nodes, those to come among them. One that began before the pool was
// divided so may have nodes of several: they stay its own, on each of them, for no promise is broken by what came later. It returns
// a job of which that cannot be said, for nodes that it was promised have no names; nil: there is none.
func settle(v *World, all []*machine) (lost *managed.Job) {
	if len(all) == 1 {
		all[0].drafts = v.drafts
		return nil
	}
	for _, r := range v.drafts {
		home, alone := dwelling(all, r)
		if alone {
			if home != nil {
				home.drafts = append(home.drafts, r)
			}
			continue
		}
		c := anew(r, v.Now)
		if c == nil {
			return r
		}
		r.Course, r.NamedBefore = c, c
		for _, m := range all {
			m.keep(c)
		}
	}
	for _, m := range all {
		m.union()
	}
	return nil
}

// dwelling is the machine of a job's first node, and whether it has all of them that are the pool's.
func dwelling(all []*machine, r *managed.Job) (home *machine, alone bool) {
	nodes := slices.Clone(r.Holds())
	if r.Course != nil {
		for _, l := range r.Course.Layers {
			nodes = append(nodes, l.Nodes...)
		}
	}
	alone = true
	for _, name := range nodes {
		for _, m := range all {
			if _, here := m.Index[name]; !here {
				continue
			}
			if home == nil {
				home = m
			}
			alone = alone && m == home
		}
	}
	if home != nil && r.Course == nil { // after a restart of the sidecar: what it needs is not known by name
		alone = alone && core.EP(r.EP()[r.Current():]).Peak() <= len(home.Nodes)
	}
	return home, alone
}

// anew is the course of a running job on the nodes that its last one named, at the seconds that it is promised now; nil where a node
// has no name.
func anew(r *managed.Job, now core.Time) *managed.Course {
	c := &managed.Course{Start: now, Choice: r.Choice, EP: r.Remaining(now)}
	named := map[int][]string{0: slices.Clone(r.Holds())} // by the step with which nodes come, from the present one
	if r.Course != nil {
		for _, l := range r.Course.Layers {
			if step := l.Step - r.Current(); step > 0 {
				named[step] = append(named[step], l.Nodes...)
			}
		}
	}
	for _, l := range place.Layers(now, c.EP) {
		if len(named[l.Step]) < l.Count {
			return nil
		}
		c.Layers = append(c.Layers, managed.Layer{From: l.From, To: l.To, Step: r.Current() + l.Step, Nodes: named[l.Step][:l.Count]})
		named[l.Step] = named[l.Step][l.Count:]
	}
	return c
}

// keep claims a course's nodes on the machine.
func (m *machine) keep(c *managed.Course) {
	for _, l := range c.Layers {
		for _, name := range l.Nodes {
			if i, here := m.Index[name]; here {
				claim := place.Claim{Node: i, From: l.From, To: l.To}
				m.claims = append(m.claims, claim)
				if m.early != nil {
					m.early = append(m.early, claim)
				}
			}
		}
	}
}

// union makes claims that do not overlap of those that may.
func (m *machine) union() {
	m.claims = merged(len(m.Nodes), m.claims)
	if m.early != nil {
		m.early = merged(len(m.Nodes), m.early)
	}
}

func merged(nodes int, claims []place.Claim) []place.Claim {
	busy := make(spans, nodes)
	for _, c := range claims {
		busy.add(c.Node, c.From, c.To)
	}
	return busy.claims()
}

// fewest is the nodes without which none of a job's choices can be had.
func (w Waiter) fewest() int {
	fewest := w.Job.Choices[0].Peak()
	for _, ep := range w.Job.Choices[1:] {
		fewest = min(fewest, ep.Peak())
	}
	return fewest
}

// takes says whether the job can run on every node of the machine, and on any.
func (m *machine) takes(kinds []string) (all, some bool) {
	if kinds == nil {
		return true, true
	}
	all = true
	for k := range m.kinds {
		if slices.Contains(kinds, k) {
			some = true
		} else {
			all = false
		}
	}
	return all, some
}

// submit puts a job into the queue of the machine on which it is planned. What is in the queues so far is before it. A managed job
// that can run on a part of a machine only has to wait until they are divided otherwise.
func submit(all []*machine, w Waiter) {
	var open, partly []*machine
	for _, m := range all {
		whole, some := m.takes(w.Seen.Kinds)
		if whole && w.fewest() <= len(m.Nodes) {
			open = append(open, m)
		}
		if some {
			partly = append(partly, m)
		}
	}
	switch {
	case len(open) == 1:
		open[0].enter(w)
	case w.Managed != nil:
		if m := soonest(open, w); m != nil {
			m.enter(w)
		} else if len(open) > 0 && open[0].few() { // it waits
			lightest(open).enter(w)
		}
	case len(open) > 1:
		lightest(open).enter(w)
	default:
		spread(partly, w)
	}
}

// enter puts a job at the end of the machine's queue.
func (m *machine) enter(w Waiter) {
	m.Queue = append(m.Queue, w)
	m.work += w.Job.Choices[0].Area()
	m.state.Submit(m.atStart(), w.Job)
	if all := crowdOf(m.state); all != nil && w.moldsItself() {
		all.Enter(m.atStart(), w.Job, sizing.New(core.Job{Choices: w.Seen.Choices}, policy.FloorOf(m.Settings.Passes)))
	}
}

// soonest is the machine on which a job ends first; nil: on none does it have a place.
func soonest(all []*machine, w Waiter) *machine {
	var best *machine
	var end core.Time
	for _, m := range all {
		try := m.state.Clone()
		try.Submit(m.atStart(), w.Job)
		jobs := try.Plan(m.asOf()).Jobs // it is the last in the queue
		if n := len(jobs); n > 0 && jobs[n-1].Job == w.Job.ID && (best == nil || jobs[n-1].End() < end) {
			best, end = m, jobs[n-1].End()
		}
	}
	return best
}

// lightest is the machine with the least work for each of its nodes: where the batch system is likely to begin an ordinary job that
// could run on several. It does not ask us.
func lightest(all []*machine) *machine {
	return slices.MinFunc(all, func(a, b *machine) int {
		return cmp.Compare(float64(a.work)/float64(len(a.Nodes)), float64(b.work)/float64(len(b.Nodes)))
	})
}

// spread puts an ordinary job that needs nodes of several machines into the queue of each, with its share: it is in the way on
// all of them.
func spread(all []*machine, w Waiter) {
	total := 0
	for _, m := range all {
		total += len(m.Nodes)
	}
	step := w.Job.Choices[0][0]
	if step.Nodes > total {
		return
	}
	for _, m := range all {
		share := step
		share.Nodes = (step.Nodes*len(m.Nodes) + total - 1) / total
		part := w
		part.Job.Choices = []core.EP{{share}}
		m.enter(part)
	}
}
