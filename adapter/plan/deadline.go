package plan

import (
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/sched"
)

// A managed job with a deadline has no place in the plan where it would start later than the batch
// system allows. The job keeps its rank, and each plan tries again to place it. Once no plan can
// start the job in time, the batch system has to end it.

// planTimely plans the queue of the machine.
func (m *machine) planTimely() {
	latest := map[core.JobID]core.Time{}
	for _, w := range m.Queue {
		if w.Managed != nil && w.Job.Latest > 0 {
			latest[w.Job.ID] = w.Job.Latest
		}
	}
	plan, late := sched.PlanWithoutLate(m.state, m.planTime(), latest)
	m.Planned, m.late = plan, make(map[core.JobID]bool, len(late))
	for _, id := range late {
		m.late[id] = true
	}
}

// Late returns why the job has no place in the plan if its deadline is the reason, and ""
// otherwise.
func (v *World) Late(r *managed.Job) string {
	if !v.late[r.ID] {
		return ""
	}
	return fmt.Sprintf("%s, %s: it would have to start by %s", view.TooLate,
		adapter.Instant(r.Seen.Deadline).Format(time.DateTime), adapter.Instant(r.Seen.Latest).Format(time.TimeOnly))
}

// clockDifference bounds, in seconds, how far the clocks of the sidecar and of the batch system may
// differ.
const clockDifference core.Time = 5

// Expired returns why a waiting job can no longer end by its deadline, and "" if it can or has no
// deadline. The batch system itself ends only jobs that wait for nodes, and not jobs that wait for
// something else.
func (v *World) Expired(r *managed.Job) string {
	j := r.Seen
	if j.Latest == 0 || j.Blocked || j.HeldByUser || v.Now <= j.Latest+clockDifference {
		return ""
	}
	return fmt.Sprintf("it cannot end by its deadline, %s: it needs %s from its start",
		adapter.Instant(j.Deadline).Format(time.DateTime), core.FormatDuration(j.Deadline-j.Latest))
}
