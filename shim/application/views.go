package application

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/profile"
	"accordion/shim/wire/launcher"
)

// views keeps the newest view whole, of which messages say only what differs.
type views struct {
	whole    int64 // the view that is here; 0: none
	clusters []Seen
	links    []launcher.Link
}

// know takes what is said of the clusters before the first view.
func (v *views) know(all *launcher.Clusters) {
	v.links = all.Links
	for _, c := range all.All {
		v.at(c.C).Cluster = c
	}
}

// at is the cluster of a number, made where it is new.
func (v *views) at(c int) *Seen {
	i, found := slices.BinarySearchFunc(v.clusters, c, func(s Seen, c int) int { return cmp.Compare(s.C, c) })
	if !found {
		v.clusters = slices.Insert(v.clusters, i, Seen{Cluster: launcher.Cluster{C: c, Speed: 1}})
	}
	return &v.clusters[i]
}

// apply takes a change. After an error nothing is known.
func (v *views) apply(c *launcher.Change) error {
	if c.Base != 0 && c.Base != v.whole {
		return fmt.Errorf("it differs from view %d, and the last here is %d", c.Base, v.whole)
	}
	if c.Base == 0 {
		for i := range v.clusters {
			v.clusters[i].Points = nil
		}
	}
	for _, d := range c.All {
		seen := v.at(d.C)
		if d.Kind&launcher.KindInfo != 0 && d.Info != nil {
			seen.Cluster = *d.Info
			seen.C = d.C
		}
		if d.Kind&launcher.KindLinks != 0 {
			v.relink(d.Links)
		}
		if d.Kind&launcher.KindOccupation == 0 {
			continue
		}
		points, err := replaced(seen.Points, d.From, d.To, d.Steps)
		if err != nil {
			return fmt.Errorf("cluster %d: %w", d.C, err)
		}
		seen.Points = points
	}
	v.whole = c.View
	return nil
}

func (v *views) relink(links []launcher.Link) {
	v.links = slices.Clone(v.links)
	for _, l := range links {
		same := func(o launcher.Link) bool { return o.A == l.A && o.B == l.B || o.A == l.B && o.B == l.A }
		if i := slices.IndexFunc(v.links, same); i >= 0 {
			v.links[i] = l
		} else {
			v.links = append(v.links, l)
		}
	}
}

// sight is the view as it is after a change. What it holds is never written to again.
func (v *views) sight(c *launcher.Change) Sight {
	return Sight{View: c.View, Now: c.Now, Estimate: c.Est, Clusters: slices.Clone(v.clusters), Links: v.links}
}

// replaced is an occupation in which [from, to) is as steps say; to 0 stands for ever.
func replaced(old []profile.Point, from, to core.Time, steps []int64) ([]profile.Point, error) {
	if len(steps)%2 != 0 {
		return nil, errors.New("a profile is pairs of an instant and a number of hosts")
	}
	var points []profile.Point
	put := func(at core.Time, used int) {
		if n := len(points); n > 0 && points[n-1].Used == used {
			return
		}
		points = append(points, profile.Point{At: at, Used: used})
	}
	after := 0 // what holds at the end of the range
	for _, p := range old {
		if p.At < from {
			put(p.At, p.Used)
		}
		if p.At <= to {
			after = p.Used
		}
	}
	last := from
	for i := 0; i < len(steps); i += 2 {
		at, used := steps[i], steps[i+1]
		if at < last || to != 0 && at >= to || used < 0 || used > core.MaxNodes {
			return nil, fmt.Errorf("%d hosts from %d on do not belong into [%d, %d)", used, at, from, to)
		}
		put(at, int(used))
		last = at
	}
	if to == 0 {
		return points, nil
	}
	put(to, after)
	for _, p := range old {
		if p.At > to {
			put(p.At, p.Used)
		}
	}
	return points, nil
}
