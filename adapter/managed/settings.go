package managed

import (
	"time"

	"accordion/core"
	"accordion/core/sched"
)

// Settings are the sidecar's choices; the configuration file's [plan] and [overrun] sections.
type Settings struct {
	Cluster   string
	Interval  time.Duration // the re-scheduling timer: the pause between two readings while something is due or about to be
	Rest      time.Duration // the pause between two readings while nothing is; at least Interval
	Policy    sched.Policy
	Passes    sched.Policy // by which the batch system itself plans jobs that are moldable to it; nil: none is
	StartLead core.Time    // seconds before its planned second at which a job's start begins, when its nodes are free
	Protect   int          // reservations kept, at most, for managed jobs that wait
	All       bool         // every job of the pool's partition waits for us, where the batch system is a Gatekeeper
	Guard     core.Time    // seconds an ordinary job may hold its nodes past its limit
	// Round is for how many seconds an ordinary job that could begin may be left waiting until the batch system begins it, and by how many
	// it wants its place to be longer than its limit: nothing of ours begins there. 0: the batch system begins it at once.
	Round    core.Time
	Overrun  Overrun
	Advance  bool // an early application goes on early where that delays nobody
	Silent   Silent
	Deadline time.Duration // of each call out
	Unused   Unused
	Limits   Limits
}

// Straggles is how long after its deadline a call may still be carried out. It may undo what is
// done meanwhile for the same thing.
const Straggles = 5 * time.Second

// Unused bounds what may be reserved ahead and left unused. It applies to a user with more unused
// node-seconds than the whole pool has in Pool seconds: no later steps are reserved ahead. The
// counts halve in HalfLife seconds.
type Unused struct {
	Pool     core.Time // 0: no limit
	HalfLife core.Time
}

// Overrun is how late a managed job may be in all before it is ended: Share of its total, at least Least seconds. It
// is warned by Signal Grace seconds before, or when another job waits for nodes that it holds on to; that job need not
// wait longer than Grace.
type Overrun struct {
	Share  float64
	Least  core.Time
	Grace  core.Time
	Signal string
}

// Silent says how jobs are told that never call `accordion step`: by Signal, after a growth and Notice seconds before
// a shrink.
type Silent struct {
	Notice core.Time
	Signal string
}

// Of is the allowance of a job whose profile lasts total seconds.
func (o Overrun) Of(total core.Time) core.Time {
	return max(o.Least, core.Time(o.Share*float64(total)))
}

// Margin is by how many seconds the limit of a job is longer than the longest of its profiles.
func (s Settings) Margin(choices []core.EP) core.Time {
	var longest core.Time
	for _, ep := range choices {
		longest = max(longest, ep.Total())
	}
	return s.Overrun.Of(longest) + s.Guard
}
