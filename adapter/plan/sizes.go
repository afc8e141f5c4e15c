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

// Moldable jobs get the size that a rule allows (package sizing), by what runs and what waits on their machine. The planner only knows how
// many nodes are occupied when. This file gives the rule the jobs themselves.

// coreMachine returns the machine without the nodes that are out of service. So a moldable job gets a size that the other nodes can hold.
func (m *machine) coreMachine() core.Machine {
	n := len(m.Nodes)
	for _, lost := range m.lost {
		if lost {
			n--
		}
	}
	return core.Machine{Nodes: n}
}

// loadOf returns the system load that a planner's sizing rule uses, and nil if it has no rule.
func loadOf(s sched.State) *sched.SystemLoad {
	if sizer, sizes := s.(sched.Sizer); sizes {
		return sizer.Load()
	}
	return nil
}

// addRunningToLoad gives the rule the running jobs. Nodes that are just becoming free count as free. Nodes in a foreign reservation without a
// job do not count at all.
func (m *machine) addRunningToLoad() {
	all := loadOf(m.state)
	if all == nil {
		return
	}
	for _, a := range m.fixed {
		all.Leave(a.Job)
	}
	like := m.coreMachine()
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
		addToLoad(all, m.Now, a, listed[a.Job])
	}
	for i, r := range m.drafts {
		addToLoad(all, m.Now, m.kept[i], choicesOf(r))
	}
}

// addToLoad adds a running job to the load. If the choices that it listed are known, its reference size counts, not the nodes it holds.
func addToLoad(all *sched.SystemLoad, now core.Time, a core.Allocation, listed []core.EP) {
	if s := sizing.New(core.Job{Choices: listed}, sizing.HalfReference); s != nil && !s.Several {
		all.Enter(now, core.Job{ID: a.Job}, s)
	}
	all.Running(now, a)
}

// choicesOf returns the choices that limits allow the job, or all if it was not read yet.
func choicesOf(r *managed.Job) []core.EP {
	if r.Seen == nil {
		return r.Choices
	}
	choices, _ := r.Allowed()
	return choices
}

// ordinary returns what ordinary jobs hold of the machine's nodes until their limits.
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

// startTime returns the second in which a job begins to run whose start begins now.
func (v *World) startTime() core.Time { return v.Now + v.Settings.StartLead }

// saveLoad keeps the load by which the rule sized jobs.
func (m *machine) saveLoad() {
	if all := loadOf(m.state); all != nil {
		m.load = all.World(m.planTime())
	}
}

// mostExplained bounds for how many jobs of a queue the attempts of the load rule are recorded. Each costs a look at all jobs.
const mostExplained = 32

// A Size explains the size of a waiting moldable job.
type Size struct {
	Machine int        // index in World.Sizing
	Head    core.JobID // the head of the queue, if this job gets the same fraction of its reference; 0: it has a fraction of its own
	Sized   *view.AllowedSizes
}

// explain records why each waiting moldable job has its size, whether we or the batch system choose it.
func (v *World) explain(m *machine) {
	var waits map[core.JobID]Waiter // nil if all jobs have one size
	if slices.ContainsFunc(m.Queue, func(w Waiter) bool { return len(w.Job.Choices) > 1 || w.moldsItself() }) {
		waits = make(map[core.JobID]Waiter, len(m.Queue))
		for _, w := range m.Queue {
			waits[w.Job.ID] = w
		}
	}
	v.explainPlanned(m, waits)
	v.explainPassed(m, waits)
}

// explainPlanned records why managed jobs have their sizes.
func (v *World) explainPlanned(m *machine, waits map[core.JobID]Waiter) {
	all := loadOf(m.state)
	if all == nil {
		return
	}
	tell := v.explainer(m.Settings.Policy, m.coreMachine().Nodes, waits)
	v.Sizing = append(v.Sizing, view.NewSizing(policy.SizesOf(m.Settings.Policy), m.load)) // also if no moldable job waits
	for _, w := range m.Queue {
		if w.Managed == nil || len(w.Job.Choices) < 2 {
			continue
		}
		if s := all.Sizes(w.Job.ID); s != nil {
			tell(sched.SizeBasis{Job: w.Job.ID, Sizes: s, World: m.load, Head: w.Job.ID, HeadSizes: s})
		}
	}
}

// explainer returns a function that records by what a policy gave a job its size. Jobs with the same input share one entry of World.Sizing.
func (v *World) explainer(p sched.Policy, nodes int, waits map[core.JobID]Waiter) func(sched.SizeBasis) {
	rule := policy.SizingOf(p)
	_, dear := rule.(sizing.Load)
	told, first := 0, len(v.Sizing)
	return func(g sched.SizeBasis) {
		if g.Sizes.Several || dear && told == mostExplained {
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

// capped returns a waiting job with only the choices that the rule allows now, as in Plan.
func (m *machine) capped(j core.Job) core.Job {
	all := loadOf(m.state)
	if all == nil || len(j.Choices) < 2 {
		return j
	}
	s := all.Sizes(j.ID)
	if s == nil || s.Several {
		return j
	}
	if lo, hi, ok := s.Range(all.Sizing.Factor(m.load, s), m.coreMachine().Nodes); ok {
		listed := j.Choices
		j.Choices = s.Choices[lo : hi+1]
		j = m.dueAs(j, listed, 0)
	}
	return j
}

// unsized returns the policy without its sizing rule, for jobs whose choices are capped.
func (m *machine) unsized() sched.Policy { return policy.Unsized(m.Settings.Policy) }
