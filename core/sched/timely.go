package sched

import "accordion/core"

// Timely plans as s.Plan does, without jobs that would start after their latest second (core.Job.Latest).
// It takes those jobs, whose IDs it returns, out of the queue: they have no reservation, and keep no
// other job from an earlier start. latest has the second of each job that has one.
//
// A job that is taken out may make room for a job behind it that was late, too. So the first late job is
// taken out alone, then two, four and so on: a queue of n late jobs is planned about log n times.
func Timely(s State, now core.Time, latest map[core.JobID]core.Time) (plan core.Plan, late []core.JobID) {
	for most := 1; ; most *= 2 {
		plan = s.Plan(now)
		found := 0
		for _, p := range plan.Jobs {
			if last, has := latest[p.Job]; has && p.Start > last && found < most {
				found++
				late = append(late, p.Job)
			}
		}
		if found == 0 {
			return plan, late
		}
		for _, id := range late[len(late)-found:] {
			s.End(now, id)
		}
	}
}
