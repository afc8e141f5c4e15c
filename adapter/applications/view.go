package applications

import (
	"maps"

	"accordion/adapter/sight"
	"accordion/core"
	"accordion/core/delegate"
	"accordion/shim/wire/launcher"
)

// info is what is told of a cluster beside its occupation, and may change.
type info struct {
	hosts, cores int
	memory       int64
	arch         string
}

func (c *cluster) info() info {
	if c.board == nil {
		return info{}
	}
	return info{c.board.Hosts, c.board.Cores, c.board.Memory, c.board.Arch}
}

// hosts is how many an application may ask for.
func (c *cluster) hosts() int { return c.info().hosts }

// visible says whether a launcher is shown a cluster. What it was shown once stays.
func (m *Machine) visible(a *application, c int) bool {
	if c < len(a.sent) && a.sent[c].known {
		return true
	}
	return m.clusters[c].placed && a.part(c) != nil && m.clusters[c].may(a.Filter)
}

// list is the clusters that are to be told, and what lies between them.
func (m *Machine) list(told func(int) bool) *launcher.Clusters {
	out := &launcher.Clusters{All: []launcher.Cluster{}, Links: []launcher.Link{}}
	for i := range m.clusters {
		if told(i) {
			out.All = append(out.All, m.describe(i))
			out.Links = append(out.Links, m.linksOf(i, told)...)
		}
	}
	return out
}

func (m *Machine) describe(i int) launcher.Cluster {
	c, f := m.clusters[i], m.clusters[i].info()
	return launcher.Cluster{C: i, Name: c.Name, Hosts: f.hosts, Cores: f.cores, Mem: f.memory, Arch: f.arch, Speed: c.Speed, Site: c.Site,
		Attrs: maps.Clone(c.Attrs)}
}

// usual is the latency of a pair that no link names, in microseconds.
const usual = 50_000

// linksOf is what lies between a cluster and those before it.
func (m *Machine) linksOf(i int, told func(int) bool) []launcher.Link {
	var out []launcher.Link
	for j := range i {
		if told(j) {
			l := m.between(j, i)
			out = append(out, launcher.Link{A: j, B: i, Latency: l.Latency, Bandwidth: l.Bandwidth})
		}
	}
	return out
}

// between is the link of a pair: the one that names both clusters rather than their sites.
func (m *Machine) between(i, j int) Link {
	a, b := m.clusters[i], m.clusters[j]
	best, found := -1, Link{Latency: usual}
	is := func(c *cluster, name string) int {
		switch name {
		case c.Name:
			return 1
		case c.Site:
			return 0
		}
		return -3
	}
	for _, l := range m.links {
		worth := max(is(a, l.Between[0])+is(b, l.Between[1]), is(a, l.Between[1])+is(b, l.Between[0]))
		if worth > best {
			best, found = worth, l
		}
	}
	return found
}

// flush shows launchers what is new to them. One that has not acknowledged its last view is shown nothing: it all comes with the next.
func (m *Machine) flush() {
	if m.unsettled {
		m.settle()
	}
	for _, a := range m.all {
		if !a.look || a.launcher == nil || a.owes != 0 || a.newest == nil || a.Phase != subscribed && a.Phase != waiting {
			continue
		}
		if a.Phase == waiting && m.rms.State(core.JobID(a.ID)) == delegate.RequestSent {
			continue // the pass that places it will tell it its estimate, too
		}
		a.look = false
		m.change(a)
	}
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
	c := &launcher.Change{Now: m.now, Base: a.Acked, All: []launcher.ClusterChange{}}
	if first {
		c.Base = 0
	}
	next := make([]seen, len(m.clusters))
	copy(next, a.acked)
	for i := range m.clusters {
		if m.visible(a, i) && a.newest[i].known {
			if ch, news := m.changeOf(a, i, &next[i]); news {
				c.All = append(c.All, ch)
			}
		}
	}
	est := m.estimate(a)
	tell := a.Phase == waiting && (a.told == untold || est > a.told || a.told == core.Forever && est < core.Forever)
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
}

// changeOf is what is new of a cluster since a view, which it makes the newest.
func (m *Machine) changeOf(a *application, i int, base *seen) (launcher.ClusterChange, bool) {
	ch := launcher.ClusterChange{C: i, From: m.now, Steps: []int64{}}
	hosts := a.newest[i].hosts
	points := sight.Clip(a.newest[i].points, hosts, m.now)
	if f := m.clusters[i].info(); !base.known || base.info != f {
		d := m.describe(i)
		ch.Kind, ch.Info = ch.Kind|launcher.KindInfo, &d
		base.info = f
	}
	if !base.known {
		if links := m.linksOf(i, func(j int) bool { return m.visible(a, j) }); len(links) > 0 {
			ch.Kind, ch.Links = ch.Kind|launcher.KindLinks, links
		}
	}
	if from, to, steps, differ := sight.Difference(sight.Clip(base.points, base.hosts, m.now), points, m.now); differ || !base.known {
		ch.Kind |= launcher.KindOccupation
		ch.From, ch.To, ch.Steps = from, to, steps
	}
	if ch.Kind == 0 {
		return ch, false
	}
	base.known, base.hosts, base.points = true, hosts, points
	return ch, true
}
