package plan

import (
	"cmp"
	"math"
	"slices"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/place"
	"accordion/core/sched"
)

// OAR chooses the sizes of its own moldable jobs when it schedules them. To explain these sizes,
// this file computes them again. It enters the running and waiting jobs, as the batch system counts
// them, into a sched.State of the batch system's policy.

// moldsItself reports whether the batch system chooses the job's size.
func (w Waiter) moldsItself() bool { return w.Managed == nil && len(w.Seen.Choices) > 1 }

// explainPassed records the reasons for the sizes that the batch system itself chose.
func (v *World) explainPassed(m *machine, waits map[core.JobID]Waiter) {
	if m.Settings.Passes == nil || !slices.ContainsFunc(m.Queue, Waiter.moldsItself) {
		return
	}
	in := m.moldableNodes()
	nodes := 0
	for n := range m.Nodes {
		if in(n) {
			nodes++
		}
	}
	state := m.Settings.Passes.New(core.Machine{Nodes: nodes})
	all := loadOf(state)
	if all == nil {
		return
	}
	m.addTaken(state, in)
	m.addRunning(all, in)
	m.addWaiting(state, all)
	tell, has := v.explainer(m.Settings.Passes, nodes, waits), m.mostNodes(in)
	each := func(g sched.SizeBasis) {
		if w, here := waits[g.Job]; here && w.moldsItself() {
			g.MaxNodes = has[g.Job]
			tell(g)
		}
	}
	if explains, can := state.(sched.Explainer); can {
		explains.Explain(m.Now, each)
		return
	}
	world := all.World(m.Now)
	for _, w := range m.Queue {
		if s := all.Sizes(w.Job.ID); s != nil && w.Managed == nil {
			each(sched.SizeBasis{Job: w.Job.ID, Sizes: s, World: world, Head: w.Job.ID, HeadSizes: s})
		}
	}
}

// moldableNodes returns a function that reports whether the batch system may start its moldable
// jobs on a node.
func (m *machine) moldableNodes() func(node int) bool {
	may, reach := make([]bool, len(m.Nodes)), m.Snapshot.OwnSizing.Eligible
	for _, p := range reach {
		for _, name := range p.Nodes {
			if i, here := m.Index[name]; here {
				may[i] = true
			}
		}
	}
	for _, n := range m.Snapshot.Nodes {
		if i, here := m.Index[n.Name]; here {
			may[i] = n.Usable && (may[i] || reach == nil)
		}
	}
	return func(n int) bool { return may[n] }
}

// mostNodes returns how many of the nodes a job may have, for each job that may run only on some of
// the nodes.
func (m *machine) mostNodes(in func(node int) bool) map[core.JobID]int {
	has := map[core.JobID]int{}
	for _, p := range m.Snapshot.OwnSizing.Eligible {
		n := 0
		for _, name := range p.Nodes {
			if i, here := m.Index[name]; here && in(i) {
				n++
			}
		}
		for _, id := range p.Jobs {
			has[id] = max(has[id], n)
		}
	}
	return has
}

// addTaken adds to a State which of the nodes are occupied, by any job or reservation. These nodes
// do not count in the State's load, to which addRunning adds the running jobs.
func (m *machine) addTaken(s sched.State, in func(node int) bool) {
	taken := make(spans, len(m.Nodes))
	add := func(names []string, from, to core.Time) {
		for _, name := range names {
			if n, here := m.Index[name]; here && in(n) {
				taken.add(n, max(from, m.Now), to)
			}
		}
	}
	pause := m.Snapshot.OwnSizing.Pause
	for i := range m.Snapshot.Jobs {
		if j := &m.Snapshot.Jobs[i]; m.asRead(j) {
			add(j.Nodes, j.Started, limitEnd(j)+pause)
		}
	}
	for _, r := range m.drafts {
		add(r.NodesForPlan(), m.Now, r.End())
	}
	for _, r := range m.Snapshot.Reservations {
		if r.Ours() {
			add(r.Nodes, r.Start, r.End)
		} else {
			add(r.Nodes, r.Start, r.End+pause)
		}
	}
	all := loadOf(s)
	for i, a := range allocationsOf(taken.claims()) {
		s.Running(m.Now, a)
		defer all.Leave(core.JobID(-1 - i))
	}
}

