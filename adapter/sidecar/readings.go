package sidecar

import (
	"context"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// readings has the newest reading of the batch system, and how long readings take.
type readings struct {
	eventLog *eventLog
	workers  *workers

	snapshot    *adapter.Snapshot // the newest reading; nil before the first one
	taken       managed.Epoch     // epoch of the newest reading
	before      time.Time         // when the previous reading began
	underWay    bool              // a reading is under way
	begun       managed.Epoch     // number of readings that have begun
	at          time.Time         // when the last reading began
	stale       bool              // calls changed the batch system after the newest reading, so the next reading comes soon
	slow        time.Duration     // how long the last reading took
	slowNoted   bool              // the journal has an event that the batch system is slow
	failures    int               // number of readings in a row that failed
	lastRemarks map[adapter.Key]string
	remarksOnce map[string]bool // which remarks with a name (Remark.Once) were already logged
	arrived     chan reading
}

// A reading is the result of reading the batch system.
type reading struct {
	number   managed.Epoch
	begun    time.Time
	snapshot *adapter.Snapshot
	took     time.Duration
	err      error
}

// After maxFailures failed readings in a row, no more calls are made until a reading succeeds. One
// failed reading is tolerated, because a reading may fail for many reasons.
const maxFailures = 2

// shows reports whether the newest reading shows calls that were made in the epoch `done`.
func (r *readings) shows(done managed.Epoch) bool { return r.taken.Shows(done) }

// refresh makes the next reading come soon, because calls changed the batch system.
func (r *readings) refresh() {
	r.stale = true
	r.eventLog.active()
}

// begin starts a reading in another goroutine.
func (r *readings) begin(ctx context.Context) {
	r.underWay, r.at, r.stale = true, r.eventLog.clock.Now(), false
	r.begun++
	number, begun := r.begun, r.at
	r.workers.Go(func() {
		one := reading{number: number, begun: begun}
		one.snapshot, one.took, one.err = r.workers.caller.Observe(ctx)
		r.arrived <- one
	})
}

// take evaluates the result of a reading, and reports whether there is a new snapshot.
func (r *readings) take(one reading) (bool, error) {
	r.underWay, r.slow = false, one.took
	if err := r.noteSlow(one); err != nil {
		return false, err
	}
	if one.err != nil {
		if r.failures++; r.failures > 1 {
			return false, nil
		}
		r.eventLog.logger.Error("the batch system cannot be read; nothing is done until it answers", "cluster", r.eventLog.cluster, "error", one.err)
		return false, r.eventLog.Remark("unreadable", "the batch system cannot be read: "+one.err.Error(), nil)
	}
	if r.failures > 0 {
		r.eventLog.Info("the batch system answers again", "failures", r.failures)
		if err := r.eventLog.Remark("readable", "the batch system answers again", map[string]any{"failures": r.failures}); err != nil {
			return false, err
		}
		r.failures = 0
	}
	if r.snapshot != nil {
		r.before = r.snapshot.At
	}
	r.snapshot, r.taken = one.snapshot, one.number
	return true, nil
}

// noteSlow writes an event into the journal when the batch system becomes slow, and when it is fast
// again. In between, changes may be noticed late, because readings are rare.
func (r *readings) noteSlow(one reading) error {
	switch slow := one.took >= slowFrom; {
	case one.err != nil: // take writes the event of a failed reading
	case slow && !r.slowNoted:
		r.slowNoted = true
		return r.eventLog.Remark("slow", fmt.Sprintf("the batch system takes %.1f s to be read: it is read less often", one.took.Seconds()), nil)
	case !slow && r.slowNoted:
		r.slowNoted = false
		return r.eventLog.Remark("prompt", "the batch system is read promptly again", nil)
	}
	return nil
}

// maxOnce bounds how many remarks are logged only once.
const maxOnce = 1000

// logRemarks logs the remarks of the newest reading, unless the reading before had them, too.
func (r *readings) logRemarks() {
	odd := make(map[adapter.Key]string, len(r.snapshot.Remarks))
	for _, m := range r.snapshot.Remarks {
		if m.Once != "" {
			if !r.remarksOnce[m.Once] && len(r.remarksOnce) < maxOnce {
				r.remarksOnce[m.Once] = true
				r.eventLog.Warn(m.Text)
			}
			continue
		}
		if odd[m.Job] = m.Text; r.lastRemarks[m.Job] != m.Text {
			r.eventLog.Warn(m.Text, "job", m.Job.ID)
		}
	}
	r.lastRemarks = odd
}
