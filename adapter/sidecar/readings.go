package sidecar

import (
	"context"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// readings is what is known of the batch system: the newest reading, and how hard it was to have.
type readings struct {
	eventLog *eventLog
	workers  *workers

	snapshot *adapter.Snapshot // the newest; nil until the first
	taken    managed.Epoch     // its number
	before   time.Time         // when the one before it began
	underWay bool              // one is
	begun    managed.Epoch     // so far
	at       time.Time         // when the last began
	stale    bool              // something was done since: the next is wanted soon
	slow     time.Duration     // what the last took
	crawls   bool              // the batch system was slow, as last said
	failures int               // in a row
	odd      map[adapter.Key]string
	told     map[string]bool // remarks that were written, by their names
	arrived  chan reading
}

type reading struct {
	number   managed.Epoch
	begun    time.Time
	snapshot *adapter.Snapshot
	took     time.Duration
	err      error
}

// blind is how many readings must fail in a row before nothing more is done: one may fail for many reasons.
const blind = 2

// shows says whether the newest reading shows what was done at the epoch.
func (r *readings) shows(done managed.Epoch) bool { return r.taken.Shows(done) }

// refresh makes the next reading come soon: something was done.
func (r *readings) refresh() {
	r.stale = true
	r.eventLog.stir()
}

// begin begins a reading beside the loop.
func (r *readings) begin(ctx context.Context) {
	r.underWay, r.at, r.stale = true, r.eventLog.clock.Now(), false
	r.begun++
	number, begun := r.begun, r.at
	r.workers.Go(func() {
		one := reading{number: number, begun: begun}
		one.snapshot, one.took, one.err = r.workers.acts.Observe(ctx)
		r.arrived <- one
	})
}

// take takes in a reading, and says whether it tells anything.
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

// noteSlow writes down when the batch system becomes slow, and when it is no more: what is due meanwhile waits for readings
// that are few.
func (r *readings) noteSlow(one reading) error {
	switch slow := one.took >= sluggish; {
	case one.err != nil: // that is told otherwise
	case slow && !r.crawls:
		r.crawls = true
		return r.eventLog.Remark("slow", fmt.Sprintf("the batch system takes %.1f s to be read: it is read less often", one.took.Seconds()), nil)
	case !slow && r.crawls:
		r.crawls = false
		return r.eventLog.Remark("prompt", "the batch system is read promptly again", nil)
	}
	return nil
}

// mostTold bounds how many remarks are written once for good.
const mostTold = 1000

// noteOdd logs what the newest reading could not tell, unless the one before could not either.
func (r *readings) noteOdd() {
	odd := make(map[adapter.Key]string, len(r.snapshot.Remarks))
	for _, m := range r.snapshot.Remarks {
		if m.Once != "" {
			if !r.told[m.Once] && len(r.told) < mostTold {
				r.told[m.Once] = true
				r.eventLog.Warn(m.Text)
			}
			continue
		}
		if odd[m.Job] = m.Text; r.odd[m.Job] != m.Text {
			r.eventLog.Warn(m.Text, "job", m.Job.ID)
		}
	}
	r.odd = odd
}
