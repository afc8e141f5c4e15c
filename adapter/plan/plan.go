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

// Make returns the world of a cycle with its plan. Make changes none of its inputs. Apply writes
// the plan for each job into the records.
func Make(in Input) *World {
	v := newWorld(in)
	v.planUntilStable()
	v.admitRigid()
	v.JobPlans = v.jobPlans()
	return v
}

// planUntilStable gives every job its course: first the running jobs, as promised, and then the
// queue in its order. If an early application can continue without a delay for other jobs,
// planUntilStable plans again with the improved promise.
func (v *World) planUntilStable() {
	for !v.planOnce() {
	}
}

// planOnce makes one plan. It returns false if it improved a promise, so that a new plan is needed.
func (v *World) planOnce() bool {
	v.late = map[core.JobID]bool{}
	all := v.machines()
	for _, m := range all {
		like := m.coreMachine()
		m.state, m.fixed = v.Settings.Policy.New(like), m.occupied(m.claimsForWaiting())
		for _, a := range m.fixed {
			m.state.Running(v.Now, a)
		}
		m.kept = m.keepPromises(like, m.occupied(m.claims))
		for _, a := range m.kept {
			m.state.Running(v.Now, a)
		}
		m.addRunningToLoad()
	}
	for _, w := range v.Queue {
		submit(all, w)
	}
	for _, m := range all {
		m.planTimely()
		maps.Copy(v.late, m.late)
		m.saveLoad()
		m.advances = v.advances
		improved := m.advance()
		v.advances = m.advances
		v.Notes = append(v.Notes, m.Notes...)
		m.Notes = nil
		if improved {
			return false
		}
	}
	for _, m := range all {
		m.nameNodes()
		v.explain(m)
	}
	v.Planned = combined(all, v.Queue)
	v.setTurns()
	return true
}

// combined returns the plans of all machines as one, in the order of the queue. An ordinary job on
// several machines starts when the last of its shares starts.
func combined(all []*machine, queue []Waiter) core.Plan {
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

// occupied converts claims on nodes into allocations for core/sched, which counts how many nodes
// are occupied during each span.
func (v *World) occupied(claims []place.Claim) []core.Allocation {
	type span struct{ from, to, guard core.Time }
	counts := map[span]int{}
	var order []span
	for _, c := range claims {
		if c.To == core.Forever && v.lost[c.Node] {
			continue // coreMachine does not count this node
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

// keepPromises returns what the running jobs occupy from now on. Promises may not fit any more: a
// node was lost, an ordinary job overruns, or an application is late. In this case keepPromises
// fits the rest of each job again, and moves the promises.
func (v *World) keepPromises(machine core.Machine, fixed []core.Allocation) []core.Allocation {
	kept := make([]core.Allocation, len(v.drafts))
	for i, r := range v.drafts {
		kept[i] = core.Allocation{Job: r.ID, Start: v.Now, EP: r.Remaining(v.Now)}
	}
	if sched.Fits(machine, append(slices.Clone(fixed), kept...)) {
		return kept
	}
	turns := v.refitOrder()
	remainders := make([]sched.Remainder, len(turns))
	for k, i := range turns {
		remainders[k] = v.drafts[i].Remainder(v.Now)
	}
	for k, a := range sched.Refit(v.Now, machine, fixed, remainders) {
		i := turns[k]
		kept[i] = a
		v.movePromise(v.drafts[i], a)
	}
	return kept
}

// refitOrder returns the order, as indices, in which running jobs get new promises. The jobs are
// ordered by the time of their next resize. So if one job slips by a second, the sequence stays,
// and later resizes slip by no more than a second. Late applications come last, as do jobs whose
// limit was raised again, because no promise to another job may be broken for them.
func (v *World) refitOrder() []int {
	all := make([]int, len(v.drafts))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		one, other := v.drafts[a], v.drafts[b]
		if x, y := one.ApplicationLate(v.Now) || one.LimitRegained, other.ApplicationLate(v.Now) || other.LimitRegained; x != y {
			if y {
				return -1
			}
			return 1
		}
		return cmp.Compare(one.Due(), other.Due())
	})
	return all
}

// movePromise changes the promise of a running job in its draft, and adds a note for operators.
func (v *World) movePromise(r *managed.Job, a core.Allocation) {
	if r.Phase != managed.Running || r.NextNodes != nil || len(a.EP) != len(r.Promise)-r.Step {
		return
	}
	was := slices.Clone(r.Promise)
	r.SetPromise(a.Start, a.EP)
	if was[r.Step] <= a.Start { // the planned end of the present step stays
		r.Promise[r.Step] = was[r.Step]
	}
	if later := r.End() - was[len(was)-1]; later != 0 {
		v.Notes = append(v.Notes, Note{r.ID, true, "promise moved", []any{"end", r.End(), "seconds", later}})
		r.Unsaved = true
	}
}

// nameNodes chooses the nodes for each job of the plan. Running jobs keep the nodes that they hold,
// and no node is in two jobs. A course keeps the nodes of the previous plan if possible. Planned
// nodes of running jobs are already reserved, and do not change for the sake of other jobs. If a
// reservation moved to other nodes, an ordinary job could take those nodes in the same instant.
func (m *machine) nameNodes() {
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
			Job: a.Job, Start: a.Start, EP: a.EP, Held: m.numbers(m.drafts[i].NodesForPlan()), Prefer: m.preferred(m.drafts[i]), Firm: true,
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
	named := m.namingsOf(wishes)
	for i, r := range m.drafts {
		r.Course = m.courseOf(wishes[i], named[i], r.PlanStep())
	}
	for i, p := range m.Planned.Jobs {
		if w := waiters[p.Job]; w.Managed != nil {
			w.plan.Course = m.courseOf(wishes[len(m.kept)+i], named[len(m.kept)+i], 0)
			w.plan.Course.Choice = w.plan.choice(p.Choice)
		}
	}
}

// namingsOf chooses nodes for the requests in `wishes`, in which the requests of running jobs come
// first. Foreign reservations begin earlier for waiting jobs than for running jobs (Approach).
func (m *machine) namingsOf(wishes []place.Request) []place.Naming {
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

// courseOf returns a naming as a course. The profile in w begins with the job's present step, which
// is `step`.
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

// idle returns the nodes that are up and that no job holds now. It returns nil if these nodes need
// not be preferred. That is the case if no node is powered down or yielded, and no node is planned
// to become free before a start that is decided now takes effect.
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

// idleFirst returns the nodes that a part of an application prefers: first idle nodes, then nodes
// that are powered down or have to be released. core/delegated assumes idle nodes when it starts a
// part.
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

// yieldedLast reorders nodes so that a waiting job prefers idle nodes to nodes on which a
// preemptible job would have to end.
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

// preferred returns the nodes that the previous plan named for the job.
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
