package sidecar

import (
	"slices"

	"accordion/adapter/managed"
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
		if !s.settings.Advance && !r.PutOff(v.now) {
			continue
		}
		if r.Phase != managed.Running || r.Asks == nil || r.Busy != "" || r.Final() || r.Due() <= v.now+1 || r.TriedEarly == v.now || v.advances == advances {
			continue
		}
		v.advances++
		r.TriedEarly = v.now
		all := append(slices.Clone(v.fixed), v.kept...)
		better := goneOn(r, v.now, like, all, len(v.fixed)+i)
		if better.End() > r.End() || len(better.EP) != len(r.EP())-r.Step-1 {
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
		r.Dirty = true
		s.log.Info("goes on early", "cluster", s.settings.Cluster, "job", r.ID, "step", r.Step+2, "end", r.End())
		return true
	}
	return false
}

// goneOn is what the job would occupy if its next step began now.
func goneOn(r *managed.Job, now core.Time, machine core.Machine, all []core.Allocation, i int) core.Allocation {
	next := r.EP()[r.Step+1:]
	others := slices.Delete(slices.Clone(all), i, i+1)
	return queue.Refit(now, machine, others, []queue.Remainder{{Job: r.ID, Nodes: next[0].Nodes, Left: next[0].Duration, Next: next[1:]}})[0]
}
