package managed

import (
	"time"

	"accordion/core"
	"accordion/core/sched"
)

// Settings are the sidecar's settings, mostly from the sections [plan], [overrun] and [limits] of
// the configuration.
type Settings struct {
	Cluster   string
	Interval  time.Duration // the rescheduling timer: the pause between two readings while something is due soon
	Rest      time.Duration // the pause between two readings while nothing is due soon; at least Interval
	Policy    sched.Policy
	Passes    sched.Policy // the policy by which the batch system chooses sizes for its own moldable jobs (OAR); nil if it does not choose sizes
	StartLead core.Time    // how many seconds before the planned second a job's start begins
	Protect   int          // maximum number of waiting managed jobs for which nodes are reserved
	All       bool         // every job of the pool's partition is held at submission, if the batch system is an adapter.Gatekeeper
	Guard     core.Time    // seconds for which an ordinary job may hold its nodes past its limit
	// Round is the number of seconds within which the batch system starts an ordinary job that
	// could start. The job's place in the plan is longer than its time limit by Round. 0 means the
	// batch system starts it immediately.
	Round    core.Time
	Overrun  Overrun
	Advance  bool // an application that ends its step early may continue early if that delays no other job
	Silent   Silent
	Deadline time.Duration // deadline of each call of the batch system
	Unused   Unused
	Limits   Limits
}

// LateCall is for how long after a call's deadline the batch system may still carry out the call.
// The late call may undo what was done for the same job in the meantime.
const LateCall = 5 * time.Second

// Unused bounds how many node-seconds a user's jobs may reserve ahead and leave unused. If a user
// has more unused node-seconds than the whole pool has in Pool seconds, no nodes are reserved ahead
// for later steps of the user's jobs. The counts halve in HalfLife seconds.
type Unused struct {
	Pool     core.Time // 0 means no limit
	HalfLife core.Time
}

// Overrun bounds how late a managed job may be in total before the sidecar ends it. This overrun
// allowance is the fraction Share of the job's total time, but at least Least seconds. The sidecar
// sends Signal to the job Grace seconds before the allowance ends, or as soon as another job waits
// for its nodes. The other job waits at most Grace seconds.
type Overrun struct {
	Share  float64
	Least  core.Time
	Grace  core.Time
	Signal string
}

// Silent configures how jobs that never call `accordion step` learn of resizes. They receive Signal
// after a growth, and Notice seconds before a shrink.
type Silent struct {
	Notice core.Time
	Signal string
}

// Of returns the overrun allowance of a job whose profile lasts `total` seconds.
func (o Overrun) Of(total core.Time) core.Time {
	return max(o.Least, core.Time(o.Share*float64(total)))
}

// Margin returns by how many seconds the time limit of a job is longer than the longest of its
// profiles.
func (s Settings) Margin(choices []core.EP) core.Time {
	var longest core.Time
	for _, ep := range choices {
		longest = max(longest, ep.Total())
	}
	return s.Overrun.Of(longest) + s.Guard
}
