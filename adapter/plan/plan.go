package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/place"
	"accordion/core/sched"
)

// Make returns the world of a cycle with its plan. It changes none of its inputs; Apply writes what it plans for each job into the records.
func Make(in Input) *World {
	v := look(in)
	v.plan()
	v.letIn()
	v.JobPlans = v.jobPlans()
	return v
}

// plan gives every job its course: first those that run, as promised; then the queue, in rank order. When an early
// application can go on without delaying anybody, all is planned again with its better promise.
func (v *World) plan() {
	for !v.planOnce() {
	}
}

// planOnce is false when a promise was improved: all is to be planned again.
func (v *World) planOnce() bool {
	v.late = map[core.JobID]bool{}
	all := v.machines()
	for _, m := range all {
		like := m.like()
		m.state, m.fixed = v.Settings.Policy.New(like), m.occupied(m.ahead())
		for _, a := range m.fixed {
			m.state.Running(v.Now, a)
		}
		m.kept = m.keepPromises(like, m.occupied(m.claims))
		for _, a := range m.kept {
			m.state.Running(v.Now, a)
		}
		m.count()
	}
	for _, w := range v.Queue {
		submit(all, w)
	}
	for _, m := range all {
		m.planTimely()
		maps.Copy(v.late, m.late)
		m.look()
		m.advances = v.advances
		improved := m.advance()
		v.advances = m.advances
		v.Said = append(v.Said, m.Said...)
		m.Said = nil
		if improved {
			return false
		}
	}
	for _, m := range all {
		m.name()
		v.explain(m)
	}
	v.Planned = together(all, v.Queue)
	v.turn()
	return true
}

// together is one plan of several, in the order of the queue. Of an ordinary job that is on several machines the last one to
// begin counts.
func together(all []*machine, queue []Waiter) core.Plan {
	if len(all) == 1 {
		return all[0].Planned
	}
	places := make(map[core.JobID]core.Planned, len(queue))
	for _, m := range all {
		for _, p := range m.Planned.Jobs {
			if other, there := places[p.Job]; !there || other.Start < p.Start {
				places[p.Job] = p
			}
		}
	}
	var plan core.Plan
	for _, w := range queue {
		if p, there := places[w.Job.ID]; there {
			plan.Jobs = append(plan.Jobs, p)
		}
	}
	return plan
}

// occupied turns claims on nodes into counts: what the planner knows of what others hold.
func (v *World) occupied(claims []place.Claim) []core.Allocation {
	type span struct{ from, to, guard core.Time }
	counts := map[span]int{}
	var order []span
	for _, c := range claims {
		if c.To == core.Forever && v.lost[c.Node] {
			continue // none of the machine (machine.like)
		}
		k := span{from: c.From, to: c.To}
		if g := v.guards[c.Node]; c.From == v.Now && c.To == g.to {
			k.guard = g.to - g.from
		}
		if counts[k] == 0 {
			order = append(order, k)
		}
		counts[k]++
	}
	all := make([]core.Allocation, len(order))
	for i, k := range order {
		all[i] = core.Allocation{
			Job: core.JobID(-1 - i), Start: k.from, EP: core.EP{{Duration: k.to - k.from, Nodes: counts[k]}}, Guard: k.guard,
		}
	}
	return all
}

// keepPromises is what the running jobs occupy from now on. Where their promises do not fit any more (a node was lost,
// an ordinary job holds on, an application is late), the remainders are fitted again.
func (v *World) keepPromises(machine core.Machine, fixed []core.Allocation) []core.Allocation {
	kept := make([]core.Allocation, len(v.drafts))
	for i, r := range v.drafts {
		kept[i] = core.Allocation{Job: r.ID, Start: v.Now, EP: r.Remaining(v.Now)}
	}
	if sched.Fits(machine, append(slices.Clone(fixed), kept...)) {
		return kept
	}
	turns := v.turns()
	remainders := make([]sched.Remainder, len(turns))
	for k, i := range turns {
		remainders[k] = v.drafts[i].Remainder(v.Now)
	}
	for k, a := range sched.Refit(v.Now, machine, fixed, remainders) {
		i := turns[k]
		kept[i] = a
		v.move(v.drafts[i], a)
	}
	return kept
}

