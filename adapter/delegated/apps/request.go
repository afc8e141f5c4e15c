package apps

import (
	"accordion/core"
	"accordion/core/moldable"
	"accordion/shim/wire/launcher"
)

// ack says that a view was seen, and that the request in force stands.
func (m *Machine) ack(a *application, view int64) *Refusal {
	if view < 1 || view > a.View {
		return Refuse(launcher.CodeView, "view", "view %d was never shown; the last is %d", view, a.View)
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
func (m *Machine) request(s *session, l *launcher.Request) *Refusal {
	a := s.app
	if wrong := m.flood(s, l.View); wrong != nil {
		return wrong
	}
	parts, wrong := a.Check(l, m.clusters, func(c int) bool { return m.visible(a, c) })
	if wrong != nil {
		return wrong
	}
	if a.Phase == Preparing { // it changed its mind, and has not been told of a start
		m.retreat(a, "its launcher changed the request", false)
	}
	first := a.Phase == Subscribed
	changed := a.Wants(l.Tag, moldable.Request{Parts: parts, Walltime: l.Walltime}) || first
	a.Phase = Waiting
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
func (m *Machine) flood(s *session, view int64) *Refusal {
	if a := s.app; a.owes != 0 && view == a.owed && s.answered != view {
		s.answered = view
		return nil
	}
	if s.floods.Allow(m.now) {
		return nil
	}
	return Refuse(launcher.CodeFlood, "", "one request a view, and one more a second: wait for the next change")
}

// extra is so many seconds where an application's request is of a real cluster. On embedded ones a part runs as soon as it starts.
func (m *Machine) extra(a *application, seconds core.Time) core.Time {
	if a.Each(func(p *Part) bool { return m.clusters[p.Cluster].Embedded }) {
		return 0
	}
	return seconds
}

// margin is by how much the limits of an application's batch jobs are longer than its walltime.
func (m *Machine) margin(a *application) core.Time {
	return m.extra(a, m.settings.BringUp+m.settings.Guard)
}