// allocationsOf returns claims as allocations that count nodes.
func allocationsOf(claims []place.Claim) []core.Allocation {
	slices.SortStableFunc(claims, func(a, b place.Claim) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	var all []core.Allocation
	for _, c := range claims {
		if last := len(all) - 1; last >= 0 && all[last].Start == c.From && all[last].End() == c.To {
			all[last].EP[0].Nodes++
			continue
		}
		all = append(all, core.Allocation{Job: core.JobID(-1 - len(all)), Start: c.From, EP: core.EP{{Duration: c.To - c.From, Nodes: 1}}})
	}
	return all
}

// addRunning adds to the load the jobs that hold some of the nodes, and the foreign reservations
// that cover some of the nodes now.
func (m *machine) addRunning(all *sched.SystemLoad, in func(node int) bool) {
	holds := func(names []string) (n int) {
		for _, name := range names {
			if i, here := m.Index[name]; here && in(i) {
				n++
			}
		}
		return n
	}
	run := func(id core.JobID, names []string, until core.Time, listed []core.EP) {
		if n := holds(names); n > 0 {
			addToLoad(all, m.Now, core.Allocation{Job: id, Start: m.Now, EP: core.EP{{Duration: max(until-m.Now, 1), Nodes: n}}}, scaled(listed, n, len(names)))
		}
	}
	for i := range m.Snapshot.Jobs {
		if j := &m.Snapshot.Jobs[i]; j.State == adapter.Running && j.Expands == 0 && m.asRead(j) {
			run(j.ID, j.Nodes, limitEnd(j), j.Choices)
		}
	}
	for i, r := range m.drafts {
		run(r.ID, r.NodesForPlan(), m.kept[i].End(), choicesOf(r))
	}
	for i, r := range m.Snapshot.Reservations {
		if !r.Ours() && r.Start <= m.Now && m.Now < r.End {
			run(core.JobID(-1-i), r.Nodes, r.End, nil)
		}
	}
}

// asRead reports whether the reading determines which nodes the job holds. For a running managed
// job, its record determines that.
func (m *machine) asRead(j *adapter.Job) bool {
	r := m.Managed[j.Key]
	return r == nil || r.Phase == managed.Waiting
}

// limitEnd returns the second in which a job reaches its time limit.
func limitEnd(j *adapter.Job) core.Time { return j.Started + min(j.Limit, core.Forever-j.Started) }

// scaled returns a job's choices with each size multiplied by `has`/`of`. Only `has` of the job's
// `of` nodes are on this machine.
func scaled(listed []core.EP, has, of int) []core.EP {
	if has == of {
		return listed
	}
	all := make([]core.EP, len(listed))
	for i, ep := range listed {
		for _, s := range ep {
			s.Nodes = (2*s.Nodes*has + of) / (2 * of)
			all[i] = append(all[i], s)
		}
	}
	return all
}

// addWaiting adds all waiting jobs, ordered by number. Managed jobs only count in the load, because
// the batch system does not plan them.
func (m *machine) addWaiting(s sched.State, all *sched.SystemLoad) {
	apart := m.Snapshot.OwnSizing.Outside
	before := func(id core.JobID) {
		for ; len(apart) > 0 && apart[0].ID < id; apart = apart[1:] {
			m.addApart(s, all, apart[0])
		}
	}
	for _, w := range m.Queue {
		before(w.Job.ID)
		if w.Managed != nil {
			all.Submit(m.Now, core.Job{ID: w.Job.ID, Submit: w.Job.Submit, Choices: w.Job.Choices})
			continue
		}
		pause := m.Snapshot.OwnSizing.Pause
		j := core.Job{ID: w.Job.ID, Submit: w.Job.Submit, Begin: w.Seen.Begin, Choices: w.Seen.Choices, Pause: pause}
		if j.Choices == nil {
			j.Choices = []core.EP{{{Duration: min(max(w.Seen.Limit, 1), core.MaxTotal) + pause, Nodes: max(w.Seen.Want, 1)}}}
		}
		s.Submit(m.Now, j)
	}
	before(math.MaxInt64)
}

// addApart adds a job that the batch system plans outside the sidecar's queue.
func (m *machine) addApart(s sched.State, all *sched.SystemLoad, a adapter.OutsideJob) {
	if a.After {
		a.Begin = max(a.Begin, m.Now+1)
	}
	s.Submit(m.Now, a.Job)
	if a.Uncounted {
		all.Enter(m.Now, core.Job{ID: a.ID, Begin: core.Forever}, all.Sizes(a.ID))
	}
}
