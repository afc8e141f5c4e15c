package sidecar

import (
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/decide"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/policy"
	"accordion/shim/wire"
)

// absorb compares the jobs of a new reading with the records. `here` has the keys of all jobs of
// the reading.
func (s *jobs) absorb(snapshot *adapter.Snapshot) (here map[adapter.Key]bool, err error) {
	here = make(map[adapter.Key]bool, len(snapshot.Jobs))
	for i := range snapshot.Jobs {
		j := &snapshot.Jobs[i]
		here[j.Key] = true
		if err := s.reconcile(j); err != nil {
			return nil, err
		}
	}
	for key := range s.eventLog.lastNotice {
		if !here[key] && s.records[key] == nil {
			delete(s.eventLog.lastNotice, key)
		}
	}
	return here, nil
}

// reconcile compares one job of a reading with its record.
func (s *jobs) reconcile(j *adapter.Job) error {
	if j.Expands != 0 {
		return nil
	}
	r := s.records[j.Key]
	if r != nil && r.Rigid() && !j.Rigid && j.State == adapter.Pending && s.fresh(r) { // the sidecar does not schedule this job, or not any more
		delete(s.records, r.Key)
		if err := s.eventLog.journal.Delete(int64(r.ID), r.Submitted); err != nil {
			return err
		}
		r = nil
	}
	if r == nil {
		return s.adopt(j)
	}
	if !s.fresh(r) {
		return nil
	}
	restored := r.Seen == nil
	if r.Rigid() && j.State != adapter.Pending {
		return s.endRigid(r, j)
	}
	if j.Account != "" {
		r.Account = j.Account
	}
	r.Seen, r.UID = j, j.UID // the UID was not known before if the user directory did not answer
	switch j.State {
	case adapter.Pending:
		return s.reconcilePending(r, j)
	case adapter.Running:
		if restored {
			r.ResumeAfterRestart(s.eventLog.clock.Now().Unix())
		}
		if r.Escaped() {
			if err := s.becomeRigid(r, j); err != nil {
				return err
			}
		}
		return s.reconcileRunning(r, j)
	default:
		return s.leave(r, j)
	}
}

// adopt starts to manage a job with a request. A job without a mark must be held, because a job
// that may start at any second cannot be planned. A job of an application belongs to its launcher.
func (s *jobs) adopt(j *adapter.Job) error {
	if adapter.Delegated(j) {
		if !s.launchers && adapter.IsPart(j) && j.State == adapter.Pending {
			s.eventLog.notice(j.Key, "stays held: it is a part of an application, and without a section [delegate] in the configuration no launchers are served: cancel it")
		}
		return nil
	}
	if j.Rigid {
		return s.accept(j, adapter.RequestOfRigid(j))
	}
	request := adapter.RequestOf(j)
	marked := len(j.Mark) > len(adapter.MarkPrefix) && j.Mark[:len(adapter.MarkPrefix)] == adapter.MarkPrefix
	if request == "" || j.State != adapter.Pending && j.State != adapter.Running || !marked && (j.State != adapter.Pending || !j.Held) {
		return nil
	}
	return s.accept(j, request)
}

// accept creates the record of a managed job for a job and its request.
func (s *jobs) accept(j *adapter.Job, request string) error {
	choices, err := adapter.ParseRequest(request)
	if err != nil {
		s.eventLog.notice(j.Key, fmt.Sprintf("stays held: %v", err))
		return nil
	}
	r := managed.New(j, request, choices)
	r.StepLengthChecked, r.Adopted = s.settings.Limits.ShortestStep > 0, j.Adopted && j.HeldBy == ""
	s.records[j.Key] = r
	text, fields := request, map[string]any{"user": j.User}
	if before, ok := s.requeuedFrom(j); ok {
		text += fmt.Sprintf("; put back into the queue, in which it was at %s first", adapter.Instant(before).Format(time.DateTime))
		fields["requeued"] = before
	}
	if slow := r.Slower(); slow != "" && policy.SizingOf(s.settings.Policy) != nil {
		text += "; never chosen, for they last longer than with as many nodes or fewer: " + slow
	}
	if j.TaskName != "" {
		fields["task"] = j.TaskName
	}
	if err := s.save(r, decide.Event{Kind: "accepted", Text: text, Fields: fields}); err != nil || j.State != adapter.Running {
		return err
	}
	return s.reconcileRunning(r, j)
}

