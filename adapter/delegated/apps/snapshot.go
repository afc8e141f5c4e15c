package apps

import (
	"fmt"
	"slices"

	"accordion/adapter/view"
	"accordion/core"
)

// others is the reason that users see if an application waits because passes do not consider the application yet.
const others = "those before it, or others of its user, are as many as a pass considers"

// waitsFor returns why an application has not started, or "" if it has.
func (m *Machine) waitsFor(a *application) string {
	switch {
	case a.Phase == Fresh && a.pending != nil:
		return "its jobs are not seen yet"
	case a.Phase == Fresh:
		return "it has not subscribed"
	case a.Phase == Subscribed && !a.joined && !m.asleep:
		return others
	case a.Phase == Subscribed:
		return "it has requested nothing"
	case a.Phase == Ending:
		return a.Why
	case a.Phase != Waiting:
		return ""
	case m.asleep:
		return "the sidecar has restarted, and has not read all clusters yet"
	}
	for _, p := range a.Parts {
		switch c := m.clusters[p.Cluster]; {
		case p.Hosts == 0:
		case p.Lost > 0:
			return fmt.Sprintf("its launcher is to submit job %d on %s again", p.Job, p.Name)
		case p.Drop > 0:
			return "what the last try reserved on " + p.Name + " is not free yet"
		case c.State == nil || c.lost:
			return "cluster " + p.Name + " is not read"
		case p.Hosts > c.hosts():
			return "cluster " + p.Name + " has fewer hosts than it asks for"
		}
	}
	switch {
	case !a.joined:
		return others
	case a.retryAt() > m.now:
		return "too many tries failed: the next is a minute after the last"
	case a.launcher == nil:
		return "its launcher is away"
	}
	return "its hosts are not free"
}

// held returns whether a waiting application must not start yet. It must not start before the second `from`. If `keep` is true, it must
// not start at all for now, but keeps its place in the plan.
func (a *application) held(now core.Time, s Settings) (from core.Time, keep bool) {
	from = a.retryAt()
	for _, p := range a.Parts {
		switch {
		case p.Hosts == 0:
		case p.Lost > 0 && now >= p.Lost+s.Answer:
			from = core.Forever // the launcher did not answer in time, so other applications may take its place
		case p.Lost > 0, p.Drop > 0:
			keep = true
		}
	}
	return from, keep || a.launcher == nil
}

// occupies reports whether parts of the application hold hosts or may hold hosts.
func (a *Application) occupies() bool {
	return a.Phase.Holds() || slices.ContainsFunc(a.Parts, func(p *Part) bool { return p.Drop > 0 })
}

// gone reports whether nothing is left of an application in phase Ending.
func (a *Application) gone(now core.Time) bool {
	for _, p := range a.Parts {
		if !p.Over || p.Ghost > now {
			return false
		}
	}
	return true
}

// Snapshot returns what users see of all applications.
func (m *Machine) Snapshot() view.Applications {
	s := view.Applications{At: m.now, Clusters: []view.ApplicationCluster{}, Applications: []view.Application{}}
	for _, c := range m.clusters {
		seen := view.ApplicationCluster{Name: c.Name, Hosts: c.hosts(), Lost: c.lost, Never: c.State == nil}
		s.Clusters = append(s.Clusters, seen)
	}
	for _, a := range m.all {
		s.Applications = append(s.Applications, m.viewOf(a))
	}
	return s
}

func (m *Machine) viewOf(a *application) view.Application {
	s := view.Application{
		ID: a.ID, Name: a.Name, User: a.User, State: m.state(a), Phase: string(a.Phase), Rank: a.Rank, Parts: []view.ApplicationPart{}, Tag: a.Tag,
		Walltime: a.Walltime, Moved: a.moved, Why: m.waitsFor(a), View: a.View, Acked: a.Acked, Launcher: a.launcher != nil, Away: a.away,
		Owes: a.unackedSince, At: a.At, By: a.By, Went: a.Went, Tries: a.Try, Failed: a.Failed,
	}
	if est := m.estimate(a); est < core.Forever {
		s.Estimate = est
	}
	for _, p := range a.Parts {
		s.Parts = append(s.Parts, view.ApplicationPart{Cluster: p.Name, Job: m.jobOf(a, p), Hosts: p.Hosts, Stand: a.progress(p), Nodes: p.Nodes})
	}
	return s
}
