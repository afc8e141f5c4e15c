package apps

import (
	"accordion/core"
	"accordion/core/profile"
	"accordion/shim/wire/launcher"
)

// Info is what is told of a cluster beside its occupation, and may change.
type Info struct {
	Hosts, Cores    int
	Memory, Scratch int64 // MiB
	Arch            string
}

// Seen is what a launcher knows of a cluster.
type Seen struct {
	Known  bool // its occupation, and what follows
	Told   bool // only Info, and its links: they came with the list of clusters
	Hosts  int
	Info   Info
	Points []profile.Point // its occupation; not changed once it is here

	Version int64 // of Points and Hosts: what has the same is the same; 0: not known
}

// Same says at once that nothing is new of a cluster; false: Learn finds out.
func (s *Seen) Same(newest Seen, now Info) bool {
	return s.Known && s.Version != 0 && s.Version == newest.Version && s.Info == now
}

// Teller says of a cluster what a launcher has to be told in words.
type Teller struct {
	Info     Info
	Describe func() launcher.Cluster
	Links    func() []launcher.Link // to the clusters that the launcher knows
}

// Learn makes the newest occupation of cluster c, and what its teller says, what is known of it, and says what of that is new; false: nothing.
func (s *Seen) Learn(c int, newest Seen, tell Teller, now core.Time) (launcher.ClusterChange, bool) {
	ch := launcher.ClusterChange{C: c, From: now, Steps: []int64{}}
	points := Clip(newest.Points, newest.Hosts, now)
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
	if from, to, steps, differ := Difference(Clip(s.Points, s.Hosts, now), points, now); differ || !s.Known {
		ch.Kind |= launcher.KindOccupation
		ch.From, ch.To, ch.Steps = from, to, steps
	}
	if ch.Kind == 0 {
		return ch, false
	}
	s.Known, s.Hosts, s.Points, s.Version = true, newest.Hosts, points, newest.Version
	return ch, true
}