// turns is the order in which running jobs choose new promises, as indices: by the second of their next change, so that a
// plan in which one of them slips by a second keeps its sequence, and all that follows slips by no more. Applications that
// are late themselves come last, as do jobs whose limit was lengthened again: no promise to another is broken for them.
func (v *World) turns() []int {
	all := make([]int, len(v.drafts))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		one, other := v.drafts[a], v.drafts[b]
		if x, y := one.Tardy(v.Now) || one.Regained, other.Tardy(v.Now) || other.Regained; x != y {
			if y {
				return -1
			}
			return 1
		}
		return cmp.Compare(one.Due(), other.Due())
	})
	return all
}

// move changes the promise of a running job in its draft, and notes that for operators.
func (v *World) move(r *managed.Job, a core.Allocation) {
	if r.Phase != managed.Running || r.NextNodes != nil || len(a.EP) != len(r.Promise)-r.Step {
		return
	}
	was := slices.Clone(r.Promise)
	r.SetPromise(a.Start, a.EP)
	if was[r.Step] <= a.Start { // the present step's own end stays the second it was planned for
		r.Promise[r.Step] = was[r.Step]
	}
	if later := r.End() - was[len(was)-1]; later != 0 {
		v.Said = append(v.Said, Note{r.ID, true, "promise moved", []any{"end", r.End(), "seconds", later}})
		r.Dirty = true
	}
}

// name puts the plan on nodes: running jobs keep what they hold, everything else is named so that no node is in two
// jobs; a course keeps the nodes of the plan before where it can. Those of running jobs are reserved, and others do not
// make them change: a reservation that moves may lose its new nodes to an ordinary job in that instant.
func (m *machine) name() {
	waiters := map[core.JobID]Waiter{}
	for _, w := range m.Queue {
		if w.Managed != nil {
			waiters[w.Job.ID] = w
		}
	}
	idle := m.idle()
	wishes := make([]place.Request, 0, len(m.kept)+len(m.Planned.Jobs))
	for i, a := range m.kept {
		wishes = append(wishes, place.Request{
			Job: a.Job, Start: a.Start, EP: a.EP, Held: m.numbers(m.drafts[i].Holds()), Prefer: m.preferred(m.drafts[i]), Firm: true,
		})
	}
	for _, p := range m.Planned.Jobs {
		w := place.Request{Job: p.Job, Start: p.Start, EP: p.EP}
		if r := waiters[p.Job].Managed; r != nil {
			w.Prefer = m.preferred(r)
			if idle != nil && r.Part != nil {
				w.Prefer = idleFirst(w.Prefer, idle)
			} else if idle != nil {
				w.Prefer = m.yieldedLast(w.Prefer, idle)
			}
		}
		wishes = append(wishes, w)
	}
	named := m.named(wishes)
	for i, r := range m.drafts {
		r.Course = m.courseOf(wishes[i], named[i], r.Current())
	}
	for i, p := range m.Planned.Jobs {
		if w := waiters[p.Job]; w.Managed != nil {
			w.plan.Course = m.courseOf(wishes[len(m.kept)+i], named[len(m.kept)+i], 0)
			w.plan.Course.Choice = w.plan.choice(p.Choice)
		}
	}
}

// named names the nodes of wishes, of which the first belong to running jobs. For a running job a reservation of others begins when it
// does, for a waiting one sooner.
func (m *machine) named(wishes []place.Request) []place.Naming {
	if m.early == nil {
		return place.Name(len(m.Nodes), m.claims, wishes)
	}
	run, wait := wishes[:len(m.kept)], wishes[len(m.kept):]
	all := place.Name(len(m.Nodes), m.claims, run)
	claims := slices.Clone(m.early)
	for _, n := range all {
		for _, l := range n.Layers {
			for _, node := range l.Nodes {
				claims = append(claims, place.Claim{Node: node, From: l.From, To: l.To})
			}
		}
	}
	return append(all, place.Name(len(m.Nodes), claims, wait)...)
}

