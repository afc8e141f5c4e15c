package apps

import (
	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/profile"
	"accordion/shim/wire/launcher"
)

// visible reports whether the launcher of an application may see cluster c. A cluster that was in a view stays visible.
func (m *Machine) visible(a *application, c int) bool {
	if c < len(a.sent) && a.sent[c].Known {
		return true
	}
	return m.clusters[c].placed && a.Part(c) != nil && m.clusters[c].passes(a.Filter)
}

// flush sends launchers their next views. A launcher that has not acknowledged its last view does not get another one yet. Its next view
// will have all changes.
func (m *Machine) flush() {
	if m.unsettled {
		m.updateRMS()
	}
	all := m.viewsDue.byRank()
	m.viewsDue.clear() // an application whose launcher cannot receive a view now is added again when it can
	for _, a := range all {
		if !a.viewDue || !a.listens() || a.Phase != Subscribed && a.Phase != Waiting {
			continue
		}
		if a.Phase == Waiting && m.rms.State(core.JobID(a.ID)) == delegated.RequestSent {
			continue // after the next pass, the view will also have the estimate
		}
		if !m.sees(a) {
			m.viewsDue[a] = true // try again until there is something to show
			continue
		}
		a.viewDue = false
		m.change(a)
	}
}

// listens reports whether the application's launcher may receive a view now.
func (a *application) listens() bool {
	return a.launcher != nil && a.unackedSince == 0 && a.newest != nil
}

// sees reports whether there is a cluster to show to an application's launcher. After a restart there is none until the clusters have
// been read, and a pass has computed their occupation. An empty view must not be sent, because the launcher would give up.
func (m *Machine) sees(a *application) bool {
	for i := range m.clusters {
		if a.newest[i].Known && m.visible(a, i) {
			return true
		}
	}
	return false
}

// estimate returns the estimated start of an application, or core.Forever if it has no request, or its request cannot start.
func (m *Machine) estimate(a *application) core.Time {
	if a.Phase != Waiting {
		return core.Forever
	}
	return m.rms.Estimate(core.JobID(a.ID))
}

// change sends a launcher its newest view, if the view differs from the last acknowledged one.
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

// news reports whether a view may differ from the last acknowledged one.
func (m *Machine) news(a *application) bool {
	for i := range m.clusters {
		if a.newest[i].Known && !a.acked[i].Same(a.newest[i], m.clusters[i].info()) && m.visible(a, i) {
			return true
		}
	}
	return false
}

// teller returns the describer of cluster i for a launcher to which the clusters in `seen` are known. If two clusters are new in the same
// view, the description of the second one has the link between them.
func (m *Machine) teller(a *application, i int, seen []clusterView) describer {
	return describer{
		Info:     m.clusters[i].info(),
		Describe: func() launcher.Cluster { return m.describe(i) },
		Links: func() []launcher.Link {
			return m.linksOf(i, func(j int) bool { return seen[j].Known || seen[j].Told || j < i && m.visible(a, j) })
		},
	}
}

// clusterInfo has the properties of a cluster that launchers see and that may change, except the occupation.
type clusterInfo struct {
	Hosts, Cores    int
	Memory, Scratch int64 // MiB
	Arch            string
}

// clusterView is what a launcher knows of a cluster.
type clusterView struct {
	Known  bool // the launcher knows the occupation, and the fields below are set
	Told   bool // the launcher knows only Info and the links, from the list of clusters
	Hosts  int
	Info   clusterInfo
	Points []profile.Point // its occupation; never changed in place

	Version int64 // version of Points and Hosts: if two versions are equal, the values are equal; 0 if not known
}

// Same reports whether the versions show that nothing has changed. If it returns false, something may have changed, and Learn has to
// compare the points.
func (s *clusterView) Same(newest clusterView, now clusterInfo) bool {
	return s.Known && s.Version != 0 && s.Version == newest.Version && s.Info == now
}

// describer describes a cluster to a launcher.
type describer struct {
	Info     clusterInfo
	Describe func() launcher.Cluster
	Links    func() []launcher.Link // returns the links to clusters that the launcher knows
}

// Learn updates the view of cluster c, and returns the changes for a message. It returns false if nothing has changed.
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

// clip returns an occupation from the second `now` on. No point has more than `hosts` used hosts, and adjacent points have different
// numbers.
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

// difference returns the interval [`from`, `to`) in which two clipped occupations differ. If the interval has no end, `to` is 0. The
// result `steps` is the new occupation in that interval, in the form t0,n0,t1,n1,… that messages use. It is never longer than the whole
// new occupation.
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
