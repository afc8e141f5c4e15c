package planner

import (
	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// Rule has the policy by which the jobs of a queue are planned, and the other jobs with which they share the machine.
type Rule struct {
	Policy sched.Policy
	// Running are the jobs that have resources now. A sizing rule uses these resources and the reference sizes of the jobs (package
	// sizing).
	Running []Running
	// Beside are waiting jobs that another program (the sidecar) plans, with sizes in hosts. They also claim a share of the machine.
	Beside []core.Job
}

// Running is a job that has resources now.
type Running struct {
	Job       int64
	Resources Set
	Until     core.Time // the latest end, according to its request
	Listed    []core.EP // the sizes that it requests, in resources; if nil, the size of Resources counts as its reference size
}

// sizes returns the sizes that the job requests, converted to another unit. `has` is the size of r.Resources in that
// unit.
func (r Running) sizes(has int) *sizing.Sizes {
	of := r.Resources.Len()
	listed := make([]core.EP, len(r.Listed))
	for i, ep := range r.Listed {
		listed[i] = core.EP{{Duration: ep[0].Duration, Nodes: (2*ep[0].Nodes*has + of) / (2 * of)}}
	}
	return sizing.New(core.Job{Choices: listed}, sizing.HalfReference)
}

// addRunning adds the running jobs to the load. `has` converts the resources of a job to a number.
func (r Rule) addRunning(all *sched.SystemLoad, now core.Time, has func(Set) int) {
	for _, one := range r.Running {
		n := has(one.Resources)
		if n == 0 {
			continue
		}
		id := core.JobID(one.Job)
		all.Enter(now, core.Job{ID: id}, one.sizes(n))
		all.Running(now, core.Allocation{Job: id, Start: now, EP: core.EP{{Duration: max(one.Until-now, 1), Nodes: n}}})
	}
}

// count corrects the load that a sizing policy uses: it replaces the claims of running jobs by the running jobs themselves.
func (r Rule) count(all *sched.SystemLoad, now core.Time, h hosts) {
	if all == nil {
		return
	}
	for i := range h.busy {
		all.Leave(core.JobID(-1 - i))
	}
	r.addRunning(all, now, h.counter())
	for _, j := range r.Beside {
		all.Submit(now, j)
	}
}

// submit adds a waiting job to the policy's state. `count` returns the size of a choice. An uncounted job is added with its sizes, but
// claims no share of the machine.
func (r Rule) submit(state sched.State, now core.Time, j Job, count func(Choice) int) {
	counted := j.counted(count)
	state.Submit(now, counted)
	sizer, sizes := state.(sched.Sizer)
	if !j.Uncounted || !sizes || sizer.Load() == nil {
		return
	}
	s := sizer.Load().Sizes(counted.ID)
	sizer.Load().Enter(now, core.Job{ID: counted.ID, Begin: core.Forever}, s)
}

// Capped returns the jobs with only those choices that the sizing rule allows now. Sizes count resources. It is for Plan, which applies no
// rule. The jobs keep their order. As in PlanAlike, the machine consists of the resources that at least one of the jobs may have.
func (r Rule) Capped(usable Set, now core.Time, claims []Claim, jobs []Job) []Job {
	machine := within(usable, jobs)
	state := r.Policy.New(core.Machine{Nodes: machine.Len()})
	sizer, sizes := state.(sched.Sizer)
	if !sizes || sizer.Load() == nil {
		return jobs
	}
	all := sizer.Load()
	for i, c := range claims {
		if n := machine.common(c.Resources); n > 0 && c.To > now {
			from := max(c.From, now)
			state.Running(now, core.Allocation{Job: core.JobID(-1 - i), Start: from, EP: core.EP{{Duration: c.To - from, Nodes: n}}})
			all.Leave(core.JobID(-1 - i))
		}
	}
	r.addRunning(all, now, machine.common)
	hosts := perHost(jobs)
	for _, j := range r.Beside {
		all.Submit(now, times(j, hosts))
	}
	for _, j := range jobs {
		if j.Profiles != nil {
			all.Submit(now, times(j.counted(nil), hosts)) // the sidecar decides its size
			continue
		}
		if len(j.After) > 0 {
			j.Begin = max(j.Begin, now+1) // the job could not start now
		}
		r.submit(state, now, j, Choice.resources)
	}
	may, can := allowed(state, all, now, jobs, machine.Len()), possibility{usable, map[string]bool{}}
	capped := make([]Job, len(jobs))
	for i, j := range jobs {
		capped[i] = j
		between, told := may[j.ID]
		if s := sizing.New(j.counted(Choice.resources), policy.FloorOf(r.Policy)); told && s != nil && len(j.Choices) > 1 {
			capped[i].Choices = can.within(j.Choices, s, s.UpTo(between.least), s.UpTo(between.most))
		}
	}
	return capped
}

// within returns the usable resources that at least one of the jobs may have.
func within(usable Set, jobs []Job) Set {
	some := make(Set, len(usable))
	seen := map[*Tree]bool{}
	for _, j := range jobs {
		for _, c := range j.Choices {
			for _, g := range c.Groups {
				if !seen[g.Tree] {
					seen[g.Tree] = true
					g.Tree.of(some).Join(g.Tree.words)
				}
			}
		}
	}
	some.Keep(usable)
	return some
}

// between is a range of sizes in resources, both ends included.
type between struct{ least, most int }

// allowed returns the range of sizes that the policy's state gives each job.
func allowed(state sched.State, all *sched.SystemLoad, now core.Time, jobs []Job, machine int) map[int64]between {
	may := make(map[int64]between, len(jobs))
	tell := func(g sched.SizeBasis) {
		if lo, hi, ok := g.Range(all.Sizing.Factor(g.World, g.HeadSizes), machine); ok {
			may[int64(g.Job)] = between{g.Sizes.Steps[lo].Nodes, g.Sizes.Steps[hi].Nodes}
		}
	}
	if explains, can := state.(sched.Explainer); can {
		explains.Explain(now, tell)
		return may
	}
	world := all.World(now)
	for _, j := range jobs {
		id := core.JobID(j.ID)
		if s := all.Sizes(id); s != nil {
			tell(sched.SizeBasis{Job: id, Sizes: s, World: world, Head: id, HeadSizes: s})
		}
	}
	return may
}

// possibility checks which choices can be placed on an empty machine.
type possibility struct {
	usable Set
	known  map[string]bool // by kind of choice
}

// within returns the choices with sizes from `lo` to `hi`. If none of them can be placed even on an empty machine, it
// returns the largest choice below `lo` that can be placed. (A choice cannot be placed if there are too few resources,
// or if they are not close enough together.)
func (p possibility) within(choices []Choice, s *sizing.Sizes, lo, hi int) (some []Choice) {
	possible := false
	for k := lo; k <= hi; k++ {
		c := choices[s.Choice(k)]
		some, possible = append(some, c), possible || p.holds(c)
	}
	for k := lo - 1; k >= 0 && !possible; k-- {
		if c := choices[s.Choice(k)]; p.holds(c) {
			return []Choice{c}
		}
	}
	return some
}

// holds reports whether a choice can be placed.
func (p possibility) holds(c Choice) bool {
	kind := c.kind()
	can, known := p.known[kind]
	if !known {
		_, can = (&search{cal: NewCalendar(p.usable)}).earliest(c, 0)
		p.known[kind] = can
	}
	return can
}

// resources returns the minimum number of resources that a choice needs.
func (c Choice) resources() int {
	n := 0
	for _, g := range c.Groups {
		n += g.least()
	}
	return n
}

// perHost returns how many resources a host has. A host is a part of the first level of a request with several levels.
func perHost(jobs []Job) int {
	for _, j := range jobs {
		if j.Profiles != nil {
			return max(1, j.Hosts.size/max(1, len(j.Hosts.children)))
		}
		for _, c := range j.Choices {
			if t := c.Groups[0].Tree; len(t.children) > 1 {
				return max(1, t.size/len(t.children))
			}
		}
	}
	return 1
}

// times returns the job with all sizes multiplied by n.
func times(j core.Job, n int) core.Job {
	choices := make([]core.EP, len(j.Choices))
	for i, ep := range j.Choices {
		for _, s := range ep {
			s.Nodes *= n
			choices[i] = append(choices[i], s)
		}
	}
	j.Choices = choices
	return j
}
