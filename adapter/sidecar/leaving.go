package sidecar

import (
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

// A leaving is the event of a job that has stopped running. Slurm first shows a requeued job as
// ending, and then shows it under the same number with a new second of submission. So the sidecar
// writes the event only when the job is gone or waits again.
type leaving struct {
	job    *managed.Job
	kind   string
	text   string
	fields map[string]any
	since  time.Time
}

// leavesFor bounds how long the event is delayed, because a job stays in the state ending for a
// long time if one of its nodes does not answer.
const leavesFor = 15 * time.Second

// leave removes a job that has ended or is ending.
func (s *jobs) leave(r *managed.Job, j *adapter.Job) error {
	if j.State != adapter.Ending || r.Began == 0 || r.EndReason != "" { // a job that the sidecar ends is not requeued
		return s.forget(r, "ended", j)
	}
	if s.leaving == nil {
		s.leaving = map[adapter.Key]leaving{}
	}
	s.leaving[r.Key] = s.drop(r, "ended", j)
	return nil
}

// markRequeued turns the event of an end into the event of a requeue.
func (l *leaving) markRequeued() {
	l.kind = "requeued"
	l.text += ": put back into the queue, and waits again from its first step"
}

// writeLeft writes the events of jobs that a reading does not show any more, or that have been
// ending for a long time.
func (s *jobs) writeLeft(here map[adapter.Key]bool, snapshot *adapter.Snapshot) error {
	for key, l := range s.leaving {
		if here[key] && !hasEnded(snapshot, key) && s.eventLog.clock.Now().Before(l.since.Add(leavesFor)) {
			continue
		}
		if isRequeued(snapshot, l.job) {
			l.markRequeued()
		}
		delete(s.leaving, key)
		if s.records[key] != nil { // the batch system forgot that the job had ended
			continue
		}
		if err := s.writeEnd(l); err != nil {
			return err
		}
	}
	return nil
}

// isRequeued reports whether the job had started, and the reading shows that it waits again. It
// then has the same number and a new second of submission.
func isRequeued(snapshot *adapter.Snapshot, r *managed.Job) bool {
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

// requeuedFrom returns the second of submission of the previous run, if the job was requeued.
func (s *jobs) requeuedFrom(j *adapter.Job) (submitted core.Time, ok bool) {
	now := &adapter.Snapshot{Jobs: []adapter.Job{*j}}
	for _, r := range s.records {
		if isRequeued(now, r) {
			return r.Submitted, true
		}
	}
	for _, l := range s.leaving {
		if isRequeued(now, l.job) {
			return l.job.Submitted, true
		}
	}
	return 0, false
}

// hasEnded reports whether the job has ended according to the reading.
func hasEnded(snapshot *adapter.Snapshot, key adapter.Key) bool {
	for i := range snapshot.Jobs {
		if snapshot.Jobs[i].Key == key {
			return snapshot.Jobs[i].State == adapter.Done
		}
	}
	return true
}
