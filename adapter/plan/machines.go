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

// core/sched plans machines of identical nodes. A pool whose nodes differ is planned as several
// machines if jobs distinguish the nodes: kinds that every job accepts or rejects together are one
// machine. Each job is planned on the machine on which it ends first. If a job needs more nodes
// than any machine has, several machines are joined for it. Later jobs that can run only on a part
// of the joined machine have to wait.

// A machine is a part of the pool that is planned separately.
type machine struct {
	*World // the state of its nodes, and its queue
	kinds  map[string]bool
	state  sched.State
	fixed  []core.Allocation // what is held by ordinary jobs, and by reservations of others
	kept   []core.Allocation // what the running managed jobs are promised
	work   int64             // the node-seconds of the jobs in the machine's queue
	load   *sizing.World     // the system load by which moldable jobs got their sizes; nil if the policy has no sizing rule
}

// machines divides the pool into machines and assigns the running jobs to them.
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
		lost := assignRunning(v, all)
		if lost == nil {
			return all
		}
		d.Join(d.RunsOn(lost.Kinds(), 0))
	}
}

// assignRunning gives each running job to the machine that has all of its present and future nodes.
// A job that started when the pool was divided otherwise may have nodes on several machines. The
// job keeps these nodes as claims on each of the machines, because its promise may not be broken
// for a later job. assignRunning returns a job for which this is impossible, because its future
// nodes have no names yet. It returns nil if there is no such job.
func assignRunning(v *World, all []*machine) (lost *managed.Job) {
	if len(all) == 1 {
		all[0].drafts = v.drafts
		return nil
	}
	for _, r := range v.drafts {
		home, alone := homeOf(all, r)
		if alone {
			if home != nil {
				home.drafts = append(home.drafts, r)
			}
			continue
		}
		c := courseOnNamedNodes(r, v.Now)
		if c == nil {
			return r
		}
		r.Course, r.NamedBefore = c, c
		for _, m := range all {
			m.claim(c)
		}
	}
	for _, m := range all {
		m.mergeClaims()
	}
	return nil
}

// homeOf returns the machine of a running job's first node, and whether that machine has all of the
// job's nodes in the pool.
func homeOf(all []*machine, r *managed.Job) (home *machine, alone bool) {
	nodes := slices.Clone(r.NodesForPlan())
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
	if home != nil && r.Course == nil { // after a restart of the sidecar the names of its future nodes are not known
		alone = alone && core.EP(r.EP()[r.PlanStep():]).Peak() <= len(home.Nodes)
	}
	return home, alone
}

// courseOnNamedNodes returns a course for a running job with the nodes of its previous course and
// the times of its present promise. It returns nil if a node has no name.
func courseOnNamedNodes(r *managed.Job, now core.Time) *managed.Course {
	c := &managed.Course{Start: now, Choice: r.Choice, EP: r.Remaining(now)}
	named := map[int][]string{0: slices.Clone(r.NodesForPlan())} // the nodes by the step that adds them; 0 is the present step
	if r.Course != nil {
		for _, l := range r.Course.Layers {
			if step := l.Step - r.PlanStep(); step > 0 {
				named[step] = append(named[step], l.Nodes...)
			}
		}
	}
	for _, l := range place.Layers(now, c.EP) {
		if len(named[l.Step]) < l.Count {
			return nil
		}
		c.Layers = append(c.Layers, managed.Layer{From: l.From, To: l.To, Step: r.PlanStep() + l.Step, Nodes: named[l.Step][:l.Count]})
		named[l.Step] = named[l.Step][l.Count:]
	}
	return c
}

// claim marks a course's nodes as occupied on the machine.
func (m *machine) claim(c *managed.Course) {
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

// mergeClaims replaces claims that overlap by their union.
func (m *machine) mergeClaims() {
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

// fewest returns the smallest number of nodes with which the job can run.
func (w Waiter) fewest() int {
	fewest := w.Job.Choices[0].Peak()
	for _, ep := range w.Job.Choices[1:] {
		fewest = min(fewest, ep.Peak())
	}
	return fewest
}

// takes reports whether a job that accepts these kinds can run on all nodes of the machine, and
// whether it can run on some of them.
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

// submit appends a job to the queue of the machine on which it is planned. A managed job that can
// run only on a part of a machine waits until the pool is divided otherwise.
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
		} else if len(open) > 0 && open[0].reservesForFew() { // the job waits
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
	m.state.Submit(m.startTime(), w.Job)
	if all := loadOf(m.state); all != nil && w.moldsItself() {
		all.Enter(m.startTime(), w.Job, sizing.New(core.Job{Choices: w.Seen.Choices}, policy.FloorOf(m.Settings.Passes)))
	}
}

// soonest returns the machine on which a job ends first, and nil if it has a place on none.
func soonest(all []*machine, w Waiter) *machine {
	var best *machine
	var end core.Time
	for _, m := range all {
		try := m.state.Clone()
		try.Submit(m.startTime(), w.Job)
		jobs := try.Plan(m.planTime()).Jobs // the job is the last in the queue
		if n := len(jobs); n > 0 && jobs[n-1].Job == w.Job.ID && (best == nil || jobs[n-1].End() < end) {
			best, end = m, jobs[n-1].End()
		}
	}
	return best
}

// lightest returns the machine with the least queued work per node. An ordinary job that can run on
// several machines is planned there. The batch system decides where the job starts, and is likely
// to choose that machine.
func lightest(all []*machine) *machine {
	return slices.MinFunc(all, func(a, b *machine) int {
		return cmp.Compare(float64(a.work)/float64(len(a.Nodes)), float64(b.work)/float64(len(b.Nodes)))
	})
}

// spread puts an ordinary job that needs nodes of several machines into the queue of each of these
// machines, with a share of the job's nodes.
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
