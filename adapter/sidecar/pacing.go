package sidecar

import (
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

// How often the batch system is read. A reading costs it something and tells nothing while nothing is due: then there are
// few, but for one soon after a Herald called. They come each re-scheduling timer around every second at which something is to happen, and for some seconds after
// something did; more often for the seconds in which a growth waits for nodes that only the batch system can free; and
// seldom when it is slow or does not answer.
const (
	hurry     = 250 * time.Millisecond // while a due growth begins to wait for the batch system
	haste     = 500 * time.Millisecond // while it waits on
	hurryFor  = 5                      // seconds of the one…
	hasteFor  = 60                     // …and of both
	lively    = 20 * time.Second       // nothing must have been done, and have happened, for so long before it rests
	sluggish  = 2 * time.Second        // a reading that takes as long shows a batch system at its limits
	share     = 5                      // it is read for at most the share-th part of the time then
	mostSpare = 10 * time.Second       // and at least so often
	mostAway  = 5 * time.Second        // one that does not answer is asked at least so often
)

// pacing is when to read, and when to wake without a reading.
type pacing struct {
	eventLog *eventLog
	readings *readings
	jobs     *jobs
	parts    Parts
	turns    *turns
	settings managed.Settings
}

// pause is how long nothing needs to be done: until the next reading, or the next second at which something falls due; reads says that
// it is the reading alone. One that is under way wakes the loop when it comes, however late, and until then there is no next one.
func (s *pacing) pause() (lasts time.Duration, reads bool) {
	now := s.eventLog.clock.Now()
	wake := s.next(now)
	if reads = !s.readings.underWay; !reads {
		wake = now.Add(s.settings.Interval)
	}
	if t := s.turns.again; t.After(now) && !t.After(wake) {
		wake, reads = t, false
	}
	for _, r := range s.jobs.records {
		if r.Busy != "" {
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

// moments are the instants at which something may have to be done for the job though no reading came.
func (s *pacing) moments(r *managed.Job) []time.Time {
	all := []time.Time{r.Retry}
	add := func(second core.Time) { all = append(all, adapter.Instant(second)) }
	switch {
	case r.Phase == managed.Waiting && r.Course != nil && r.Course.Err == nil:
		add(r.Course.Start - s.settings.StartLead - s.ahead())
	case r.Phase == managed.Running:
		due, late, o := r.Due(), r.LateFrom(), s.settings.Overrun
		allowance := r.Allowance(s.settings.Overrun) - r.Overran
		add(due - s.ahead())
		add(due)
		if r.Asks != nil && r.Meant < due { // it was put off, and may go on from the second that it was promised first
			add(r.Meant)
		}
		add(due - s.settings.Silent.Notice)
		add(late + max(r.Allowance(s.settings.Overrun)-o.Grace, r.Allowance(s.settings.Overrun)/2) - r.Overran)
		add(late + allowance + 1)
		if r.Warned > 0 {
			add(r.Warned + o.Grace)
		}
		if r.Asks != nil {
			all = append(all, r.Asks.Until)
		}
	}
	return all
}

// ahead is how many seconds before a change the readings become frequent.
func (s *pacing) ahead() core.Time {
	return max(core.Time(2*s.settings.Interval/time.Second), 2)
}

// between is the pause from the begin of one reading to the next.
func (s *pacing) between(now time.Time) time.Duration {
	pause := max(s.settings.Rest, s.settings.Interval)
	switch soon, hurried := s.coming(now.Unix()); {
	case s.readings.failures > 0:
		pause = min(s.settings.Interval<<min(s.readings.failures-1, 8), max(mostAway, s.settings.Interval))
	case hurried > 0:
		pause = min(hurried, s.settings.Interval)
	case soon || now.Before(s.eventLog.stirred.Add(lively)):
		pause = s.settings.Interval
	}
	if s.readings.slow >= sluggish {
		pause = max(pause, min(share*s.readings.slow, max(mostSpare, s.readings.slow)))
	}
	return pause
}

// coming says whether a job changes soon, and the pause between readings that suits a change which waits for the batch
// system alone; 0 where none does.
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
			if _, awaited := s.jobs.awaited[r.ID]; awaited && r.Busy == "" && r.Seen != nil {
				hurried = hurry
			}
			soon = true
		case managed.Running:
			late := now - r.Due()
			soon = soon || r.Attached || r.Busy != "" || r.Resizing() ||
				!r.Final() && late >= -s.ahead() && (late <= s.ahead() || r.Asks != nil || r.Voice == managed.SilentVoice)
			if r.Final() || late < 0 || r.Busy != "" || r.Asks == nil && r.Voice != managed.SilentVoice || !s.depends(r) {
				continue
			}
			switch waited := now - max(r.Due(), r.WaitsSince); {
			case waited <= hurryFor:
				hurried = hurry
			case waited <= hasteFor && hurried == 0:
				hurried = haste
			}
		}
	}
	return soon, hurried
}

// depends says whether a due growth waits for what only a reading can show: a late application speaks for itself.
func (s *pacing) depends(r *managed.Job) bool {
	return r.WaitsFor == managed.OrdinaryOverrun || r.WaitsFor == managed.BatchSystem || r.Refused != nil
}

// next is when the next reading is to begin.
func (s *pacing) next(now time.Time) time.Time {
	pause := s.between(now)
	if s.readings.stale && s.readings.failures == 0 && s.readings.slow < sluggish {
		pause = min(pause, hurry)
	}
	return s.readings.at.Add(pause)
}

// due says whether it is time for a reading.
func (s *pacing) due() bool {
	now := s.eventLog.clock.Now()
	return !s.readings.underWay && (s.readings.begun == 0 || !now.Before(s.next(now)))
}
