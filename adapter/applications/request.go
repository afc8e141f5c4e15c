package applications

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/mold"
	"accordion/shim/wire/launcher"
)

// ack says that a view was seen, and that the request in force stands.
func (m *Machine) ack(a *application, view int64) *no {
	if view < 1 || view > a.View {
		return refusal(launcher.CodeView, "view", "view %d was never shown; the last is %d", view, a.View)
	}
	m.acknowledge(a, view)
	return nil
}

// acknowledge notes that a launcher has seen a view: only now is it shown the next.
func (m *Machine) acknowledge(a *application, view int64) {
	if a.owes != 0 && view == a.owed {
		a.owes, a.Acked, a.acked = 0, view, a.sent
		m.stir(a)
	}
}

// request takes what a launcher wants from now on.
func (m *Machine) request(s *session, l *launcher.Request) *no {
	a := s.app
	if wrong := m.flood(s, l.View); wrong != nil {
		return wrong
	}
	parts, wrong := m.check(a, l)
	if wrong != nil {
		return wrong
	}
	if a.Phase == preparing { // it changed its mind, and has not been told of a start
		m.retreat(a, "its launcher changed the request", false)
	}
	first := a.Phase == subscribed
	changed := first || a.Walltime != l.Walltime
	for _, p := range a.Parts {
		n := 0
		if i := slices.IndexFunc(parts, func(q mold.Part) bool { return q.Cluster == p.Cluster }); i >= 0 {
			n = parts[i].Hosts
		}
		changed = changed || p.Hosts != n
		p.Hosts = n
	}
	a.Phase, a.Tag, a.Walltime = waiting, l.Tag, l.Walltime
	if changed {
		a.told, a.moved = untold, ""
	}
	if changed && !first {
		a.moved = "the launcher changed the request"
	}
	m.stir(a)
	m.acknowledge(a, l.View)
	m.store(a)
	return nil
}

// flood lets one request a view through, and one more a second.
func (m *Machine) flood(s *session, view int64) *no {
	if a := s.app; a.owes != 0 && view == a.owed && s.answered != view {
		s.answered = view
		return nil
	}
	if s.floods.Allow(m.now) {
		return nil
	}
	return refusal(launcher.CodeFlood, "", "one request a view, and one more a second: wait for the next change")
}

// check says what is wrong with a request, and else what it asks for, by rising cluster.
func (m *Machine) check(a *application, l *launcher.Request) ([]mold.Part, *no) {
	switch {
	case a.Phase.Started():
		return nil, refusal(launcher.CodeState, "t", "application %d has started, with the request of tag %d", a.ID, a.Tag)
	case a.Phase == ending:
		return nil, refusal(launcher.CodeState, "t", "application %d is over, or being ended", a.ID)
	case a.Phase == fresh:
		return nil, refusal(launcher.CodeState, "t", "application %d has not subscribed", a.ID)
	case l.View < 1 || l.View > a.View:
		return nil, refusal(launcher.CodeView, "view", "view %d was never shown; the last is %d", l.View, a.View)
	case l.Tag < 0:
		return nil, refusal(launcher.CodeView, "tag", "a tag is 0 or more, not %d", l.Tag)
	case len(l.Hosts) == 0:
		return nil, refusal(launcher.CodeHosts, "hosts", "a request needs hosts on at least one cluster")
	}
	most := core.MaxTotal
	if a.Most > 0 {
		most = a.Most
	}
	if l.Walltime < 1 || l.Walltime > most {
		return nil, refusal(launcher.CodeWalltime, "walltime", "a walltime is 1 to %d seconds here, not %d", most, l.Walltime)
	}
	var parts []mold.Part
	for _, h := range l.Hosts {
		switch {
		case h.C < 0 || h.C >= len(m.clusters):
			return nil, refusal(launcher.CodeCluster, "hosts", "there is no cluster %d", h.C)
		case a.Part(h.C) == nil || !m.visible(a, h.C) && !m.clusters[h.C].may(a.Filter):
			return nil, refusal(launcher.CodeCluster, "hosts", "application %d is not subscribed to cluster %s", a.ID, m.clusters[h.C].Name)
		case slices.ContainsFunc(parts, func(p mold.Part) bool { return p.Cluster == h.C }):
			return nil, refusal(launcher.CodeCluster, "hosts", "cluster %s is named twice", m.clusters[h.C].Name)
		case h.N < 1 || h.N > m.clusters[h.C].most():
			return nil, refusal(launcher.CodeHosts, "hosts", "1 to %d hosts can be had on cluster %s, not %d", m.clusters[h.C].most(), m.clusters[h.C].Name, h.N)
		}
		parts = append(parts, mold.Part{Cluster: h.C, Hosts: h.N})
	}
	slices.SortFunc(parts, func(p, q mold.Part) int { return cmp.Compare(p.Cluster, q.Cluster) })
	return parts, nil
}

// prepareWithin is how long the clusters have to prepare a try.
const prepareWithin core.Time = 10

// extra is so many seconds where an application's request is of a real cluster. On embedded ones a part runs as soon as it starts.
func (m *Machine) extra(a *application, seconds core.Time) core.Time {
	if a.Each(func(p *piece) bool { return m.clusters[p.Cluster].Embedded }) {
		return 0
	}
	return seconds
}

// margin is by how much the limits of an application's batch jobs are longer than its walltime.
func (m *Machine) margin(a *application) core.Time {
	return m.extra(a, m.settings.BringUp+m.settings.Guard)
}
