package sidecar

import (
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

// These constants determine how often the batch system is read. Readings load the batch system, so
// there are few while nothing is due. A change that the batch system reports
// (adapter.ChangeNotifier) causes a reading. Around each second at which something is planned, and
// for some seconds after something happened, the rescheduling timer is the interval between
// readings. Readings are more frequent while a growth waits for nodes that only the batch system
// can free. They are less frequent when the batch system is slow or does not answer.
const (
	pauseFirst    = 250 * time.Millisecond // the pause between readings in the first seconds in which a due growth waits for the batch system
	pauseThen     = 500 * time.Millisecond // the pause after these first seconds
	firstFor      = 5                      // for how many seconds the pause is pauseFirst
	waitsFor      = 60                     // for how many seconds the pause is pauseFirst or pauseThen
	restAfter     = 20 * time.Second       // the pause becomes long when nothing has happened for this time
	slowFrom      = 2 * time.Second        // the batch system is slow if a reading takes this long
	slowShare     = 5                      // while the batch system is slow, readings take at most one slowShare-th of the time
	maxSlowPause  = 10 * time.Second       // and the pause is at most maxSlowPause, or as long as the last reading
	maxRetryPause = 5 * time.Second        // the longest pause while the batch system does not answer
)

// pacing computes when the batch system is read, and when the loop wakes.
type pacing struct {
	eventLog *eventLog
	readings *readings
	jobs     *jobs
	parts    Parts
	turns    *turns
	settings managed.Settings
}

// pause returns the time until the next reading, or until something is due if that is earlier.
// `reads` is true if the reading comes first. While a reading is under way, only what is due
// counts, because the loop wakes when the present reading arrives.
func (s *pacing) pause() (lasts time.Duration, reads bool) {
	now := s.eventLog.clock.Now()
	wake := s.next(now)
	if reads = !s.readings.underWay; !reads {
		wake = now.Add(s.settings.Interval)
	}
	if t := s.turns.retry; t.After(now) && !t.After(wake) {
		wake, reads = t, false
	}
	for _, r := range s.jobs.records {
		if r.Underway != "" {
			continue
		}
		for _, t := range s.moments(r) {
			if t.After(now) && !t.After(wake) {
				wake, reads = t, false
			}
		}
	}
	return max(wake.Sub(now), 5*time.Millisecond), reads
}

// moments returns the instants at which a decision about the job may change without a new reading.
func (s *pacing) moments(r *managed.Job) []time.Time {
	all := []time.Time{r.RetryAt}
	add := func(second core.Time) { all = append(all, adapter.Instant(second)) }
	switch {
	case r.Phase == managed.Waiting && r.Course != nil && r.Course.Err == nil:
		add(r.Course.Start - s.settings.StartLead - s.ahead())
	case r.Phase == managed.Running:
		due, late, o := r.Due(), r.LateFrom(), s.settings.Overrun
		allowance := r.Allowance(s.settings.Overrun) - r.OverrunUsed
		add(due - s.ahead())
		add(due)
		if r.Question != nil && r.PlannedEnd < due { // the step was postponed, and may begin from the originally promised second on
			add(r.PlannedEnd)
		}
		add(due - s.settings.Silent.Notice)
		add(late + max(r.Allowance(s.settings.Overrun)-o.Grace, r.Allowance(s.settings.Overrun)/2) - r.OverrunUsed)
		add(late + allowance + 1)
		if r.WarnedAt > 0 {
			add(r.WarnedAt + o.Grace)
		}
		if r.Question != nil {
			all = append(all, r.Question.Until)
		}
	}
	return all
}

// `ahead` returns how many seconds before a change the readings become frequent.
func (s *pacing) ahead() core.Time {
	return max(core.Time(2*s.settings.Interval/time.Second), 2)
}

// `between` returns the time from the begin of one reading to the begin of the next reading.
func (s *pacing) between(now time.Time) time.Duration {
	pause := max(s.settings.Rest, s.settings.Interval)
	switch soon, hurried := s.coming(now.Unix()); {
	case s.readings.failures > 0:
		pause = min(s.settings.Interval<<min(s.readings.failures-1, 8), max(maxRetryPause, s.settings.Interval))
	case hurried > 0:
		pause = min(hurried, s.settings.Interval)
	case soon || now.Before(s.eventLog.lastActivity.Add(restAfter)):
		pause = s.settings.Interval
	}
	if s.readings.slow >= slowFrom {
		pause = max(pause, min(slowShare*s.readings.slow, max(maxSlowPause, s.readings.slow)))
	}
	return pause
}

// coming reports whether a job changes soon. `hurried` is the pause between readings if a change
// waits only for the batch system, and 0 if no change does.
func (s *pacing) coming(now core.Time) (soon bool, hurried time.Duration) {
	soon = s.parts.Soon()
	for _, r := range s.jobs.records {
		switch r.Phase {
		case managed.Waiting:
			c := r.Course
			soon = soon || r.Seen != nil && (r.Seen.Mark == "" || !r.Seen.Held) ||
				c != nil && c.Err == nil && c.Start <= now+s.settings.StartLead+s.ahead()
		case managed.Starting:
			soon = true
		case managed.Ending:
			if _, awaited := s.jobs.awaited[r.ID]; awaited && r.Underway == "" && r.Seen != nil {
				hurried = pauseFirst
			}
			soon = true
		case managed.Running:
			late := now - r.Due()
			soon = soon || r.Attached || r.Underway != "" || r.Resizing() ||
				!r.Final() && late >= -s.ahead() && (late <= s.ahead() || r.Question != nil || r.StepCalls == managed.StepCallsNever)
			if r.Final() || late < 0 || r.Underway != "" || r.Question == nil && r.StepCalls != managed.StepCallsNever || !s.depends(r) {
				continue
			}
			switch waited := now - max(r.Due(), r.ObstacleSince); {
			case waited <= firstFor:
				hurried = pauseFirst
			case waited <= waitsFor && hurried == 0:
				hurried = pauseThen
			}
		}
	}
	return soon, hurried
}

// depends reports whether a due growth waits for something that only a reading can show.
func (s *pacing) depends(r *managed.Job) bool {
	return r.Obstacle == managed.OrdinaryOverrun || r.Obstacle == managed.BatchSystem || r.RefusedNodes != nil
}

// `next` returns when the next reading begins.
func (s *pacing) next(now time.Time) time.Time {
	pause := s.between(now)
	if s.readings.stale && s.readings.failures == 0 && s.readings.slow < slowFrom {
		pause = min(pause, pauseFirst)
	}
	return s.readings.at.Add(pause)
}

// `due` reports whether a reading begins now.
func (s *pacing) due() bool {
	now := s.eventLog.clock.Now()
	return !s.readings.underWay && (s.readings.begun == 0 || !now.Before(s.next(now)))
}
