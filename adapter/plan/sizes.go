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

// A sizing rule (package sizing) decides which sizes moldable jobs may get. The sizes depend on the
// other jobs that run and wait on the same machine. The planner only knows how many nodes are
// occupied at which time. So this file passes the jobs themselves to the rule.

// coreMachine returns the machine without the nodes that are out of service. So a moldable job gets
// a size that fits on the nodes in service.
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

// addRunningToLoad passes the running jobs to the rule. Nodes that are just becoming free count as
// free. Nodes that are in a foreign reservation and run no job do not count at all.
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

// addToLoad adds a running job to the load. A job whose requested sizes are known counts with its
// reference size, not with the nodes that it holds.
func addToLoad(all *sched.SystemLoad, now core.Time, a core.Allocation, listed []core.EP) {
	if s := sizing.New(core.Job{Choices: listed}, sizing.HalfReference); s != nil && !s.Several {
		all.Enter(now, core.Job{ID: a.Job}, s)
	}
	all.Running(now, a)
}

// choicesOf returns the choices that the site's limits allow the job, or all choices if no reading
// has shown the job yet.
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

// startTime returns the second at which a job begins to run if its start is decided now.
func (v *World) startTime() core.Time { return v.Now + v.Settings.StartLead }

// saveLoad stores the load with which the rule chose sizes.
func (m *machine) saveLoad() {
	if all := loadOf(m.state); all != nil {
		m.load = all.World(m.planTime())
	}
}

// mostExplained bounds for how many jobs of a queue the attempts of the rule `load` are recorded.
// Each attempt computes the load of all jobs.
const mostExplained = 32

// A Size explains the size of a waiting moldable job.
type Size struct {
	Machine int        // index in World.Sizing
	Head    core.JobID // the head of the queue, if this job gets the same fraction of its reference as the head; 0 if the job has a fraction of its own
	Sized   *view.AllowedSizes
}

// explain records why each waiting moldable job has its size, whether the sidecar or the batch
// system chooses the size.
func (v *World) explain(m *machine) {
	var waits map[core.JobID]Waiter // nil if each job has only one size
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
	v.Sizing = append(v.Sizing, view.NewSizing(policy.SizesOf(m.Settings.Policy), m.load)) // recorded even if no moldable job waits
	for _, w := range m.Queue {
		if w.Managed == nil || len(w.Job.Choices) < 2 {
			continue
		}
		if s := all.Sizes(w.Job.ID); s != nil {
			tell(sched.SizeBasis{Job: w.Job.ID, Sizes: s, World: m.load, Head: w.Job.ID, HeadSizes: s})
		}
	}
}

// explainer returns a function that records how a policy chose a job's size. Jobs with the same
// input share one entry of World.Sizing.
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

// capped returns a waiting job with only the choices that the sizing rule allows now. The planner
// of core/sched does the same.
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
