package apps

import (
	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/profile"
	"accordion/shim/wire/launcher"
)

// visible says whether a launcher is shown a cluster. What it was shown once stays.
func (m *Machine) visible(a *application, c int) bool {
	if c < len(a.sent) && a.sent[c].Known {
		return true
	}
	return m.clusters[c].placed && a.Part(c) != nil && m.clusters[c].passes(a.Filter)
}

// flush shows launchers what is new to them. One that has not acknowledged its last view is shown nothing: it all comes with the next.
func (m *Machine) flush() {
	if m.unsettled {
		m.updateRMS()
	}
	all := m.viewsDue.byRank()
	m.viewsDue.clear() // whatever keeps one of these from being told now stirs him when it ends
	for _, a := range all {
		if !a.viewDue || !a.listens() || a.Phase != Subscribed && a.Phase != Waiting {
			continue
		}
		if a.Phase == Waiting && m.rms.State(core.JobID(a.ID)) == delegated.RequestSent {
			continue // the pass that places it will tell it its estimate, too
		}
		if !m.sees(a) {
			m.viewsDue[a] = true // until it does
			continue
		}
		a.viewDue = false
		m.change(a)
	}
}

// listens says whether an application's launcher may be shown a view.
func (a *application) listens() bool {
	return a.launcher != nil && a.unackedSince == 0 && a.newest != nil
}

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
	tell := a.Phase == Waiting && (a.sentEstimate == noEstimate || est > a.sentEstimate || a.sentEstimate == core.Forever && est < core.Forever)
	if !first && !tell && !m.news(a) {
		return
	}
	c := &launcher.Change{Now: m.now, Base: a.Acked, All: []launcher.ClusterChange{}}
	if first {
		c.Base = 0
	}
	next := make([]clusterView, len(m.clusters))
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
	a.sent, a.unackedSince, a.unackedView = next, m.now, a.View
	a.sentEstimate = noEstimate
	if a.Phase == Waiting {
		a.sentEstimate = est
	}
	m.send(a.launcher, c)
	m.changed(a)
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
func (m *Machine) teller(a *application, i int, seen []clusterView) describer {
	return describer{
		Info:     m.clusters[i].info(),
		Describe: func() launcher.Cluster { return m.describe(i) },
		Links: func() []launcher.Link {
			return m.linksOf(i, func(j int) bool { return seen[j].Known || seen[j].Told || j < i && m.visible(a, j) })
		},
	}
}

// Info is what is told of a cluster beside its occupation, and may change.
type clusterInfo struct {
	Hosts, Cores    int
	Memory, Scratch int64 // MiB
	Arch            string
}

// Seen is what a launcher knows of a cluster.
type clusterView struct {
	Known  bool // its occupation, and what follows
	Told   bool // only Info, and its links: they came with the list of clusters
	Hosts  int
	Info   clusterInfo
	Points []profile.Point // its occupation; not changed once it is here

	Version int64 // of Points and Hosts: what has the same is the same; 0: not known
}

// Same says at once that nothing is new of a cluster; false: Learn finds out.
func (s *clusterView) Same(newest clusterView, now clusterInfo) bool {
	return s.Known && s.Version != 0 && s.Version == newest.Version && s.Info == now
}

// Teller says of a cluster what a launcher has to be told in words.
type describer struct {
	Info     clusterInfo
	Describe func() launcher.Cluster
	Links    func() []launcher.Link // to the clusters that the launcher knows
}

// Learn makes the newest occupation of cluster c, and what its teller says, what is known of it, and says what of that is new; false: nothing.
func (s *clusterView) Learn(c int, newest clusterView, tell describer, now core.Time) (launcher.ClusterChange, bool) {
	ch := launcher.ClusterChange{C: c, From: now, Steps: []int64{}}
	points := clip(newest.Points, newest.Hosts, now)
	if !s.Known && !s.Told || s.Info != tell.Info {
		d := tell.Describe()
		ch.Kind, ch.Info = ch.Kind|launcher.KindInfo, &d
		s.Info = tell.Info
	}
	if !s.Known && !s.Told {
		if links := tell.Links(); len(links) > 0 {
			ch.Kind, ch.Links = ch.Kind|launcher.KindLinks, links
		}
	}
	if from, to, steps, differ := difference(clip(s.Points, s.Hosts, now), points, now); differ || !s.Known {
		ch.Kind |= launcher.KindOccupation
		ch.From, ch.To, ch.Steps = from, to, steps
	}
	if ch.Kind == 0 {
		return ch, false
	}
	s.Known, s.Hosts, s.Points, s.Version = true, newest.Hosts, points, newest.Version
	return ch, true
}

// Clip returns an occupation from the second now on, with at most hosts in each point. Points next to each other differ.
func clip(points []profile.Point, hosts int, now core.Time) []profile.Point {
	for len(points) > 1 && points[1].At <= now {
		points = points[1:]
	}
	out := make([]profile.Point, 0, len(points))
	for _, p := range points {
		p.At, p.Used = max(p.At, now), max(0, min(p.Used, hosts))
		if len(out) == 0 || out[len(out)-1].Used != p.Used {
			out = append(out, p)
		}
	}
	return out
}

// Difference is the stretch [from, to) on which two clipped occupations from a second on differ, and what holds there now, as a message lists
// it: t0,n0,t1,n1,…; to 0: for ever. It is never longer than the whole.
func difference(old, fresh []profile.Point, now core.Time) (from, to core.Time, steps []int64, differ bool) {
	head := 0
	for head < len(old) && head < len(fresh) && old[head] == fresh[head] {
		head++
	}
	if head == len(old) && head == len(fresh) {
		return now, 0, []int64{}, false
	}
	tail := 0
	for tail < min(len(old), len(fresh))-head && old[len(old)-1-tail] == fresh[len(fresh)-1-tail] {
		tail++
	}
	from = now
	steps = make([]int64, 0, 2*(len(fresh)-head-tail)+2)
	if head > 0 {
		from = core.Forever
		if head < len(old) {
			from = old[head].At
		}
		if head < len(fresh) {
			from = min(from, fresh[head].At)
		}
		if head == len(fresh) || fresh[head].At != from {
			steps = append(steps, from, int64(fresh[head-1].Used))
		}
	}
	for _, p := range fresh[head : len(fresh)-tail] {
		steps = append(steps, p.At, int64(p.Used))
	}
	if tail > 0 {
		to = fresh[len(fresh)-tail].At
	}
	return from, to, steps, true
}
