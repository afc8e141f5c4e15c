package sidecar

import (
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/decide"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/shim/wire"
)

// absorb takes in a reading: the batch system is right about what runs and what it holds.
func (s *Sidecar) absorb(r reading) error {
	s.reading, s.slow = false, r.took
	if err := s.noteSlow(r); err != nil {
		return err
	}
	if r.err != nil {
		if s.failures++; s.failures == 1 {
			s.log.Error("the batch system cannot be read; nothing is done until it answers", "cluster", s.settings.Cluster, "error", r.err)
			return s.remark("unreadable", "the batch system cannot be read: "+r.err.Error(), nil)
		}
		return nil
	}
	if s.failures > 0 {
		s.log.Info("the batch system answers again", "cluster", s.settings.Cluster, "failures", s.failures)
		if err := s.remark("readable", "the batch system answers again", map[string]any{"failures": s.failures}); err != nil {
			return err
		}
		s.failures = 0
	}
	if s.snapshot != nil {
		s.before = s.snapshot.At
	}
	s.snapshot, s.taken = r.snapshot, r.number
	s.noteIdle()
	s.noteLost()
	here := make(map[adapter.Key]bool, len(r.snapshot.Jobs))
	for i := range r.snapshot.Jobs {
		j := &r.snapshot.Jobs[i]
		here[j.Key] = true
		if err := s.meet(j); err != nil {
			return err
		}
	}
	s.dismiss(here)
	s.noteOdd(r.snapshot.Remarks)
	for _, rec := range s.sorted() {
		if !here[rec.Key] && s.fresh(rec) {
			if err := s.forget(rec, "ended", nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteSlow writes down when the batch system becomes slow, and when it is no more: what is due meanwhile waits for readings
// that are few.
func (s *Sidecar) noteSlow(r reading) error {
	switch slow := r.took >= sluggish; {
	case r.err != nil: // that is told otherwise
	case slow && !s.crawls:
		s.crawls = true
		return s.remark("slow", fmt.Sprintf("the batch system takes %.1f s to be read: it is read less often", r.took.Seconds()), nil)
	case !slow && s.crawls:
		s.crawls = false
		return s.remark("prompt", "the batch system is read promptly again", nil)
	}
	return nil
}

// noteOdd logs what a reading could not tell, unless the one before could not either.
func (s *Sidecar) noteOdd(remarks []adapter.Remark) {
	odd := make(map[adapter.Key]string, len(remarks))
	for _, r := range remarks {
		if odd[r.Job] = r.Text; s.odd[r.Job] != r.Text {
			s.log.Warn(r.Text, "cluster", s.settings.Cluster, "job", r.Job.ID)
		}
	}
	s.odd = odd
}

// dismiss drops what was remembered of jobs that are no more.
func (s *Sidecar) dismiss(here map[adapter.Key]bool) {
	for key := range s.told {
		if !here[key] && s.records[key] == nil {
			delete(s.told, key)
		}
	}
	for key, e := range s.strays {
		if !here[key] && !e.busy {
			delete(s.strays, key)
		}
	}
}

// fresh says whether the newest reading began after the last thing we did to the job.
func (s *Sidecar) fresh(r *managed.Job) bool { return r.Busy == "" && s.newer(r.Touched) }

// newer says whether the newest reading began after that many had begun.
func (s *Sidecar) newer(begun int) bool { return s.taken > begun }

// sorted is every record by submission: a cycle does the same whatever the map's order.
func (s *Sidecar) sorted() []*managed.Job {
	all := make([]*managed.Job, 0, len(s.records))
	for _, r := range s.records {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *managed.Job) int {
		if a.Submitted != b.Submitted {
			return int(a.Submitted - b.Submitted)
		}
		return int(a.ID - b.ID)
	})
	return all
}

// meet takes in one job of a reading.
func (s *Sidecar) meet(j *adapter.Job) error {
	if j.Expands != 0 {
		return nil
	}
	r := s.records[j.Key]
	if r == nil {
		return s.greet(j)
	}
	if !s.fresh(r) {
		return nil
	}
	r.Seen, r.UID = j, j.UID // which was not known, when the directory of users did not answer
	switch j.State {
	case adapter.Pending:
		return s.meetPending(r, j)
	case adapter.Running:
		if r.Escaped() {
			if err := s.letGo(r, j); err != nil {
				return err
			}
		}
		return s.meetRunning(r, j)
	default:
		return s.forget(r, "ended", j)
	}
}

// greet takes up a job that carries a request. An unmarked one must be held: a job that may start at any second is
// not ours to plan.
func (s *Sidecar) greet(j *adapter.Job) error {
	request := adapter.RequestOf(j)
	marked := len(j.Mark) > len(adapter.MarkPrefix) && j.Mark[:len(adapter.MarkPrefix)] == adapter.MarkPrefix
	if request == "" || j.State != adapter.Pending && j.State != adapter.Running || !marked && (j.State != adapter.Pending || !j.Held) {
		return nil
	}
	choices, err := adapter.ParseRequest(request)
	if err != nil {
		s.notice(j.Key, fmt.Sprintf("stays held: %v", err))
		return nil
	}
	r := managed.New(j, request, choices)
	s.records[j.Key] = r
	if err := s.event(r, "accepted", request, map[string]any{"user": j.User}); err != nil {
		return err
	}
	if j.State == adapter.Running {
		return s.meetRunning(r, j)
	}
	return s.save(r)
}

func (s *Sidecar) meetPending(r *managed.Job, j *adapter.Job) error {
	switch {
	case r.Phase == managed.Waiting && !j.Held && j.Mark == "":
		// Its owner released it before we could hold it: an ordinary job from now on.
		return s.forget(r, "escaped", nil)
	case r.Phase == managed.Running:
		// Requeued behind our back: it waits again, from its beginning.
		r.BackToQueue()
		if err := s.event(r, "requeued", "waits again, from its first step", nil); err != nil {
			return err
		}
		return s.save(r)
	}
	return nil
}

// meetRunning compares what a running job holds with what we meant it to hold.
func (s *Sidecar) meetRunning(r *managed.Job, j *adapter.Job) error {
	if r.Phase == managed.Waiting || r.Phase == managed.Starting {
		if err := s.began(r, j); err != nil {
			return err
		}
	}
	r.Parts = j.Parts
	held := managed.KeepOrder(r.Nodes, j.Nodes)
	if slices.Equal(held, r.Nodes) && !r.Resizing() {
		return nil
	}
	if r.Resizing() { // interrupted by our own death
		done := len(held) == r.EP()[r.Target].Nodes
		r.Hold(held, s.clock.Now().Unix())
		if done {
			return s.apply(r, decide.Resized(r, s.settings, map[string]any{"after": "a restart"}, s.clock.Now()))
		}
		r.Target = r.Step
		return s.save(r)
	}
	if s.undone(r, held) {
		return s.regret(r, held)
	}
	r.Again = nil
	if err := s.event(r, "changed", fmt.Sprintf("holds %d nodes, not %d: changed without us", len(held), len(r.Nodes)), map[string]any{
		"nodes": names(held), "held": names(r.Nodes)}); err != nil {
		return err
	}
	r.Hold(held, s.clock.Now().Unix())
	return s.save(r)
}

// began notes that a job runs. A start later than planned moves its whole promise; an earlier one makes its first step
// longer, so that the steps after it come at their planned seconds.
func (s *Sidecar) began(r *managed.Job, j *adapter.Job) error {
	if r.Promise == nil { // it was started without us, or our journal is gone
		r.Promise = make([]core.Time, len(r.EP()))
		r.SetPromise(j.Started, r.EP())
		r.Step = managed.StepOfSize(r.EP(), len(j.Nodes))
		r.Target = r.Step
	}
	r.Phase, r.Began, r.Limit, r.Nodes, r.Attached = managed.Running, j.Started, j.Limit, slices.Clone(j.Nodes), j.Reservation != ""
	late := core.Time(0)
	if r.Planned > 0 {
		late = max(0, j.Started-r.Planned)
	}
	if late > 0 {
		r.MovedBy = managed.BatchSystem
	}
	for i := range r.Promise {
		r.Promise[i] += late
	}
	r.Meant = r.Due()
	fields := map[string]any{"nodes": names(r.Nodes), "planned": r.Planned, "began": j.Started, "ends": r.End()}
	if err := s.event(r, "started", fmt.Sprintf("on %d nodes", len(r.Nodes)), fields); err != nil {
		return err
	}
	if r.Asks != nil {
		if why := r.Choose(r.Asks.Request); why != "" {
			r.Answer(wire.Refused, why)
		}
	}
	return s.save(r)
}

// forget drops a job that is over.
func (s *Sidecar) forget(r *managed.Job, kind string, j *adapter.Job) error {
	text := "before it began"
	if r.Began > 0 && r.Phase != managed.Starting {
		text = fmt.Sprintf("after step %d of %d", r.Step+1, len(r.EP()))
	}
	if kind == "escaped" {
		text = "released by its owner before it was adopted; scheduled as an ordinary job"
	}
	if r.Why != "" {
		text += ": " + r.Why
	}
	fields := map[string]any{}
	if j != nil && j.Why != "" && j.Why != "None" {
		fields["state"] = j.Why
		text += " (" + j.Why + ")"
	}
	r.Answer(wire.Over, "the job is over")
	delete(s.records, r.Key)
	delete(s.told, r.Key)
	// In this order: whoever dies in between says it twice, and not never.
	if err := s.event(r, kind, text, fields); err != nil {
		return err
	}
	return s.journal.Delete(int64(r.ID), r.Submitted)
}

// touch marks what is known of the job as newer than any reading that has begun.
func (s *Sidecar) touch(r *managed.Job) { r.Touched = s.begun }

// later is when a failed operation is tried again.
func (s *Sidecar) later(d time.Duration) time.Time { return s.clock.Now().Add(d) }
