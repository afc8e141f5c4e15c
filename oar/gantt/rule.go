package gantt

import (
	"accordion/core"
	"accordion/core/crowd"
	"accordion/core/policy"
	"accordion/core/queue"
)

// Rule is how the jobs of a queue are planned: by which policy, and beside whom.
type Rule struct {
	Policy queue.Policy
	// Beside are jobs that wait and are planned by others, in hosts: they want their part of the machine.
	Beside []core.Job
}

// count tells a policy that sizes jobs who else is there. What is claimed for no job is held by nobody, and is none of the machine
// now.
func (r Rule) count(all *crowd.Crowd, now core.Time, h hosts) {
	if all == nil {
		return
	}
	closed := 0
	for i, c := range h.busy {
		if c.Job != 0 {
			continue
		}
		all.Leave(core.JobID(-1 - i))
		if c.From <= now {
			closed += c.Node
		}
	}
	all.Nodes(core.Machine{Nodes: h.parts - h.lost - closed})
	for _, j := range r.Beside {
		all.Submit(now, j)
	}
}

// Capped is the jobs with the choices only that the rule lets them have now, counted in resources: for Plan, which knows no
// rule. A job keeps its place in the queue.
func (r Rule) Capped(usable Set, now core.Time, claims []Claim, jobs []Job) []Job {
	closed := NewSet(64 * len(usable))
	for _, c := range claims {
		if c.Job == 0 && c.From <= now && now < c.To {
			closed.Join(c.Resources)
		}
	}
	closed.Keep(usable)
	all := policy.CrowdOf(r.Policy, core.Machine{Nodes: usable.Len() - closed.Len()})
	if all == nil {
		return jobs
	}
	for _, c := range claims {
		if c.Job != 0 && c.From <= now && now < c.To {
			all.Running(now, core.Allocation{Job: core.JobID(c.Job), Start: now, EP: core.EP{{Duration: c.To - now, Nodes: c.Resources.Len()}}})
		}
	}
	hosts := perHost(jobs)
	for _, j := range r.Beside {
		all.Submit(now, times(j, hosts))
	}
	for _, j := range jobs {
		counted := j.counted(Choice.resources)
		if len(j.After) > 0 {
			counted.Begin = max(counted.Begin, now+1) // it could not begin now
		}
		all.Submit(now, counted)
	}
	world := all.World(now)
	capped := make([]Job, len(jobs))
	for i, j := range jobs {
		capped[i] = j
		s := all.Sizes(core.JobID(j.ID))
		if s == nil || len(j.Choices) < 2 {
			continue
		}
		lo, hi, ok := s.Range(all.Sizing.Factor(world, s), usable.Len())
		if !ok {
			continue
		}
		capped[i].Choices = nil
		for k := lo; k <= hi; k++ {
			capped[i].Choices = append(capped[i].Choices, j.Choices[s.Choice(k)])
		}
	}
	return capped
}

// resources is how many a choice needs.
func (c Choice) resources() int {
	n := 0
	for _, g := range c.Groups {
		n += g.least()
	}
	return n
}

// perHost is how many resources a host has: what a part of the first level has, of the requests for several parts.
func perHost(jobs []Job) int {
	for _, j := range jobs {
		for _, c := range j.Choices {
			if t := c.Groups[0].Tree; len(t.children) > 1 {
				return max(1, t.size/len(t.children))
			}
		}
	}
	return 1
}

// times is a job of so many times its nodes.
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
