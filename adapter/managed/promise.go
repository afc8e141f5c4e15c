package managed

import (
	"fmt"
	"time"

	"accordion/core"
	"accordion/core/sched"
)

// SetPromise sets the promised end of each step from a scheduled profile. The profile begins with
// the job's present step at the second `now`.
func (r *Job) SetPromise(now core.Time, ep core.EP) {
	for i, s := range ep {
		now += s.Duration
		r.Promise[r.Step+i] = now
	}
}

// BeginTargetStep begins the target step now. If the promise was moved while the previous step was
// late, it already contains the delay.
func (r *Job) BeginTargetStep(now core.Time) {
	r.Promise[r.Step] = max(r.Promise[r.Step], now)
	r.Step = r.Target
	for i := r.Step; i < len(r.Promise); i++ {
		now = r.stepEnd(i, now)
		r.Promise[i] = now
	}
}

// stepEnd returns the end of a step that begins at the given second. The step lasts as long as
// requested. If the next step is a growth, the step lasts until the promised second, if that is
// later.
func (r *Job) stepEnd(step int, begin core.Time) core.Time {
	ep, end := r.EP(), begin+r.EP()[step].Duration
	if step+1 < len(ep) && ep[step+1].Nodes > ep[step].Nodes {
		end = max(end, r.Promise[step])
	}
	return end
}

// SetSidecarDelay sets for how many seconds the sidecar delayed the application, which does not
// count as late for these seconds. A delay of up to Tolerance seconds is ignored, because a reading
// and an answer take that long.
func (r *Job) SetSidecarDelay(seconds core.Time) {
	if r.SidecarDelay = seconds; seconds <= Tolerance {
		r.SidecarDelay = 0
	}
}

// ResumeAfterRestart updates a job that an earlier sidecar managed. If its step should have ended,
// its application may have asked while no sidecar ran, and will ask again soon. So the job counts
// as late only from now on, unless it was warned already.
func (r *Job) ResumeAfterRestart(now core.Time) {
	if r.Phase == Running && !r.Final() && r.WarnedAt == 0 && now > r.LateFrom() {
		r.SetSidecarDelay(now - r.Due())
		r.Unsaved = true
	}
}

// NotLateFor returns for how many seconds after the promised end of its step the application does
// not count as late. The sidecar's delay and the cost of outages are mostly the same seconds, so
// only the larger of the two counts.
func (r *Job) NotLateFor() core.Time { return max(r.SidecarDelay, r.OutageCost) + r.SuspendedFor }

// LateFrom returns the Unix second from which the application counts as late: the promised end of
// its present step plus NotLateFor.
func (r *Job) LateFrom() core.Time { return r.Due() + r.NotLateFor() }

// Remaining returns what the job occupies from now on, as promised. The later steps of a late job
// last as long as requested. A step that should have ended lasts another second. If a resize is
// under way, Remaining returns the promise that BeginTargetStep will write. The present promise may
// still contain a wait for this resize.
func (r *Job) Remaining(now core.Time) core.EP {
	ep := make(core.EP, 0, len(r.Promise)-r.Step)
	from := now
	for i := r.PlanStep(); i < len(r.Promise); i++ {
		to := max(r.Promise[i], from+1)
		switch {
		case r.NextNodes != nil:
			to = r.stepEnd(i, from)
		case i > r.Step:
			to = max(to, from+r.EP()[i].Duration)
		}
		n := r.EP()[i].Nodes
		if i == r.PlanStep() {
			n = len(r.NodesForPlan())
		}
		ep = append(ep, core.Step{Duration: to - from, Nodes: n})
		from = to
	}
	return ep
}

// Remainder returns the rest of a running job's profile, for which a new promise is to be made.
func (r *Job) Remainder(now core.Time) sched.Remainder {
	ep := r.Remaining(now)
	return sched.Remainder{Job: r.ID, Nodes: ep[0].Nodes, Left: ep[0].Duration, Next: r.EP()[r.PlanStep()+1:]}
}

// ApplicationLate reports whether the application itself is late by more than Tolerance, which is
// the time that a resize takes. Its step should have ended, and the job neither waits for the next
// step nor is being resized.
func (r *Job) ApplicationLate(now core.Time) bool {
	return r.Phase == Running && r.Underway == "" && r.Question == nil && r.StepCalls != StepCallsNever && now > r.LateFrom()+Tolerance
}

// PutOff reports whether the application waits at the end of its step because the promised begin of
// the next step was put off.
func (r *Job) PutOff(now core.Time) bool {
	return r.Question != nil && r.PlannedEnd <= now && now < r.Due()
}

// ShiftTimes moves the job's promise, and the times from which waits are counted, after the clock
// was set by the given number of seconds. CouldRun does not change, because each reading has it by
// the batch system's own clock.
func (r *Job) ShiftTimes(by int64) {
	for i := r.Step; i < len(r.Promise); i++ {
		r.Promise[i] += by
	}
	for i := r.Step; i < len(r.WholePromise); i++ {
		r.WholePromise[i] += by
	}
	if r.Began > 0 {
		r.Clock += by
	}
	for _, second := range []*int64{&r.PlannedEnd, &r.WarnedAt, &r.ResizedAt, &r.ForgottenAt, &r.StartTold, &r.BestEnd, &r.FrozenSince, &r.SuspendedAt, &r.ObstacleSince, &r.PacedUntil, &r.ReleasedLast.at, &r.Rejected.At, &r.Rejected.Until} {
		if *second > 0 {
			*second += by
		}
	}
	if r.Phase == Starting && r.Planned > 0 {
		r.Planned += by
	}
	if !r.LateCallUntil.IsZero() {
		r.LateCallUntil = r.LateCallUntil.Add(time.Duration(by) * time.Second)
	}
	r.TriedEarly = 0
}

// Allowance returns for how many seconds the job may be late in total. Seconds by which the job's
// limit was raised since its start (oarwalltime, scontrol) count too, because the batch system
// granted them to the user.
func (r *Job) Allowance(o Overrun) core.Time {
	more := core.Time(0)
	if r.Limit > 0 && r.Seen != nil && r.Seen.Limit < core.Forever {
		more = max(0, r.Seen.Limit-r.Limit)
	}
	return o.Of(r.total()) + more
}

// Lateness returns a message for the user of a late application.
func (r *Job) Lateness(late core.Time) string {
	return fmt.Sprintf("step %d of %d was to end at %s and had not ended %d s later",
		r.Step+1, len(r.EP()), time.Unix(r.LateFrom(), 0).Format(time.TimeOnly), late)
}

// Tolerance is how many seconds a step may take to begin or end before its job counts as late.
const Tolerance core.Time = 2

// A StartMove is the reason why a planned start has moved since the last announcement to the user.
type StartMove struct {
	Why   string
	Later bool
}
