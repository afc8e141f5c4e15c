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
	a.acknowledge(view)
	return nil
}

// acknowledge notes that a launcher has seen a view: only now is it shown the next.
func (a *application) acknowledge(view int64) {
	if a.owes != 0 && view == a.owed {
		a.owes, a.Acked, a.acked, a.look = 0, view, a.sent, true
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
	changed := a.Phase == subscribed || a.Walltime != l.Walltime
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
		a.told, a.Tries, a.Slow, a.moved = untold, nil, false, "the launcher changed the request"
	}
	a.look = true
	a.acknowledge(l.View)
	m.store(a)
	return nil
}

// flood lets one request a view through, and one more a second.
func (m *Machine) flood(s *session, view int64) *no {
	if a := s.app; a.owes != 0 && view == a.owed && s.answered != view {
		s.answered = view
		return nil
	}
	if m.now > s.unasked {
		s.unasked = m.now
		return nil
	}
	s.floods = append(slices.DeleteFunc(s.floods, func(t core.Time) bool { return t <= m.now-floodWindow }), m.now)
	return refusal(launcher.CodeFlood, "", "one request a view, and one more a second: wait for the next change")
}

// check says what is wrong with a request, and else what it asks for, by rising cluster.
func (m *Machine) check(a *application, l *launcher.Request) ([]mold.Part, *no) {
	switch {
	case a.Phase.started():
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
		case a.part(h.C) == nil || !m.visible(a, h.C) && !m.clusters[h.C].may(a.Filter):
			return nil, refusal(launcher.CodeCluster, "hosts", "application %d is not subscribed to cluster %s", a.ID, m.clusters[h.C].Name)
		case slices.ContainsFunc(parts, func(p mold.Part) bool { return p.Cluster == h.C }):
			return nil, refusal(launcher.CodeCluster, "hosts", "cluster %s is named twice", m.clusters[h.C].Name)
		case h.N < 1 || h.N > m.clusters[h.C].hosts():
			return nil, refusal(launcher.CodeHosts, "hosts", "1 to %d hosts can be had on cluster %s, not %d", m.clusters[h.C].hosts(), m.clusters[h.C].Name, h.N)
		}
		parts = append(parts, mold.Part{Cluster: h.C, Hosts: h.N})
	}
	slices.SortFunc(parts, func(p, q mold.Part) int { return cmp.Compare(p.Cluster, q.Cluster) })
	return parts, nil
}

// requested is the request in force, as the RMS is to place it: what comes up takes its hosts before its walltime begins.
func (m *Machine) requested(a *application) mold.Request {
	q := mold.Request{Walltime: min(a.Walltime+m.allowance(a), core.MaxTotal)}
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			q.Parts = append(q.Parts, mold.Part{Cluster: p.Cluster, Hosts: p.Hosts})
		}
	}
	return q
}

// prepareWithin is how long the clusters have to prepare a try.
const prepareWithin core.Time = 10

// allowance is how long a start may take on real clusters: its preparation and its coming up. Embedded ones take no time.
func (m *Machine) allowance(a *application) core.Time {
	for _, p := range a.Parts {
		if p.Hosts > 0 && !m.clusters[p.Cluster].Embedded {
			return prepareWithin + m.settings.BringUp
		}
	}
	return 0
}
