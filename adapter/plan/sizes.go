package plan

import (
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/adapt"
	"accordion/core/crowd"
	"accordion/core/policy"
	"accordion/core/queue"
)

// Moldable jobs get the size that a rule allows (package adapt), by what runs and what waits on their machine. The planner's own
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
func crowdOf(s queue.State) *crowd.Crowd {
	if sizer, sizes := s.(queue.Sizer); sizes {
		return sizer.Crowd()
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
	runs := func(a core.Allocation, listed []core.EP) {
		if s := adapt.New(core.Job{Choices: listed}, adapt.HalfReference); s != nil && !s.Several {
			all.Enter(m.Now, core.Job{ID: a.Job}, s) // its reference counts, and not what it holds
		}
		all.Running(m.Now, a)
	}
	listed := map[core.JobID][]core.EP{}
	for i := range m.Snapshot.Jobs {
		if j := &m.Snapshot.Jobs[i]; len(j.Choices) > 1 {
			listed[j.ID] = j.Choices
		}
	}
	for _, a := range m.ordinary() {
		runs(a, listed[a.Job])
	}
	for i, r := range m.Running {
		runs(m.kept[i], choicesOf(r))
	}
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
		m.world = all.World(m.Now)
	}
}

// explained is for how many jobs of a queue it is told what the load rule tried: each looks at all of them.
const explained = 32

// Size is why a waiting moldable job has its size: what the rule gives it, on which of the plan's machines.
type Size struct {
	Machine int // of World.Sizing
	*view.Sized
}

// moldsItself says whether the batch system chooses the job's size, by the same rule.
func (w Waiter) moldsItself() bool { return w.Managed == nil && len(w.Seen.Choices) > 1 }

// explain tells of each moldable job that waits why it has that size.
func (v *World) explain(number int, m *machine) {
	all := crowdOf(m.state)
	if all == nil {
		return
	}
	v.Sizing = append(v.Sizing, view.SizingOf(policy.SizesOf(m.Settings.Policy), m.world))
	_, dear := all.Sizing.(adapt.Load)
	for _, w := range m.Queue {
		s := all.Sizes(w.Job.ID)
		if s == nil || s.Several || len(w.Job.Choices) < 2 && !w.moldsItself() || dear && len(v.Sizes) == explained {
			continue
		}
		sized := view.SizedOf(all.Sizing, m.world, s, m.like().Nodes)
		if sized == nil {
			continue
		}
		if most := w.Seen.Most; most.Why != "" {
			sized.Limit = most.Nodes
		}
		v.Sizes[w.Job.ID] = Size{number, sized}
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
		j.Choices = s.Choices[lo : hi+1]
	}
	return j
}

// unsized is the policy for jobs whose choices are capped.
func (m *machine) unsized() queue.Policy { return policy.Unsized(m.Settings.Policy) }
