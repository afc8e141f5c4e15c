package applications

import (
	"maps"

	"accordion/adapter/sight"
	"accordion/core"
	"accordion/core/delegate"
	"accordion/shim/wire/launcher"
)

func (c *cluster) info() sight.Info {
	if c.board == nil {
		return sight.Info{}
	}
	return sight.Info{Hosts: c.board.Hosts, Cores: c.board.Cores, Memory: c.board.Memory, Arch: c.board.Arch}
}

// hosts is how many there are for applications, as far as is known.
func (c *cluster) hosts() int { return c.info().Hosts }

// most is how many an application may ask for. After a restart launchers are back before each cluster is read: what they want then is what was
// right a moment ago, and waits for as many hosts.
func (c *cluster) most() int {
	if c.board == nil {
		return core.MaxNodes
	}
	return c.hosts()
}

// visible says whether a launcher is shown a cluster. What it was shown once stays.
func (m *Machine) visible(a *application, c int) bool {
	if c < len(a.sent) && a.sent[c].Known {
		return true
	}
	return m.clusters[c].placed && a.Part(c) != nil && m.clusters[c].may(a.Filter)
}

// list is the clusters that are to be told, and what lies between them.
func (m *Machine) list(told func(int) bool) *launcher.Clusters {
	out := &launcher.Clusters{All: []launcher.Cluster{}, Links: []launcher.Link{}}
	for i := range m.clusters {
		if told(i) {
			out.All = append(out.All, m.describe(i))
			out.Links = append(out.Links, m.linksOf(i, func(j int) bool { return j < i && told(j) })...)
		}
	}
	return out
}

func (m *Machine) describe(i int) launcher.Cluster {
	c, f := m.clusters[i], m.clusters[i].info()
	return launcher.Cluster{C: i, Name: c.Name, Hosts: f.Hosts, Cores: f.Cores, Mem: f.Memory, Arch: f.Arch, Speed: c.Speed, Site: c.Site,
		Attrs: maps.Clone(c.Attrs)}
}

// linksOf is what lies between a cluster and others.
func (m *Machine) linksOf(i int, to func(int) bool) []launcher.Link {
	var out []launcher.Link
	for j := range m.clusters {
		if j != i && to(j) {
			l := sight.Between(m.links, m.clusters[j].place(), m.clusters[i].place())
			out = append(out, launcher.Link{A: min(i, j), B: max(i, j), Latency: l.Latency, Bandwidth: l.Bandwidth})
		}
	}
	return out
}

func (c *cluster) place() sight.Place { return sight.Place{Name: c.Name, Site: c.Site} }

// flush shows launchers what is new to them. One that has not acknowledged its last view is shown nothing: it all comes with the next.
func (m *Machine) flush() {
	if m.unsettled {
		m.settle()
	}
	all := m.stirred.byRank()
	m.stirred.clear() // whatever keeps one of these from being told now stirs him when it ends
	for _, a := range all {
		if !a.look || !a.listens() || a.Phase != subscribed && a.Phase != waiting {
			continue
		}
		if a.Phase == waiting && m.rms.State(core.JobID(a.ID)) == delegate.RequestSent {
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
	if a.Phase != waiting {
		return core.Forever
	}
	return m.rms.Estimate(core.JobID(a.ID))
}

// change shows a launcher its newest view, if that says anything new.
func (m *Machine) change(a *application) {
	first := a.acked == nil
	est := m.estimate(a)
	tell := a.Phase == waiting && (a.told == untold || est > a.told || a.told == core.Forever && est < core.Forever)
	if !first && !tell && !m.news(a) {
		return
	}
	c := &launcher.Change{Now: m.now, Base: a.Acked, All: []launcher.ClusterChange{}}
	if first {
		c.Base = 0
	}
	next := make([]sight.Seen, len(m.clusters))
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
	if a.Phase == waiting {
		a.told = est
	}
	m.say(a.launcher, c)
	m.touch(a)
}

// news says whether a view may say anything that the last acknowledged one does not.
func (m *Machine) news(a *application) bool {
	for i := range m.clusters {
		if a.newest[i].Known && !a.acked[i].Same(a.newest[i], m.clusters[i].info()) && m.visible(a, i) {
			return true
		}
	}
	return false
}

// teller describes a cluster to an application's launcher, which knows those that it has seen. Of clusters that are new together the later one
// has the links.
func (m *Machine) teller(a *application, i int, seen []sight.Seen) sight.Teller {
	return sight.Teller{
		Info:     m.clusters[i].info(),
		Describe: func() launcher.Cluster { return m.describe(i) },
		Links: func() []launcher.Link {
			return m.linksOf(i, func(j int) bool { return seen[j].Known || seen[j].Told || j < i && m.visible(a, j) })
		},
	}
}
