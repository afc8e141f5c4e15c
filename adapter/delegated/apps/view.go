package apps

import (
	"accordion/core"
	"accordion/core/delegated"
	"accordion/shim/wire/launcher"
)

// visible says whether a launcher is shown a cluster. What it was shown once stays.
func (m *Machine) visible(a *application, c int) bool {
	if c < len(a.sent) && a.sent[c].Known {
		return true
	}
	return m.clusters[c].placed && a.Part(c) != nil && m.clusters[c].Passes(a.Filter)
}

// flush shows launchers what is new to them. One that has not acknowledged its last view is shown nothing: it all comes with the next.
func (m *Machine) flush() {
	if m.unsettled {
		m.settle()
	}
	all := m.stirred.byRank()
	m.stirred.clear() // whatever keeps one of these from being told now stirs him when it ends
	for _, a := range all {
		if !a.look || !a.listens() || a.Phase != Subscribed && a.Phase != Waiting {
			continue
		}
		if a.Phase == Waiting && m.rms.State(core.JobID(a.ID)) == delegated.RequestSent {
			continue // the pass that places it will tell it its estimate, too
		}
		if !m.sees(a) {
			m.stirred[a] = true // until it does
			continue
		}
		a.look = false
		m.change(a)
	}
}

// listens says whether an application's launcher may be shown a view.
func (a *application) listens() bool { return a.launcher != nil && a.owes == 0 && a.newest != nil }

// sees says whether there is anything to show to an application. Right after a start there is not, before its clusters are read and placed: a launcher
// that is shown nothing at all gives up, for it fits nowhere.
func (m *Machine) sees(a *application) bool {
	for i := range m.clusters {
		if a.newest[i].Known && m.visible(a, i) {
			return true
		}
	}
	return false
}

// estimate is when an application's request would start; core.Forever: never, or there is none.
func (m *Machine) estimate(a *application) core.Time {
	if a.Phase != Waiting {
		return core.Forever
	}
	return m.rms.Estimate(core.JobID(a.ID))
}

// change shows a launcher its newest view, if that says anything new.
func (m *Machine) change(a *application) {
	first := a.acked == nil
	est := m.estimate(a)
	tell := a.Phase == Waiting && (a.told == untold || est > a.told || a.told == core.Forever && est < core.Forever)
	if !first && !tell && !m.news(a) {
		return
	}
	c := &launcher.Change{Now: m.now, Base: a.Acked, All: []launcher.ClusterChange{}}
	if first {
		c.Base = 0
	}
	next := make([]Seen, len(m.clusters))
	if copy(next, a.acked); first {
		copy(next, a.listed)
	}
	for i := range m.clusters {
		if m.visible(a, i) && a.newest[i].Known {
			if ch, news := next[i].Learn(i, a.newest[i], m.teller(a, i, next), m.now); news {
				c.All = append(c.All, ch)
			}
		}
	}
	if !first && !tell && len(c.All) == 0 {
		return
	}
	if est < core.Forever {
		c.Est = est
	}
	a.View++
	c.View = a.View
	a.sent, a.owes, a.owed = next, m.now, a.View
	a.told = untold
	if a.Phase == Waiting {
		a.told = est
	}
	m.say(a.launcher, c)
	m.touch(a)
}

// news says whether a view may say anything that the last acknowledged one does not.
func (m *Machine) news(a *application) bool {
	for i := range m.clusters {
		if a.newest[i].Known && !a.acked[i].Same(a.newest[i], m.clusters[i].Info()) && m.visible(a, i) {
			return true
		}
	}
	return false
}

// teller describes a cluster to an application's launcher, which knows those that it has seen. Of clusters that are new together the later one
// has the links.
func (m *Machine) teller(a *application, i int, seen []Seen) Teller {
	return Teller{
		Info:     m.clusters[i].Info(),
		Describe: func() launcher.Cluster { return m.describe(i) },
		Links: func() []launcher.Link {
			return m.linksOf(i, func(j int) bool { return seen[j].Known || seen[j].Told || j < i && m.visible(a, j) })
		},
	}
}
