package plan

import (
	"slices"

	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/sched"
)

// advances is how many early applications are looked at in one cycle: each costs a plan.
const advances = 2

// advance lets an application that stands at the end of its step before the planned second go on at once, where that
// delays nobody and the settings say so; one whose second was put off in any case, from the second that it was promised
// first. It says whether a promise was improved: then the plan is made again.
func (v *machine) advance() bool {
	like := v.like()
	for i, r := range v.drafts {
		if !v.Settings.Advance && !r.PutOff(v.Now) {
			continue
		}
		if r.Phase != managed.Running || r.Asks == nil || r.Busy != "" || r.Final() || r.Due() <= v.Now+1 || v.paced(r) || r.TriedEarly == v.Now || v.advances == advances {
			continue
		}
		v.advances++
		r.TriedEarly = v.Now
		all := append(slices.Clone(v.fixed), v.kept...)
		better := goneOn(r, v.Now, like, all, len(v.fixed)+i)
		if better.End() > r.End() || len(better.EP) != len(r.EP())-r.Step-1 {
			continue
		}
		waiting := make([]core.Job, 0, len(v.Queue))
		for _, w := range v.Queue {
			if !v.late[w.Job.ID] {
				waiting = append(waiting, v.capped(w.Job))
			}
		}
		if !sched.MayAdvance(v.unsized(), v.asOf(), like, all, len(v.fixed)+i, better, waiting, v.Planned) {
			continue
		}
		r.Promise[r.Step] = v.Now
		second := v.Now
		for k, step := range better.EP {
			second += step.Duration
			r.Promise[r.Step+1+k] = second
		}
		r.Dirty = true
		v.Said = append(v.Said, Note{r.ID, false, "goes on early", []any{"step", r.Step + 2, "end", r.End()}})
		return true
	}
	return false
}

// paced reports whether the job may not be resized now because it was resized too often.
func (v *machine) paced(r *managed.Job) bool {
	from, _ := v.Settings.Limits.NextResize(r)
	return v.Now < from
}

// goneOn is what the job would occupy if its next step began now.
func goneOn(r *managed.Job, now core.Time, machine core.Machine, all []core.Allocation, i int) core.Allocation {
	next := r.EP()[r.Step+1:]
	others := slices.Delete(slices.Clone(all), i, i+1)
	return sched.Refit(now, machine, others, []sched.Remainder{{Job: r.ID, Nodes: next[0].Nodes, Left: next[0].Duration, Next: next[1:]}})[0]
}
