package apps

import (
	"fmt"
	"slices"

	"accordion/core"
)

// patience is how many times Answer a launcher may owe an answer.
const patience = 10

// PrepareWithin is how long the clusters have to prepare a try.
const PrepareWithin core.Time = 10

// Spans are how long somebody may take, in seconds.
type Spans struct {
	Answer  core.Time // a launcher to answer a change
	Grace   core.Time // a launcher to come back
	BringUp core.Time // the parts of an application to come up
}

// Talk is how an application stands with its launcher.
type Talk struct {
	Attached bool      // it has one
	Away     core.Time // since when not
	Owes     core.Time // since when the launcher has a view to acknowledge; 0: it has none
	Owed     int64     // that view
	Naming   bool      // jobs that it named are still looked for
	Named    core.Time // since when
}

// UpBy is when all parts must be up: after a restart they get their time anew.
func (a *Application) UpBy(begun core.Time, s Spans) core.Time {
	return max(a.Since, begun) + s.BringUp
}

// Silent says why nobody waits for the application's launcher any more; "": it is heard.
func (a *Application) Silent(now core.Time, s Spans, t Talk) string {
	switch {
	case a.Phase == Ending:
	case !t.Attached && now >= t.Away+s.Grace:
		return fmt.Sprintf("its launcher was away for %d s", s.Grace)
	case t.Owes != 0 && now >= t.Owes+patience*s.Answer:
		return fmt.Sprintf("its launcher did not acknowledge view %d within %d s", t.Owed, patience*s.Answer)
	case a.Phase == Fresh && !t.Naming && now >= a.Since+patience*s.Answer:
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

// Overrun says whether the application's walltime is over. It is not where every part has said that it is done: how long their batch systems
// take to end them is not the application's time.
func (a *Application) Overrun(now core.Time) bool {
	return a.Phase == Running && now >= a.By && a.working()
}

// working says whether any part has not said yet that it is done.
func (a *Application) working() bool {
	return slices.ContainsFunc(a.Parts, func(p *Part) bool { return p.Hosts > 0 && !p.Done && !p.Over })
}

// Deadline is the next second at which something is due of the application, in a process that began at a second.
func (a *Application) Deadline(now, begun core.Time, s Spans, t Talk) core.Time {
	next := core.Forever
	at := func(t core.Time) { next = min(next, t) }
	later := func(t core.Time) { // once it is past it is nothing any more
		if t > now {
			at(t)
		}
	}
	if a.Phase != Ending && !t.Attached {
		at(t.Away + s.Grace)
	}
	if a.Phase != Ending && t.Owes != 0 {
		at(t.Owes + patience*s.Answer)
	}
	if t.Naming {
		at(t.Named + readWithin)
	}
	switch a.Phase {
	case Fresh:
		if !t.Naming {
			at(a.Since + patience*s.Answer)
		}
	case Waiting:
		later(a.RetryAt())
	case Preparing:
		at(a.Since + PrepareWithin)
	case Starting:
		at(a.UpBy(begun, s))
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
			later(p.Ghost - Leaving)
			later(p.Ghost)
		}
		if p.Owed != nil {
			at(p.Owed.By)
		}
	}
	return next
}
