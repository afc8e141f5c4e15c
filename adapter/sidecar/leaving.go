package sidecar

import (
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

// leaving is a job that has stopped running, and what its journal is to say of that. Slurm shows a job
// that it puts back into the queue as one that is ending, and then under its number with a new second
// of submission. So what is said waits until the job is gone or waits again.
type leaving struct {
	job    *managed.Job
	kind   string
	text   string
	fields map[string]any
	since  time.Time
}

// leavesFor bounds how long that is waited for: a node that does not answer keeps a job ending.
const leavesFor = 15 * time.Second

// leave drops a job that has ended or is ending.
func (s *jobs) leave(r *managed.Job, j *adapter.Job) error {
	if j.State != adapter.Ending || r.Began == 0 || r.Why != "" { // what we end does not come back
		return s.forget(r, "ended", j)
	}
	if s.leaving == nil {
		s.leaving = map[adapter.Key]leaving{}
	}
	s.leaving[r.Key] = s.drop(r, "ended", j)
	return nil
}

// requeued changes what is said to that the job did not end.
func (l *leaving) requeued() {
	l.kind = "requeued"
	l.text += ": put back into the queue, and waits again from its first step"
}

// tellLeft tells how jobs ended that a reading does not show any more, or that have been ending for
// long.
func (s *jobs) tellLeft(here map[adapter.Key]bool, snapshot *adapter.Snapshot) error {
	for key, l := range s.leaving {
		if here[key] && !over(snapshot, key) && s.eventLog.clock.Now().Before(l.since.Add(leavesFor)) {
			continue
		}
		if again(snapshot, l.job) {
			l.requeued()
		}
		delete(s.leaving, key)
		if s.records[key] != nil { // as one that never ended
			continue
		}
		if err := s.farewell(l); err != nil {
			return err
		}
	}
	return nil
}

// again reports whether the reading shows a job that had begun in the queue again, under its number
// and with a new second of submission.
func again(snapshot *adapter.Snapshot, r *managed.Job) bool {
	if r.Began == 0 {
		return false
	}
	mark := adapter.MarkPrefix + r.Request
	if r.Seen != nil {
		mark = r.Seen.Mark
	}
	for i := range snapshot.Jobs {
		j := &snapshot.Jobs[i]
		if j.ID == r.ID && j.Submitted > r.Submitted && j.UID == r.UID && j.Name == r.Name && j.Mark == mark {
			return j.State == adapter.Pending || j.State == adapter.Running
		}
	}
	return false
}

// before returns the second of submission of the run before, of a job that is in the queue again.
func (s *jobs) before(j *adapter.Job) (submitted core.Time, ok bool) {
	now := &adapter.Snapshot{Jobs: []adapter.Job{*j}}
	for _, r := range s.records {
		if again(now, r) {
			return r.Submitted, true
		}
	}
	for _, l := range s.leaving {
		if again(now, l.job) {
			return l.job.Submitted, true
		}
	}
	return 0, false
}

// over reports whether the reading shows that the job has ended for good.
func over(snapshot *adapter.Snapshot, key adapter.Key) bool {
	for i := range snapshot.Jobs {
		if snapshot.Jobs[i].Key == key {
			return snapshot.Jobs[i].State == adapter.Done
		}
	}
	return true
}
