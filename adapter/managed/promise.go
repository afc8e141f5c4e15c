package managed

import (
	"fmt"
	"time"

	"accordion/core"
	"accordion/core/sched"
)

// SetPromise writes the scheduled profile, which begins with the job's present step at now, as the planned end of each
// step to come.
func (r *Job) SetPromise(now core.Time, ep core.EP) {
	for i, s := range ep {
		now += s.Duration
		r.Promise[r.Step+i] = now
	}
}

// GoOn makes the target step the present one, from now on. A promise that was moved while the step before was late has the
// delay in it already.
func (r *Job) GoOn(now core.Time) {
	r.Promise[r.Step] = max(r.Promise[r.Step], now)
	r.Step = r.Target
	for i := r.Step; i < len(r.Promise); i++ {
		now = r.follow(i, now)
		r.Promise[i] = now
	}
}

// follow is the end of a step that begins at an instant: it lasts as long as was asked for; before a growth longer, where
// that is promised for later.
func (r *Job) follow(step int, begin core.Time) core.Time {
	ep, end := r.EP(), begin+r.EP()[step].Duration
	if step+1 < len(ep) && ep[step+1].Nodes > ep[step].Nodes {
		end = max(end, r.Promise[step])
	}
	return end
}

// Owe notes by how many seconds its application may be late though it is not. What a reading and an answer take is not counted.
func (r *Job) Owe(seconds core.Time) {
	if r.Owed = seconds; seconds <= Tolerance {
		r.Owed = 0
	}
}

// Return is the first sight of a job that an earlier sidecar managed. Where its step should be over, its application may have asked while
// nobody heard it, and asks again in a moment: it is late from now on only. One that was warned was late before.
func (r *Job) Return(now core.Time) {
	if r.Phase == Running && !r.Final() && r.Warned == 0 && now > r.LateFrom() {
		r.Owe(now - r.Due())
		r.Dirty = true
	}
}

// Forgiven returns for how many seconds after its step should have ended the application is not late.
// What it is owed and what outages cost it are mostly the same seconds.
func (r *Job) Forgiven() core.Time { return max(r.Owed, r.Stalled) + r.Halted }

// LateFrom returns the Unix second from which its application is late. That is the promised end of its
// present step, and later by what it is forgiven.
func (r *Job) LateFrom() core.Time { return r.Due() + r.Forgiven() }

// Remaining is what the job will occupy from now on: as promised, and where it is late, for as long as its steps to come
// were asked for. A step that should be over lasts another second. A resize under way ends every wait that was promised
// for the step before it: what follows is what goOn will write.
func (r *Job) Remaining(now core.Time) core.EP {
	ep := make(core.EP, 0, len(r.Promise)-r.Step)
	from := now
	for i := r.Current(); i < len(r.Promise); i++ {
		to := max(r.Promise[i], from+1)
		switch {
		case r.NextNodes != nil:
			to = r.follow(i, from)
		case i > r.Step:
			to = max(to, from+r.EP()[i].Duration)
		}
		n := r.EP()[i].Nodes
		if i == r.Current() {
			n = len(r.Holds())
		}
		ep = append(ep, core.Step{Duration: to - from, Nodes: n})
		from = to
	}
	return ep
}

// Remainder is the rest of a running job, to be fitted again.
func (r *Job) Remainder(now core.Time) sched.Remainder {
	ep := r.Remaining(now)
	return sched.Remainder{Job: r.ID, Nodes: ep[0].Nodes, Left: ep[0].Duration, Next: r.EP()[r.Current()+1:]}
}

// Tardy says whether the application itself is late, by more than a resize takes: its step should be over, and it neither
// waits for the next one nor is being resized.
func (r *Job) Tardy(now core.Time) bool {
	return r.Phase == Running && r.Busy == "" && r.Asks == nil && r.Voice != SilentVoice && now > r.LateFrom()+Tolerance
}

// PutOff says whether the application stands at the end of its step while the next one's second, which it was promised
// when the step began, was moved to later.
func (r *Job) PutOff(now core.Time) bool { return r.Asks != nil && r.Meant <= now && now < r.Due() }

// Shift moves everything that is planned for the job, and everything that is remembered in order to
// wait. CouldRun stays, because the batch system returns it with each reading. The batch system
// also counts the ages of jobs that do not wait for the sidecar from seconds of the clock before.
func (r *Job) Shift(by int64) {
	for i := r.Step; i < len(r.Promise); i++ {
		r.Promise[i] += by
	}
	for i := r.Step; i < len(r.Whole); i++ {
		r.Whole[i] += by
	}
	if r.Began > 0 {
		r.Clock += by
	}
	for _, second := range []*int64{&r.Meant, &r.Warned, &r.Resized, &r.Since, &r.Expected, &r.Vowed, &r.Frozen, &r.HaltedAt, &r.WaitsSince, &r.Paced, &r.Returned.at, &r.Rejected.At, &r.Rejected.Until} {
		if *second > 0 {
			*second += by
		}
	}
	if r.Phase == Starting && r.Planned > 0 {
		r.Planned += by
	}
	if !r.Straggles.IsZero() {
		r.Straggles = r.Straggles.Add(time.Duration(by) * time.Second)
	}
	r.TriedEarly = 0
}

// Allowance is for how many seconds the job may be late in all. What its limit was raised by since it began (oarwalltime, scontrol),
// the batch system has granted to its user.
func (r *Job) Allowance(o Overrun) core.Time {
	more := core.Time(0)
	if r.Limit > 0 && r.Seen != nil && r.Seen.Limit < core.Forever {
		more = max(0, r.Seen.Limit-r.Limit)
	}
	return o.Of(r.total()) + more
}

// Lateness is what is wrong with a late application, for its user.
func (r *Job) Lateness(late core.Time) string {
	return fmt.Sprintf("step %d of %d was to end at %s and had not ended %d s later",
		r.Step+1, len(r.EP()), time.Unix(r.LateFrom(), 0).Format(time.TimeOnly), late)
}

// Tolerance is how many seconds a step may take to begin or end before its job counts as late.
const Tolerance core.Time = 2

// Mover is why a planned start moved since its user was told.
type Mover struct {
	Why   string
	Later bool
}
