package apps

import (
	"fmt"
	"maps"

	"accordion/core"
	"accordion/shim/wire/launcher"
)

// at goes on to a second, and notes what is due then. One that is past counts as the latest that was.
func (m *Machine) at(now core.Time) {
	if now > m.now {
		m.now = now
		for a := range m.undated { // it may have passed what was not in the agenda yet
			m.touch(a)
		}
		m.plan()
		for _, c := range m.clusters {
			c.changed = c.changed || len(c.strays) > 0
		}
	}
	for e := m.agenda.Take(m.now); e != nil; e = m.agenda.Take(m.now) {
		m.touch(e.Of)
	}
}

// plan enters into the agenda what is not there.
func (m *Machine) plan() {
	for a := range m.undated {
		m.agenda.Put(&a.entry, a.deadline(m.now, m.begun, m.settings))
	}
	m.undated.clear()
}

// deadlines does what the passing of time wants, of applications of which something is due or may have changed.
func (m *Machine) deadlines() {
	m.silence()
	m.unsettled = true
	maps.Copy(m.awaited, m.pending)
	all := m.awaited.byRank()
	m.awaited.clear()
	for _, a := range all {
		m.retry(a)
		if reason := a.silent(m.now, m.settings); reason != "" {
			in := core.Time(0)
			if a.Phase.Started() {
				in = endIn
			}
			m.end(a, launcher.WhySilent, reason, in)
		}
		switch {
		case a.Phase == Preparing && m.now >= a.Since+prepareWithin:
			m.late(a, func(p *Part) bool { return p.Prepared }, fmt.Sprintf("not prepared within %d s", prepareWithin))
		case a.Phase == Starting && m.now >= a.upBy(m.begun, m.settings):
			m.late(a, m.up(a), fmt.Sprintf("not up within %d s", m.settings.BringUp))
		case a.overrun(m.now):
			m.end(a, launcher.WhyOverrun, "its walltime is over", endIn)
		}
		for _, p := range a.Parts {
			m.pay(a, p, nil)
		}
		m.advance(a)
	}
}

// late gives up a try whose parts did not come so far in time.
func (m *Machine) late(a *application, far func(*Part) bool, why string) {
	for _, p := range a.Parts {
		if p.Hosts > 0 && !far(p) {
			m.refused(a, p, why)
			return
		}
	}
}
