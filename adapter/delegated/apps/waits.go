package apps

import (
	"fmt"
	"slices"

	"accordion/core"
)

// Outlook is what an application's start depends on beside itself.
type Outlook struct {
	Clusters []*Known
	Lost     func(cluster int) bool // it is not read
	Asleep   bool                   // not all clusters are read yet, after a restart
	Joined   bool                   // it is among those that a pass considers
	Naming   bool                   // jobs that were named are looked for
	Attached bool                   // it has a launcher
}

// others is why one that is not considered waits.
const others = "those before it, or others of its user, are as many as a pass considers"

// WaitsFor says why an application has not started; "": it has.
func (a *Application) WaitsFor(now core.Time, o Outlook) string {
	switch {
	case a.Phase == Fresh && o.Naming:
		return "its jobs are not seen yet"
	case a.Phase == Fresh:
		return "it has not subscribed"
	case a.Phase == Subscribed && !o.Joined && !o.Asleep:
		return others
	case a.Phase == Subscribed:
		return "it has requested nothing"
	case a.Phase == Ending:
		return a.Why
	case a.Phase != Waiting:
		return ""
	case o.Asleep:
		return "the sidecar began anew, and has not read all clusters yet"
	}
	for _, p := range a.Parts {
		switch c := o.Clusters[p.Cluster]; {
		case p.Hosts == 0:
		case p.Lost > 0:
			return fmt.Sprintf("its launcher is to submit job %d on %s again", p.Job, p.Name)
		case p.Drop > 0:
			return "what the last try reserved on " + p.Name + " is not free yet"
		case c.State == nil || o.Lost(p.Cluster):
			return "cluster " + p.Name + " is not read"
		case p.Hosts > c.Hosts():
			return "cluster " + p.Name + " has fewer hosts than it asks for"
		}
	}
	switch {
	case !o.Joined:
		return others
	case a.RetryAt() > now:
		return "too many tries failed: the next is a minute after the last"
	case !o.Attached:
		return "its launcher is away"
	}
	return "its hosts are not free"
}

// Held says what keeps an application that waits from starting: not before a second, or only that it keeps its place meanwhile.
func (a *Application) Held(now core.Time, s Spans, t Talk) (from core.Time, keep bool) {
	from = a.RetryAt()
	for _, p := range a.Parts {
		switch {
		case p.Hosts == 0:
		case p.Lost > 0 && now >= p.Lost+s.Answer:
			from = core.Forever // nobody waits for its launcher
		case p.Lost > 0, p.Drop > 0:
			keep = true
		}
	}
	return from, keep || !t.Attached
}

// Occupies says whether an application's parts hold hosts, or may.
func (a *Application) Occupies() bool {
	return a.Phase.Holds() || slices.ContainsFunc(a.Parts, func(p *Part) bool { return p.Drop > 0 })
}

// Buried says whether nothing is left of an application that ends.
func (a *Application) Buried(now core.Time) bool {
	for _, p := range a.Parts {
		if !p.Over || p.Ghost > now {
			return false
		}
	}
	return true
}
