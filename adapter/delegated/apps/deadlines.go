package apps

import (
	"fmt"
	"maps"
	"slices"

	"accordion/core"
	"accordion/shim/wire/launcher"
)

// at sets the machine's time to the second `now`, and records for which applications something is due. If `now` is earlier than the
// machine's time, the time does not change.
func (m *Machine) at(now core.Time) {
	if now > m.now {
		m.now = now
		for a := range m.unscheduled { // a deadline may have passed before the application was put into the agenda
			m.changed(a)
		}
		m.schedule()
		for _, c := range m.clusters {
			c.changed = c.changed || len(c.orphans) > 0
		}
	}
	for e := m.agenda.Take(m.now); e != nil; e = m.agenda.Take(m.now) {
		m.changed(e.Of)
	}
}

// schedule puts the deadlines of the applications in m.unscheduled into the agenda.
func (m *Machine) schedule() {
	for a := range m.unscheduled {
		m.agenda.Put(&a.entry, a.deadline(m.now, m.begun, m.settings))
	}
	m.unscheduled.clear()
}

// deadlines handles timeouts of applications that changed, or for which something is due.
func (m *Machine) deadlines() {
	m.checkReadings()
	m.unsettled = true
	maps.Copy(m.unchecked, m.pending)
	all := m.unchecked.byRank()
	m.unchecked.clear()
	for _, a := range all {
		m.retryNaming(a)
		if reason := a.silent(m.now, m.settings); reason != "" {
			in := core.Time(0)
			if a.Phase.Started() {
				in = endIn
			}
			m.end(a, launcher.WhySilent, reason, in)
		}
		switch {
		case a.Phase == Preparing && m.now >= a.Since+prepareWithin:
			m.timeOut(a, func(p *Part) bool { return p.Prepared }, fmt.Sprintf("not prepared within %d s", prepareWithin))
		case a.Phase == Starting && m.now >= a.upBy(m.begun, m.settings):
			m.timeOut(a, m.up(a), fmt.Sprintf("not up within %d s", m.settings.BringUp))
		case a.overrun(m.now):
			m.end(a, launcher.WhyOverrun, "its walltime is over", endIn)
		}
		for _, p := range a.Parts {
			m.answerDone(a, p, nil)
		}
		m.advance(a)
	}
}

// timeOut gives up the try of an application if any part of its request has not come far enough, that is, if `far` returns false for the
// part.
func (m *Machine) timeOut(a *application, far func(*Part) bool, why string) {
	for _, p := range a.Parts {
		if p.Hosts > 0 && !far(p) {
			m.refused(a, p, why)
			return
		}
	}
}

// patience times Settings.Answer is how long a launcher may leave a view unanswered. After that time its application is ended.
const patience = 10

// prepareWithin is how many seconds the clusters have to prepare a try.
const prepareWithin core.Time = 10

// upBy returns the second by which all parts must be up. After a restart of the machine, the time for that begins again at the second
// `begun`.
func (a *application) upBy(begun core.Time, s Settings) core.Time {
	return max(a.Since, begun) + s.BringUp
}

// silent returns why the machine no longer waits for the application's launcher, or "" if it does.
func (a *application) silent(now core.Time, s Settings) string {
	switch {
	case a.Phase == Ending:
	case a.launcher == nil && now >= a.away+s.Grace:
		return fmt.Sprintf("its launcher was away for %d s", s.Grace)
	case a.unackedSince != 0 && now >= a.unackedSince+patience*s.Answer:
		return fmt.Sprintf("its launcher did not acknowledge view %d within %d s", a.unackedView, patience*s.Answer)
	case a.Phase == Fresh && a.pending == nil && now >= a.Since+patience*s.Answer:
		return fmt.Sprintf("its launcher did not subscribe within %d s", patience*s.Answer)
	case a.Phase == Subscribed || a.Phase == Waiting:
		for _, p := range a.Parts {
			if p.Lost > 0 && p.Hosts > 0 && now >= p.Lost+patience*s.Answer {
				return fmt.Sprintf("its launcher did not submit job %d on %s again within %d s", p.Job, p.Name, patience*s.Answer)
			}
		}
	}
	return ""
}

// overrun reports whether a running application has used up its walltime. It returns false if every part has reported its end, because
// the application is not responsible for the time that batch systems then take to end the jobs.
func (a *Application) overrun(now core.Time) bool {
	return a.Phase == Running && now >= a.By && a.working()
}

// working reports whether a part has not reported its end yet.
func (a *Application) working() bool {
	return slices.ContainsFunc(a.Parts, func(p *Part) bool { return p.Hosts > 0 && !p.Done && !p.Over })
}

// deadline returns the next second at which something is due for the application. begun is the second at which the machine began.
func (a *application) deadline(now, begun core.Time, s Settings) core.Time {
	next := core.Forever
	at := func(t core.Time) { next = min(next, t) }
	later := func(t core.Time) { // ignores a time that has passed, so that each deadline is due only once
		if t > now {
			at(t)
		}
	}
	if a.Phase != Ending && a.launcher == nil {
		at(a.away + s.Grace)
	}
	if a.Phase != Ending && a.unackedSince != 0 {
		at(a.unackedSince + patience*s.Answer)
	}
	if a.pending != nil {
		at(a.pending.at + readWithin)
	}
	switch a.Phase {
	case Fresh:
		if a.pending == nil {
			at(a.Since + patience*s.Answer)
		}
	case Waiting:
		later(a.retryAt())
	case Preparing:
		at(a.Since + prepareWithin)
	case Starting:
		at(a.upBy(begun, s))
	case Running:
		if a.working() {
			at(a.By)
		}
	case Ending:
		later(a.EndAt)
	}
	for _, p := range a.Parts {
		if p.Lost > 0 {
			later(p.Lost + s.Answer)
			later(p.Lost + patience*s.Answer)
		}
		if p.Ghost > 0 {
			later(p.Ghost - leaving)
			later(p.Ghost)
		}
		if p.Okay != nil {
			at(p.Okay.By)
		}
	}
	return next
}
