package applications

import (
	kept "accordion/adapter/application"
	"accordion/adapter/view"
	"accordion/core"
)

// Snapshot is what there is to be seen now.
func (m *Machine) Snapshot() view.Applications {
	s := view.Applications{At: m.now, Clusters: []view.ApplicationCluster{}, Applications: []view.Application{}}
	for _, c := range m.clusters {
		seen := view.ApplicationCluster{Name: c.Name, Hosts: c.Hosts(), Lost: c.lost, Never: c.Board == nil}
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
	return a.WaitsFor(m.now, kept.Outlook{
		Clusters: m.known.Clusters, Lost: func(i int) bool { return m.clusters[i].lost }, Asleep: m.asleep,
		Joined: a.joined, Naming: a.pending != nil, Attached: a.launcher != nil,
	})
}
