package decide

import (
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/core"
)

// overdue decides about a job whose step should have ended `late` seconds ago. The job may go on
// within its allowance while no other job waits for its nodes. It is warned when the allowance or
// its limit is nearly used up, or when another job waits for its nodes. It is ended when the
// allowance is used up, or when the other job has waited for the grace period. Seconds in which the
// batch system did not answer do not count.
func (s Situation) overdue(r *managed.Job, late core.Time) Decision {
	o := s.World.Settings.Overrun
	allowance, used, limit := r.Allowance(o), r.OverrunUsed+late, r.UntilLimit(s.World.Now)
	_, inTheWay := s.Awaited[r.ID]
	warned := s.World.Now - r.WarnedAt - s.Outages.Within(r.WarnedAt, s.World.Now)
	var d Decision
	switch {
	case r.LooksDue(s.Outages, s.World.Now):
		d = readPrograms(r)
	case used > allowance:
		d = s.end(r, r.Lateness(late)+fmt.Sprintf(" (allowance %d s in all): raise its duration in the profile", allowance))
	case r.WarnedAt == 0 && o.Signal != "" && (inTheWay || limit > 0 && limit <= o.Grace || used >= max(allowance-o.Grace, allowance/2)):
		d = s.warn(r, late, inTheWay)
	case inTheWay && r.WarnedAt > 0 && warned >= o.Grace:
		d = s.end(r, r.Lateness(late)+fmt.Sprintf(", and another job has waited %d s for its nodes: raise its duration in the profile", warned))
	}
	d.Waits = fmt.Sprintf("late by %d s: step %d should be over", late, r.Step+1)
	return d
}

// warn warns a late job, once per step.
func (s Situation) warn(r *managed.Job, late core.Time, inTheWay bool) Decision {
	o, now := s.World.Settings.Overrun, s.World.Now
	why, left := "its allowance is nearly used up", r.Allowance(o)-r.OverrunUsed-late
	if limit := r.UntilLimit(now); limit > 0 && limit < left {
		why, left = "its limit is nearly reached", limit
	}
	if inTheWay {
		why, left = "another job waits for its nodes", min(left, o.Grace)
	}
	why = r.Lateness(late) + "; " + why
	return Decision{
		Changes: []managed.Change{managed.Warned{At: now}},
		Events:  []Event{{"warned", why, map[string]any{"late": late}}},
		Do: &Operation{Verb: "warn", Talk: true, Calls: []actions.Call{
			actions.Tell{Job: r.Key, Text: fmt.Sprintf("%s: the job will be ended in %d s unless the step ends before", why, left)},
			actions.Signal{Job: r.Key, Signal: o.Signal},
		}},
	}
}

// readPrograms finds out which programs of the job run, because an outage of the batch system may
// have kept a program from starting.
func readPrograms(r *managed.Job) Decision {
	return Decision{Do: &Operation{Verb: "look", Talk: true, Calls: []actions.Call{actions.ReadPrograms{Job: r.Key}}}}
}

// excused informs the user of a late job that the step may end later, because the batch system did
// not answer.
func (s Situation) excused(r *managed.Job, late core.Time) Decision {
	one, _ := r.Outage(s.Outages, s.World.Now)
	until := "now"
	if one.To > 0 {
		until = clock(one.To)
	}
	away := fmt.Sprintf("the batch system did not answer from %s to %s", clock(one.From), until)
	d := Decision{Waits: fmt.Sprintf("its step should have ended %d s ago: %s, and what that cost it is added to its time", late, away)}
	if !r.OutageTold {
		d.Changes = []managed.Change{managed.OutageExcused{Message: away + ": what that costs this job is added to the time that it may use"}}
		d.Events = []Event{{"excused", away, map[string]any{"from": one.From, "to": one.To, "seconds": r.OutageCost}}}
	}
	return d
}

// clock returns the time of day of a Unix second.
func clock(second core.Time) string { return adapter.Instant(second).Format(time.TimeOnly) }
