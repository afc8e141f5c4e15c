package apps

import (
	"maps"

	"accordion/shim/wire/launcher"
)

// All are the clusters, by their indexes, and what lies between them.
type All struct {
	Clusters []*Known
	Links    []Link
}

// List is the clusters that are to be told, and what lies between them.
func (all All) List(told func(int) bool) *launcher.Clusters {
	out := &launcher.Clusters{All: []launcher.Cluster{}, Links: []launcher.Link{}}
	for i := range all.Clusters {
		if told(i) {
			out.All = append(out.All, all.Describe(i))
			out.Links = append(out.Links, all.LinksOf(i, func(j int) bool { return j < i && told(j) })...)
		}
	}
	return out
}

// Describe is what is told of a cluster.
func (all All) Describe(i int) launcher.Cluster {
	c := all.Clusters[i]
	f := c.Info()
	return launcher.Cluster{C: i, Name: c.Name, Hosts: f.Hosts, Cores: f.Cores, Mem: f.Memory, Scratch: f.Scratch, Arch: f.Arch, Speed: c.Speed, Site: c.Site,
		Attrs: maps.Clone(c.Attrs)}
}

// LinksOf is what lies between a cluster and others.
func (all All) LinksOf(i int, to func(int) bool) []launcher.Link {
	place := func(i int) Place { return Place{Name: all.Clusters[i].Name, Site: all.Clusters[i].Site} }
	var out []launcher.Link
	for j := range all.Clusters {
		if j != i && to(j) {
			l := Between(all.Links, place(j), place(i))
			out = append(out, launcher.Link{A: min(i, j), B: max(i, j), Latency: l.Latency.Microseconds(), Bandwidth: int64(l.Bandwidth)})
		}
	}
	return out
}
