package sched_test

import (
	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sched/schedtest"
)

const horizon = schedtest.Horizon

// dumb is the second implementation of Repeated, on an array of seconds.
type dumb struct{ schedtest.Seconds }

func newDumb(nodes int, all ...core.Allocation) *dumb {
	return &dumb{*schedtest.NewSeconds(nodes, all...)}
}

// plan implements Figure 5 of RR-7389, word by word.
func (d *dumb) plan(policy sched.Repeated, now core.Time, jobs []core.Job) core.Plan {
	var plan core.Plan
	queued := crowd{order: policy.Order}
	for _, j := range jobs {
		queued.insert(waiter{job: j})
	}
	for _, w := range queued.waiting {
		j := w.job
		var best *core.Planned
		for c, ep := range j.Choices {
			start, scheduled, ok := d.Fit(ep, policy.Limit, max(now, j.Begin), false, policy.Compact)
			if !ok {
				continue
			}
			if policy.LeastWaste {
				start, scheduled = d.Least(ep, policy.Limit, max(now, j.Begin), start+scheduled.Total())
			}
			p := core.Planned{Allocation: core.Allocation{Job: j.ID, Start: start, EP: scheduled}, Choice: c}
			if best == nil || p.End() < best.End() || p.End() == best.End() && p.EP.Peak() < best.EP.Peak() {
				best = &p
			}
		}
		if best != nil {
			d.Add(best.Allocation)
			plan.Jobs = append(plan.Jobs, *best)
		}
	}
	return plan
}
