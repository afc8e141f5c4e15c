package sidecar

import (
	"slices"

	"accordion/core"
	"accordion/core/queue"
)

// advances is how many early applications are looked at in one cycle: each costs a plan.
const advances = 2

// advance lets an application that stands at the end of its step before the planned second go on at once, where that
// delays nobody and the settings say so; one whose second was put off in any case, from the second that it was promised
// first. It says whether a promise was improved: then the plan is made again.
func (s *Sidecar) advance(v *machine) bool {
	like := core.Machine{Nodes: len(v.nodes)}
	for i, r := range v.running {
		if !s.settings.Advance && !r.putOff(v.now) {
			continue
		}
		if r.Phase != running || r.ask == nil || r.busy != "" || r.final() || r.due() <= v.now+1 || r.tried == v.now || v.advances == advances {
			continue
		}
		v.advances++
		r.tried = v.now
		all := append(slices.Clone(v.fixed), v.kept...)
		better := r.goneOn(v.now, like, all, len(v.fixed)+i)
		if better.End() > r.end() || len(better.EP) != len(r.ep())-r.Step-1 {
			continue
		}
		waiting := make([]core.Job, len(v.queue))
		for k, w := range v.queue {
			waiting[k] = w.job
		}
		if !queue.Sooner(s.settings.Policy, v.now, like, all, len(v.fixed)+i, better, waiting, v.planned) {
			continue
		}
		r.Promise[r.Step] = v.now
		second := v.now
		for k, step := range better.EP {
			second += step.Duration
			r.Promise[r.Step+1+k] = second
		}
		r.dirty = true
		s.log.Info("goes on early", "cluster", s.settings.Cluster, "job", r.ID, "step", r.Step+2, "end", r.end())
		return true
	}
	return false
}

// goneOn is what the job would occupy if its next step began now.
func (r *record) goneOn(now core.Time, machine core.Machine, all []core.Allocation, i int) core.Allocation {
	next := r.ep()[r.Step+1:]
	others := slices.Delete(slices.Clone(all), i, i+1)
	return queue.Refit(now, machine, others, []queue.Remainder{{Job: r.ID, Nodes: next[0].Nodes, Left: next[0].Duration, Next: next[1:]}})[0]
}