// reconcilePending compares a pending job with its record.
func (s *jobs) reconcilePending(r *managed.Job, j *adapter.Job) error {
	if r.Rejected.Times > 0 && r.Reconsider(j, managed.KindsOf(s.readings.snapshot.Nodes), s.eventLog.clock.Now().Unix()) {
		if err := s.save(r, decide.Event{Kind: "reconsidered", Text: "it or the nodes were changed: tried again"}); err != nil {
			return err
		}
	}
	if r.CouldRun != j.CouldRun {
		r.CouldRun, r.Unsaved = j.CouldRun, true
	}
	if j.Adopted && j.HeldBy == "" && !r.Adopted {
		r.Adopted, r.Unsaved = true, true
	}
	if err := s.noteHold(r); err != nil {
		return err
	}
	switch {
	case r.Rigid():
		if r.UpdateRequest(j); j.Held && r.AdmittedAt > 0 { // the job was put back to wait at the gate
			r.AdmittedAt, r.Unsaved = 0, true
		}
	case r.Phase == managed.Waiting && !j.Held && j.Mark == "":
		// The owner released the job before it was adopted. From now on it is an ordinary job.
		return s.forget(r, "escaped", nil)
	case r.Phase == managed.Running:
		// The job was requeued. It waits again, from its first step.
		s.countUse(r, "")
		r.BackToQueue()
		return s.save(r, decide.Event{Kind: "requeued", Text: "waits again, from its first step"})
	}
	return nil
}

// noteHold records whether a waiting job is held by its owner or an operator.
func (s *jobs) noteHold(r *managed.Job) error {
	by := r.OtherHolder()
	if by == r.HolderTold {
		return nil
	}
	e := decide.Event{Kind: "stopped", Text: r.HeldText(), Fields: map[string]any{"by": by}}
	if by == "" {
		e = decide.Event{Kind: "let go", Text: "not held by others any more: it waits as before", Fields: map[string]any{"by": r.HolderTold}}
	}
	if r.HolderTold = by; by != "" {
		r.Course = nil
	}
	return s.save(r, e)
}

// reconcileRunning compares the nodes of a running job with those in its record.
func (s *jobs) reconcileRunning(r *managed.Job, j *adapter.Job) error {
	if r.Phase == managed.Waiting || r.Phase == managed.Starting {
		if err := s.began(r, j); err != nil {
			return err
		}
	}
	if err := s.relimit(r, j); err != nil {
		return err
	}
	if r.SuspensionTold != j.Suspended {
		r.SuspensionTold = j.Suspended
		e := decide.Event{Kind: "suspended", Text: r.SuspendedText()}
		if !j.Suspended {
			e = decide.Event{Kind: "resumed", Text: "goes on; the time for which it was suspended does not count as late"}
		}
		if err := s.save(r, e); err != nil {
			return err
		}
	}
	r.Parts = j.Parts
	held := managed.KeepOrder(r.Nodes, j.Nodes)
	if slices.Equal(held, r.Nodes) && !r.Resizing() {
		return nil
	}
	if r.Resizing() { // the last sidecar ended during the resize
		done := len(held) == r.EP()[r.Target].Nodes
		r.SetNodes(held, s.eventLog.clock.Now().Unix())
		if done {
			return s.apply(r, decide.NextStep(r, r.Nodes, s.settings, map[string]any{"after": "a restart"}, s.eventLog.clock.Now()))
		}
		r.Target = r.Step
		return s.save(r)
	}
	if s.forgot(r, held) {
		return s.repeatResize(r, held)
	}
	r.NodesForgotten = nil
	text, fields := fmt.Sprintf("holds %d nodes, not %d: changed without us", len(held), len(r.Nodes)), map[string]any{"nodes": names(held), "held": names(r.Nodes)}
	r.Found(held, s.eventLog.clock.Now().Unix())
	return s.save(r, decide.Event{Kind: "changed", Text: text, Fields: fields})
}

