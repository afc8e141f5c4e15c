package sched

import "accordion/core"

// PlanWithoutLate returns s.Plan without the jobs that would start after their latest start (core.Job.Latest). It removes these
// jobs from the queue and returns their IDs. They have no reservation and delay no other job. `latest` has the latest start of each
// job that has a limit.
//
// Removing a job can make room for a late job behind it. So only the first late job is removed at first, then two,
// four and so on. A queue of n late jobs is planned about log n times.
func PlanWithoutLate(s State, now core.Time, latest map[core.JobID]core.Time) (plan core.Plan, late []core.JobID) {
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
