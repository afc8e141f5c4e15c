package plan

import (
	"slices"

	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/sched"
)

// triesPerPlan bounds how many early applications a cycle tries to let continue early. Each try
// computes a plan.
const triesPerPlan = 2

// advance lets an early application begin its next step, if that delays no other job and the
// settings allow it. An application is early if it reached the end of its step before the planned
// second. If the planned second was postponed, the application may continue from the originally
// promised second on, even if the settings do not allow it to be early. advance reports whether it
// improved a promise. The plan then has to be made again.
func (v *machine) advance() bool {
	like := v.coreMachine()
	for i, r := range v.drafts {
		if !v.Settings.Advance && !r.PutOff(v.Now) {
			continue
		}
		if r.Phase != managed.Running || r.Question == nil || r.Underway != "" || r.Final() || r.Due() <= v.Now+1 || v.resizedTooOften(r) || r.TriedEarly == v.Now || v.advances == triesPerPlan {
			continue
		}
		v.advances++
		r.TriedEarly = v.Now
		all := append(slices.Clone(v.fixed), v.kept...)
		better := withNextStepNow(r, v.Now, like, all, len(v.fixed)+i)
		if better.End() > r.End() || len(better.EP) != len(r.EP())-r.Step-1 {
			continue
		}
		waiting := make([]core.Job, 0, len(v.Queue))
		for _, w := range v.Queue {
			if !v.late[w.Job.ID] {
				waiting = append(waiting, v.capped(w.Job))
			}
		}
		if !sched.MayAdvance(v.unsized(), v.planTime(), like, all, len(v.fixed)+i, better, waiting, v.Planned) {
			continue
		}
		r.Promise[r.Step] = v.Now
		second := v.Now
		for k, step := range better.EP {
			second += step.Duration
			r.Promise[r.Step+1+k] = second
		}
		r.Unsaved = true
		v.Notes = append(v.Notes, Note{r.ID, false, "goes on early", []any{"step", r.Step + 2, "end", r.End()}})
		return true
	}
	return false
}

// resizedTooOften reports whether the job may not be resized now because it was resized too often.
func (v *machine) resizedTooOften(r *managed.Job) bool {
	from, _ := v.Settings.Limits.NextResize(r)
	return v.Now < from
}

// withNextStepNow returns what the job would occupy if its next step began now.
func withNextStepNow(r *managed.Job, now core.Time, machine core.Machine, all []core.Allocation, i int) core.Allocation {
	next := r.EP()[r.Step+1:]
	others := slices.Delete(slices.Clone(all), i, i+1)
	return sched.Refit(now, machine, others, []sched.Remainder{{Job: r.ID, Nodes: next[0].Nodes, Left: next[0].Duration, Next: next[1:]}})[0]
}
