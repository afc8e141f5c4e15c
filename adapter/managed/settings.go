package managed

import (
	"time"

	"accordion/core"
	"accordion/core/sched"
)

// Settings are the sidecar's settings, mostly from the sections [plan], [overrun] and [limits] of the configuration.
type Settings struct {
	Cluster   string
	Interval  time.Duration // the rescheduling timer: the pause between two readings while something is due soon
	Rest      time.Duration // the pause between two readings otherwise; at least Interval
	Policy    sched.Policy
	Passes    sched.Policy // the policy of the batch system for its own moldable jobs (OAR); nil: it has none
	StartLead core.Time    // seconds before its planned second in which a job's start begins
	Protect   int          // for how many waiting managed jobs nodes are reserved at most
	All       bool         // every job of the pool's partition is held at submission, if the batch system is an adapter.Gatekeeper
	Guard     core.Time    // seconds for which an ordinary job may hold its nodes past its limit
	// Round is within how many seconds the batch system starts an ordinary job that could start. Its place in the plan is longer than its
	// limit by that. 0: the batch system starts it at once.
	Round    core.Time
	Overrun  Overrun
	Advance  bool // an application that ends its step early goes on early if that delays no other job
	Silent   Silent
	Deadline time.Duration // of each call of the batch system
	Unused   Unused
	Limits   Limits
}

// LateCall is how long after its deadline a call may still be carried out. It may undo what is
// done for the same job in the meantime.
const LateCall = 5 * time.Second

// Unused bounds what may be reserved ahead and left unused. It applies to a user with more unused
// node-seconds than the whole pool has in Pool seconds: no later steps are reserved ahead. The
// counts halve in HalfLife seconds.
type Unused struct {
	Pool     core.Time // 0: no limit
	HalfLife core.Time
}

// Overrun bounds how late a managed job may be in all before it is ended: Share of its total time, at least Least seconds. It is warned by
// Signal, Grace seconds before that, or as soon as another job waits for its nodes. That job waits at most Grace seconds.
type Overrun struct {
	Share  float64
	Least  core.Time
	Grace  core.Time
	Signal string
}

// Silent configures how jobs that never call `accordion step` learn of resizes: by Signal, after a growth and Notice seconds before a shrink.
type Silent struct {
	Notice core.Time
	Signal string
}

// Of returns the overrun allowance of a job whose profile lasts total seconds.
func (o Overrun) Of(total core.Time) core.Time {
	return max(o.Least, core.Time(o.Share*float64(total)))
}

// Margin returns by how many seconds the time limit of a job is longer than the longest of its profiles.
func (s Settings) Margin(choices []core.EP) core.Time {
	var longest core.Time
	for _, ep := range choices {
		longest = max(longest, ep.Total())
	}
	return s.Overrun.Of(longest) + s.Guard
}
