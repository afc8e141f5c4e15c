package applications

import (
	"accordion/adapter/view"
	"accordion/core"
)

// Snapshot is what there is to be seen now.
func (m *Machine) Snapshot() view.Applications {
	s := view.Applications{At: m.now, Clusters: []view.ApplicationCluster{}, Applications: []view.Application{}}
	for _, c := range m.clusters {
		seen := view.ApplicationCluster{Name: c.Name, Hosts: c.hosts(), Lost: c.lost, Never: c.board == nil}
		s.Clusters = append(s.Clusters, seen)
	}
	for _, a := range m.all {
		s.Applications = append(s.Applications, m.seen(a))
	}
	return s
}

func (m *Machine) seen(a *application) view.Application {
	s := view.Application{
		ID: a.ID, Name: a.Name, User: a.User, State: m.state(a), Phase: string(a.Phase), Rank: a.Rank, Parts: []view.ApplicationPart{}, Tag: a.Tag,
		Walltime: a.Walltime, Moved: a.moved, Why: m.waitsFor(a), View: a.View, Acked: a.Acked, Launcher: a.launcher != nil, Away: a.away,
		Owes: a.owes, At: a.At, By: a.By, Went: a.Went, Tries: a.Try, Failed: a.Failed,
	}
	if est := m.estimate(a); est < core.Forever {
		s.Estimate = est
	}
	for _, p := range a.Parts {
		s.Parts = append(s.Parts, view.ApplicationPart{Cluster: p.Name, Job: m.jobOf(a, p), Hosts: p.Hosts, Stand: a.Stand(p), Nodes: p.Nodes})
	}
	return s
}

// waitsFor says why an application has not started.
func (m *Machine) waitsFor(a *application) string {
	switch {
	case a.Phase == fresh && a.pending != nil:
		return "its jobs are not seen yet"
	case a.Phase == fresh:
		return "it has not subscribed"
	case a.Phase == subscribed && !a.joined && !m.asleep:
		return "those before it, or others of its user, are as many as a pass considers"
	case a.Phase == subscribed:
		return "it has requested nothing"
	case a.Phase == ending:
		return a.Why
	case a.Phase != waiting:
		return ""
	case m.asleep:
		return "the sidecar began anew, and has not read all clusters yet"
	}
	for _, p := range a.Parts {
		switch c := m.clusters[p.Cluster]; {
		case p.Hosts == 0:
		case p.Lost > 0:
			return "its launcher is to submit job " + text(p.Job) + " on " + p.Name + " again"
		case p.Drop > 0:
			return "what the last try reserved on " + p.Name + " is not free yet"
		case c.board == nil || c.lost:
			return "cluster " + p.Name + " is not read"
		case p.Hosts > c.hosts():
			return "cluster " + p.Name + " has fewer hosts than it asks for"
		}
	}
	switch {
	case !a.joined:
		return "those before it, or others of its user, are as many as a pass considers"
	case a.RetryAt() > m.now:
		return "too many tries failed: the next is a minute after the last"
	case a.launcher == nil:
		return "its launcher is away"
	}
	return "its hosts are not free"
}