// relimit records a changed time limit of a running job, and what that limit leaves of the job's
// profile.
func (s *jobs) relimit(r *managed.Job, j *adapter.Job) error {
	before := r.End()
	if r.LimitAsked > 0 && j.Limit > r.Limit && j.Limit < core.Forever {
		r.Limit, r.Unsaved = max(r.Limit, min(j.Limit, r.LimitAsked)), true
	}
	if !r.ApplyLimit(j.Limit) {
		return nil
	}
	kind, how := "shortened", "shortened"
	if r.End() > before {
		kind, how = "restored", "lengthened"
	}
	if j.Limit >= r.Limit && r.End() <= before {
		kind = "capped"
		r.LimitAsked = r.WholeEnd() - r.Began - r.Clock + s.settings.Margin([]core.EP{r.Choices[r.Choice]})
		r.WantedLimit = r.LimitAsked
	}
	was := fmt.Sprintf("was %s to %s: it ends at %s, in step %d of %d", how, core.FormatDuration(j.Limit),
		adapter.Instant(r.End()).Format(time.TimeOnly), len(r.EP()), len(r.Choices[r.Choice]))
	if kind == "capped" {
		was = fmt.Sprintf("is %s, and steps of it began late: it ends at %s, in step %d of %d", core.FormatDuration(j.Limit),
			adapter.Instant(r.End()).Format(time.TimeOnly), len(r.EP()), len(r.Choices[r.Choice]))
	}
	r.Message = "the limit of this job " + was
	if r.Final() {
		r.Answer(wire.Over, r.Message)
	}
	return s.save(r, decide.Event{Kind: kind, Text: "its limit " + was, Fields: map[string]any{"limit": j.Limit, "end": r.End(), "before": before}})
}

// began records that a job has started. A start that is later than planned moves the whole promise.
// An earlier start makes the first step longer, so that the later steps begin at their planned
// seconds.
func (s *jobs) began(r *managed.Job, j *adapter.Job) error {
	if r.Promise == nil { // the job was started without the sidecar, or the journal was lost
		r.Promise = make([]core.Time, len(r.EP()))
		r.SetPromise(j.Started, r.EP())
		r.Step = managed.StepOfSize(r.EP(), len(j.Nodes))
		r.Target = r.Step
	}
	r.Limit = j.Limit
	if r.Phase == managed.Starting && j.Limit > 0 {
		r.Limit = max(j.Limit, r.EP().Total()) // a shorter limit was set after the release
	}
	r.Rejected = managed.Rejection{}
	r.Phase, r.Began, r.Attached = managed.Running, j.Started, j.Reservation != ""
	r.SetNodes(slices.Clone(j.Nodes), s.eventLog.clock.Now().Unix()) // the owner may have shrunk the job before a reading showed that it runs
	late := core.Time(0)
	if r.Planned > 0 {
		late = max(0, j.Started-r.Planned)
	}
	if late > 0 {
		r.PromiseMovedBy = managed.BatchSystem
	}
	for i := range r.Promise {
		r.Promise[i] += late
	}
	r.PlannedEnd = r.Due()
	r.SetSidecarDelay(s.eventLog.clock.Now().Unix() - j.Started)
	fields := map[string]any{"nodes": names(r.Nodes), "planned": r.Planned, "began": j.Started, "ends": r.End()}
	if r.Question != nil {
		if why := r.OrderForShrink(r.Question.Request); why != "" {
			r.Answer(wire.Refused, why)
		}
	}
	return s.save(r, decide.Event{Kind: "started", Text: fmt.Sprintf("on %d nodes", len(r.Nodes)), Fields: fields})
}

// forget removes a job that has ended, and writes its event.
func (s *jobs) forget(r *managed.Job, kind string, j *adapter.Job) error {
	return s.writeEnd(s.drop(r, kind, j))
}