// courseOf reads a naming. step is the job's present one, with which its remaining profile begins.
func (v *World) courseOf(w place.Request, n place.Naming, step int) *managed.Course {
	c := &managed.Course{Start: w.Start, EP: w.EP}
	if n.Err != nil {
		c.Err = fmt.Errorf("no nodes for it yet: %w", n.Err)
	}
	for _, l := range n.Layers {
		names := make([]string, len(l.Nodes))
		for i, node := range l.Nodes {
			names[i] = v.Nodes[node]
		}
		c.Layers = append(c.Layers, managed.Layer{From: l.From, To: l.To, Step: step + l.Step, Nodes: names})
	}
	return c
}

// idle are the nodes that nobody has now and that are up; nil where naming need not look: no node sleeps, and none is had by somebody who is
// planned to have given it back when a start comes true.
func (m *machine) idle() []int {
	soon := m.Now + m.Settings.StartLead
	looks := slices.ContainsFunc(m.Snapshot.Nodes, func(n adapter.Node) bool { return n.Asleep || n.Yielded }) ||
		slices.ContainsFunc(m.drafts, func(r *managed.Job) bool { return r.Due() <= soon }) ||
		slices.ContainsFunc(m.claims, func(c place.Claim) bool { return c.From == m.Now && c.To <= soon })
	if !looks {
		return nil
	}
	all := []int{}
	for _, n := range m.Snapshot.Nodes {
		if i, ok := m.Index[n.Name]; ok && !n.Asleep && !n.Yielded && m.taken[i].Kind == managed.Nobody {
			all = append(all, i)
		}
	}
	return all
}

// idleFirst has a part of an application prefer nodes that are idle, of which a pass counts on so many now, before those that sleep or that somebody
// has to give back.
func idleFirst(before []place.Named, idle []int) []place.Named {
	var nodes []int
	for _, b := range before {
		nodes = append(nodes, b.Nodes...)
	}
	nodes = append(nodes, idle...)
	slices.SortStableFunc(nodes, func(a, b int) int {
		_, first := slices.BinarySearch(idle, a)
		_, second := slices.BinarySearch(idle, b)
		switch {
		case first == second:
			return 0
		case first:
			return -1
		}
		return 1
	})
	return []place.Named{{Nodes: nodes}}
}

// yieldedLast reorders nodes so that a waiting job prefers idle nodes to nodes on which another job
// would have to end for it.
func (m *machine) yieldedLast(before []place.Named, idle []int) []place.Named {
	yielded := make([]bool, len(m.Nodes))
	for _, n := range m.Snapshot.Nodes {
		if i, ok := m.Index[n.Name]; ok {
			yielded[i] = n.Yielded
		}
	}
	if !slices.Contains(yielded, true) {
		return before
	}
	var all []place.Named
	for _, b := range before {
		b.Nodes = slices.DeleteFunc(slices.Clone(b.Nodes), func(n int) bool { return yielded[n] })
		all = append(all, b)
	}
	return append(all, place.Named{Layer: place.Layer{From: core.Forever, To: core.Forever}, Nodes: idle})
}

// preferred is how the job's course was named in the plan before.
func (v *World) preferred(r *managed.Job) []place.Named {
	if r.NamedBefore == nil {
		return nil
	}
	all := make([]place.Named, len(r.NamedBefore.Layers))
	for i, l := range r.NamedBefore.Layers {
		nodes := v.numbers(l.Nodes)
		all[i] = place.Named{Layer: place.Layer{From: l.From, To: l.To, Count: len(nodes), Step: l.Step}, Nodes: nodes}
	}
	return all
}

func (v *World) numbers(names []string) []int {
	all := make([]int, 0, len(names))
	for _, name := range names {
		if n, ok := v.Index[name]; ok {
			all = append(all, n)
		}
	}
	return all
}
