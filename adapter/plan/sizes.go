package plan

import (
	"slices"

	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// Moldable jobs get the size that a rule allows (package sizing), by what runs and what waits on their machine. The planner's own
// count of that is made of nodes at seconds; here it is told which jobs these are.

// like is the machine as planners know it: nodes that are out of service are none of it, so that a job whose size it has lost
// gets a smaller one.
func (m *machine) like() core.Machine {
	n := len(m.Nodes)
	for _, lost := range m.lost {
		if lost {
			n--
		}
	}
	return core.Machine{Nodes: n}
}

// crowd is what a planner's rule sees; nil: it has none.
func crowdOf(s sched.State) *sched.SystemLoad {
	if sizer, sizes := s.(sched.Sizer); sizes {
		return sizer.Load()
	}
	return nil
}

// count tells the rule who runs. Nodes that just become free, and those that others keep without a job, are held by nobody; the
// latter are none of the machine.
func (m *machine) count() {
	all := crowdOf(m.state)
	if all == nil {
		return
	}
	for _, a := range m.fixed {
		all.Leave(a.Job)
	}
	like := m.like()
	for _, closed := range m.closed {
		if closed {
			like.Nodes--
		}
	}
	all.Nodes(like)
	listed := map[core.JobID][]core.EP{}
	for i := range m.Snapshot.Jobs {
		if j := &m.Snapshot.Jobs[i]; len(j.Choices) > 1 {
			listed[j.ID] = j.Choices
		}
	}
	for _, a := range m.ordinary() {
		hasBegun(all, m.Now, a, listed[a.Job])
	}
	for i, r := range m.drafts {
		hasBegun(all, m.Now, m.kept[i], choicesOf(r))
	}
}

// hasBegun tells of a job that runs: its reference counts, where it is known what it listed, and not what it holds.
func hasBegun(all *sched.SystemLoad, now core.Time, a core.Allocation, listed []core.EP) {
	if s := sizing.New(core.Job{Choices: listed}, sizing.HalfReference); s != nil && !s.Several {
		all.Enter(now, core.Job{ID: a.Job}, s)
	}
	all.Running(now, a)
}

// choicesOf is what a job may have, as far as that is known.
func choicesOf(r *managed.Job) []core.EP {
	if r.Seen == nil {
		return r.Choices
	}
	choices, _ := r.Allowed()
	return choices
}

// ordinary is what ordinary jobs hold of the machine's nodes, until their limits.
func (m *machine) ordinary() []core.Allocation {
	var all []core.Allocation
	index := map[core.JobID]int{}
	for n, who := range m.taken {
		if who.Kind != managed.OrdinaryOverrun {
			continue
		}
		i, known := index[who.Job]
		if !known {
			i = len(all)
			index[who.Job] = i
			left := max(m.guards[n].from-m.Now, 1)
			all = append(all, core.Allocation{Job: who.Job, Start: m.Now, EP: core.EP{{Duration: left}}})
		}
		all[i].EP[0].Nodes++
	}
	return all
}

// atStart is the second at which jobs begin that the plan begins now: they want their nodes now.
func (v *World) atStart() core.Time { return v.Now + v.Settings.StartLead }

// look is what the rule saw when jobs were sized.
func (m *machine) look() {
	if all := crowdOf(m.state); all != nil {
		m.world = all.World(m.asOf())
	}
}

// explained is for how many jobs of a queue it is told what the load rule tried: each looks at all of them.
const explained = 32

// Size is why a waiting moldable job has its size: what a rule gives it, and what that looked at.
type Size struct {
	Machine int        // of World.Sizing
	Head    core.JobID // whose part of its reference it gets, the head of the queue; 0: it has a part of its own
	Sized   *view.AllowedSizes
}

// explain tells of each moldable job that waits why it has that size: of managed ones, and of those that the batch system molds.
func (v *World) explain(m *machine) {
	var waits map[core.JobID]Waiter // of nobody where all have one size
	if slices.ContainsFunc(m.Queue, func(w Waiter) bool { return len(w.Job.Choices) > 1 || w.moldsItself() }) {
		waits = make(map[core.JobID]Waiter, len(m.Queue))
		for _, w := range m.Queue {
			waits[w.Job.ID] = w
		}
	}
	v.explainPlanned(m, waits)
	v.explainPassed(m, waits)
}

// explainPlanned tells of managed jobs.
func (v *World) explainPlanned(m *machine, waits map[core.JobID]Waiter) {
	all := crowdOf(m.state)
	if all == nil {
		return
	}
	tell := v.explainer(m.Settings.Policy, m.like().Nodes, waits)
	v.Sizing = append(v.Sizing, view.NewSizing(policy.SizesOf(m.Settings.Policy), m.world)) // whoever waits
	for _, w := range m.Queue {
		if w.Managed == nil || len(w.Job.Choices) < 2 {
			continue
		}
		if s := all.Sizes(w.Job.ID); s != nil {
			tell(sched.SizeBasis{Job: w.Job.ID, Sizes: s, World: m.world, Head: w.Job.ID, HeadSizes: s})
		}
	}
}

// explainer tells of jobs by what a policy gives them their sizes on a machine of so many nodes. What it looked at is told once for all
// for whom it is the same.
func (v *World) explainer(p sched.Policy, nodes int, waits map[core.JobID]Waiter) func(sched.SizeBasis) {
	rule := policy.SizingOf(p)
	_, dear := rule.(sizing.Load)
	told, first := 0, len(v.Sizing)
	return func(g sched.SizeBasis) {
		if g.Sizes.Several || dear && told == explained {
			return
		}
		sized := view.NewAllowedSizes(rule, g, nodes)
		if sized == nil {
			return
		}
		told++
		if most := waits[g.Job].Seen.Most; most.Why != "" {
			sized.Limit = most.Nodes
		}
		rule := view.NewSizing(policy.SizesOf(p), g.World)
		if last := len(v.Sizing) - 1; last < first || v.Sizing[last] != rule {
			v.Sizing = append(v.Sizing, rule)
		}
		size := Size{Machine: len(v.Sizing) - 1, Sized: sized}
		if g.Head != g.Job {
			size.Head = g.Head
		}
		v.Sizes[g.Job] = size
	}
}

// capped is a waiting job with the choices only that the rule lets it have now, as Plan did.
func (m *machine) capped(j core.Job) core.Job {
	all := crowdOf(m.state)
	if all == nil || len(j.Choices) < 2 {
		return j
	}
	s := all.Sizes(j.ID)
	if s == nil || s.Several {
		return j
	}
	if lo, hi, ok := s.Range(all.Sizing.Factor(m.world, s), m.like().Nodes); ok {
		listed := j.Choices
		j.Choices = s.Choices[lo : hi+1]
		j = m.dueAs(j, listed, 0)
	}
	return j
}

// unsized is the policy for jobs whose choices are capped.
func (m *machine) unsized() sched.Policy { return policy.Unsized(m.Settings.Policy) }
