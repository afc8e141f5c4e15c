package scheduler

import (
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/oar/planner"
)

// evolvingWaiting returns the waiting evolving jobs that do not start now and that the pass does not consider. The sidecar plans them, and
// they also claim a share of the machine.
func (t *translator) evolvingWaiting(p *problem) []core.Job {
	var all []core.Job
	for _, w := range t.state.waiting {
		starts := slices.ContainsFunc(p.fixed.plan, func(one planner.Placed) bool { return one.Job == w.id })
		turn := slices.ContainsFunc(p.turns, func(j planner.Job) bool { return j.ID == w.id })
		if choices := profiles(w.types); choices != nil && !starts && !turn {
			all = append(all, core.Job{ID: core.JobID(w.id), Submit: w.submitted, Choices: choices})
		}
	}
	return all
}

// profiles returns the profiles of an evolving job, in hosts, or nil for another job.
func profiles(types []string) []core.EP {
	var alternatives []string
	for _, one := range types {
		if _, text, is := strings.Cut(one, "="); is && isProfile(one) {
			alternatives = append(alternatives, strings.TrimSpace(text))
		}
	}
	choices, err := moldable.ParseProfiles(strings.Join(alternatives, "|"))
	if err != nil {
		return nil
	}
	return choices
}

// ending are OAR's states of jobs whose resources will be free in a moment. Such jobs no longer count.
var ending = []string{"Finishing", "toError"}

// running returns the jobs that have resources now, with the sizes that they request. An evolving job and its companions are returned as
// one job.
func (t *translator) running(p *problem) []planner.Running {
	var all []planner.Running
	index := map[int64]int{}
	add := func(job int64, has planner.Set, until core.Time) *planner.Running {
		whole := job
		if t.state.orders != nil {
			whole = t.state.orders.BaseOf(job)
		}
		i, known := index[whole]
		if !known {
			i = len(all)
			index[whole] = i
			all = append(all, planner.Running{Job: whole, Resources: planner.NewSet(len(p.ids))})
		}
		all[i].Resources.Join(has)
		all[i].Until = max(all[i].Until, until)
		return &all[i]
	}
	for i, c := range t.state.claims {
		if c.from > t.now || slices.Contains(ending, c.state) {
			continue
		}
		if one := add(c.job, p.claims[i].Resources, p.claims[i].To-p.between); one.Job == c.job {
			one.Listed = t.listed(c)
		}
	}
	for _, one := range p.fixed.plan {
		add(one.Job, one.Resources, one.End())
	}
	return all
}

// listed returns the sizes that the job of a claim requests, in the same kind of resources that the job has. It returns nil if they are
// unknown.
func (t *translator) listed(c claim) (sizes []core.EP) {
	asked := t.state.running[c.job]
	if asked == nil {
		return nil
	}
	at := slices.IndexFunc(asked.choices, func(one *choice) bool { return one.id == c.moldable })
	if at < 0 || asked.choices[at].size() == 0 {
		return nil
	}
	own := asked.choices[at].size() // the size of the configuration in which the job runs
	add := func(lasts core.Time, size int) {
		sizes = append(sizes, core.EP{{Duration: lasts, Nodes: size * len(c.resources) / own}})
	}
	if evolving := profiles(asked.types); evolving != nil {
		for _, ep := range evolving {
			if len(ep) > 1 {
				return nil // then the size that the job has now counts
			}
			add(ep[0].Duration, ep[0].Nodes)
		}
		return sizes
	}
	for _, one := range asked.choices {
		if one.size() == 0 {
			return nil
		}
		add(one.walltime+t.conf.SecurityTime, one.size())
	}
	return sizes
}

// size returns how many units of its last level a configuration requests; 0 means all of them.
func (c *choice) size() int {
	sum := 0
	for _, g := range c.groups {
		product := 1
		for _, l := range g.levels {
			if l.count < 1 {
				return 0
			}
			product = min(product*min(l.count, core.MaxNodes), core.MaxNodes)
		}
		sum = min(sum+product, core.MaxNodes)
	}
	return sum
}