// drop removes a job, and returns its event.
func (s *jobs) drop(r *managed.Job, kind string, j *adapter.Job) leaving {
	text := "before it began"
	if r.Began > 0 && r.Phase != managed.Starting {
		text = fmt.Sprintf("after step %d of %d", r.Step+1, len(r.EP()))
	}
	if kind == "escaped" {
		text = "released by its owner before it was adopted; scheduled as an ordinary job"
	}
	if r.EndReason != "" {
		text += ": " + r.EndReason
	}
	fields := map[string]any{}
	state := ""
	if j != nil {
		state = j.Why
	}
	if unused := s.countUse(r, state); unused > 0 {
		fields["unused"] = unused
	}
	if j != nil && j.Why != "" && j.Why != "None" {
		fields["state"] = j.Why
		text += " (" + j.Why + ")"
	}
	if r.UncountedUnused > 0 {
		s.charge(s.unpaid[r.ID]) // the debt of an earlier run of the same job number
		if s.unpaid == nil {
			s.unpaid = unpaid{}
		}
		s.unpaid[r.ID] = debt{r.User, r.Account, r.UncountedUnused}
	}
	r.Answer(wire.Over, "the job is over")
	delete(s.records, r.Key)
	delete(s.eventLog.lastNotice, r.Key)
	return leaving{r, kind, text, fields, s.eventLog.clock.Now()}
}

// writeEnd writes the event of a job that was removed, and then deletes its record.
func (s *jobs) writeEnd(l leaving) error {
	// The event is written before the record is deleted. If the sidecar ends in between, the event
	// is written twice instead of never.
	e := s.eventLog.logEvent(l.job, decide.Event{Kind: l.kind, Text: l.text, Fields: l.fields})
	e.At = l.since
	if err := s.eventLog.journal.Event(e); err != nil {
		return err
	}
	return s.eventLog.journal.Delete(int64(l.job.ID), l.job.Submitted)
}

// dropMissing removes the jobs that the reading does not show any more.
func (s *jobs) dropMissing(here map[adapter.Key]bool, snapshot *adapter.Snapshot) error {
	for _, r := range s.sorted() {
		if !here[r.Key] && s.fresh(r) {
			l := s.drop(r, "ended", nil)
			if isRequeued(snapshot, r) {
				l.markRequeued()
			}
			if err := s.writeEnd(l); err != nil {
				return err
			}
		}
	}
	if err := s.writeLeft(here, snapshot); err != nil {
		return err
	}
	s.settle(snapshot)
	return nil
}

// endRigid removes a rigid job that has started or ended: from now on it is an ordinary job.
func (s *jobs) endRigid(r *managed.Job, j *adapter.Job) error {
	if j.State != adapter.Running {
		return s.forget(r, "ended", j)
	}
	delete(s.records, r.Key)
	delete(s.eventLog.lastNotice, r.Key)
	fields := map[string]any{"nodes": names(j.Nodes), "began": j.Started}
	if err := s.eventLog.event(r, "started", fmt.Sprintf("on %d nodes, as an ordinary job", len(j.Nodes)), fields); err != nil {
		return err
	}
	return s.eventLog.journal.Delete(int64(r.ID), r.Submitted)
}

// becomeRigid turns a managed job that started without the sidecar into a rigid job. The job has
// the size and the limit that the batch system gave it, and is not resized.
func (s *jobs) becomeRigid(r *managed.Job, j *adapter.Job) error {
	was := r.Request
	lasts := min(j.Limit, core.MaxTotal-s.settings.Guard) + s.settings.Guard
	r.Choice, r.Choices = 0, []core.EP{{{Duration: max(lasts, 1), Nodes: max(len(j.Nodes), 1)}}}
	r.Request = "ep=" + ep.Format(r.Choices[0])
	return s.eventLog.event(r, "escaped", fmt.Sprintf("runs without having been started by us: from now on a rigid job of %d nodes", len(j.Nodes)),
		map[string]any{"nodes": names(j.Nodes), "request": was})
}
