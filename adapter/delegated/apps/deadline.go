package apps

import (
	"fmt"
	"slices"

	"accordion/core"
)

// patience is after how many times Settings.Answer a launcher that owes an answer is given up.
const patience = 10

// prepareWithin is how many seconds the clusters have to prepare a try.
const prepareWithin core.Time = 10

// upBy returns the second by which all parts must be up. After a restart of the machine, at begun, they get the whole time again.
func (a *application) upBy(begun core.Time, s Settings) core.Time {
	return max(a.Since, begun) + s.BringUp
}

// silent returns why the application's launcher is not waited for any longer, or "".
func (a *application) silent(now core.Time, s Settings) string {
	switch {
	case a.Phase == Ending:
	case a.launcher == nil && now >= a.away+s.Grace:
		return fmt.Sprintf("its launcher was away for %d s", s.Grace)
	case a.owes != 0 && now >= a.owes+patience*s.Answer:
		return fmt.Sprintf("its launcher did not acknowledge view %d within %d s", a.owed, patience*s.Answer)
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

// overrun reports whether a running application has used up its walltime. It has not if every part has reported its end: the time in which
// batch systems end the jobs is not the application's.
func (a *Application) overrun(now core.Time) bool {
	return a.Phase == Running && now >= a.By && a.working()
}

// working reports whether a part has not reported its end yet.
func (a *Application) working() bool {
	return slices.ContainsFunc(a.Parts, func(p *Part) bool { return p.Hosts > 0 && !p.Done && !p.Over })
}

// deadline returns the next second at which something is due for the application. begun is when the machine began.
func (a *application) deadline(now, begun core.Time, s Settings) core.Time {
	next := core.Forever
	at := func(t core.Time) { next = min(next, t) }
	later := func(t core.Time) { // due only once: nothing when it has passed
		if t > now {
			at(t)
		}
	}
	if a.Phase != Ending && a.launcher == nil {
		at(a.away + s.Grace)
	}
	if a.Phase != Ending && a.owes != 0 {
		at(a.owes + patience*s.Answer)
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
		later(a.RetryAt())
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
		if p.Owed != nil {
			at(p.Owed.By)
		}
	}
	return next
}
