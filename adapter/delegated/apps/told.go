package apps

import (
	"maps"

	"accordion/shim/wire/launcher"
)

// listOf returns the clusters to be told to a launcher, and the links between them.
func (m *Machine) listOf(told func(int) bool) *launcher.Clusters {
	out := &launcher.Clusters{All: []launcher.Cluster{}, Links: []launcher.Link{}}
	for i := range m.clusters {
		if told(i) {
			out.All = append(out.All, m.describe(i))
			out.Links = append(out.Links, m.linksOf(i, func(j int) bool { return j < i && told(j) })...)
		}
	}
	return out
}

// describe returns a cluster as launchers are told of it.
func (m *Machine) describe(i int) launcher.Cluster {
	c := m.clusters[i]
	f := c.Info()
	return launcher.Cluster{C: i, Name: c.Name, Hosts: f.Hosts, Cores: f.Cores, Mem: f.Memory, Scratch: f.Scratch, Arch: f.Arch, Speed: c.Speed, Site: c.Site,
		Attrs: maps.Clone(c.Attrs)}
}

// linksOf returns the links between cluster i and others.
func (m *Machine) linksOf(i int, to func(int) bool) []launcher.Link {
	var out []launcher.Link
	for j := range m.clusters {
		if j != i && to(j) {
			l := linkBetween(m.links, m.clusters[j].Cluster, m.clusters[i].Cluster)
			out = append(out, launcher.Link{A: min(i, j), B: max(i, j), Latency: l.Latency.Microseconds(), Bandwidth: int64(l.Bandwidth)})
		}
	}
	return out
}
