package apps

import (
	"maps"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// Cluster is a cluster on which applications may run. Messages name it by its index.
type Cluster struct {
	Name     string // unique
	Site     string // "" if there is none
	Speed    float64
	Attrs    map[string]string
	Embedded bool // the cluster itself makes the job of a part when the part starts, and launchers submit no jobs
}

// cluster is a cluster in its machine.
type cluster struct {
	Cluster
	State *mailbox.ClusterState         // the newest state; nil before the first
	Jobs  map[int64][]mailbox.Job       // of the state, by application
	Parts map[int64][]*mailbox.Standing // of the state, by application

	lost    bool                     // the cluster was not read for a minute
	trouble string                   // why its state cannot be used; "" if it can
	placed  bool                     // a pass has placed what the state shows
	changed bool                     // the orders for this cluster changed, or the end of an orphan is due
	ordered []*application           // applications with an order for this cluster, by rank
	orders  []mailbox.Order          // sent last; nil if there is none yet
	orphans map[core.JobID]core.Time // jobs that no application names, with the second since which that is so
}

// setState replaces the cluster's state.
func (c *cluster) setState(b *mailbox.ClusterState) {
	c.State, c.Jobs, c.Parts = b, map[int64][]mailbox.Job{}, map[int64][]*mailbox.Standing{}
	for _, j := range b.Jobs {
		c.Jobs[j.Application] = append(c.Jobs[j.Application], j)
	}
	for k := range b.Parts {
		s := &b.Parts[k]
		c.Parts[s.Application] = append(c.Parts[s.Application], s)
	}
}

// standing returns the state's entry for an application's part, or nil. On an embedded cluster the parameter `job` is not used.
func (c *cluster) standing(application int64, job core.JobID) *mailbox.Standing {
	for _, s := range c.Parts[application] {
		if s.Job == job || c.Embedded {
			return s
		}
	}
	return nil
}

// lists returns the job of an application's part, if the state shows the job and the job has not ended.
func (c *cluster) lists(application int64, job core.JobID) (mailbox.Job, bool) {
	for _, j := range c.Jobs[application] {
		if (j.ID == job || c.Embedded) && j.State != adapter.Done {
			return j, true
		}
	}
	return mailbox.Job{}, false
}

// made returns the newest job that an embedded cluster made for a user's application, or 0.
func (c *cluster) made(application int64, user string) (id core.JobID) {
	if !c.Embedded {
		return 0
	}
	for _, j := range c.Jobs[application] {
		if j.User == user {
			id = max(id, j.ID)
		}
	}
	return id
}

// info returns what launchers see of a cluster in addition to its occupation.
func (c *cluster) info() clusterInfo {
	if c.State == nil {
		return clusterInfo{}
	}
	b := c.State
	return clusterInfo{Hosts: b.Hosts, Cores: b.Cores, Memory: b.Memory, Scratch: b.Scratch, Arch: b.Arch}
}

// hosts returns how many hosts applications may request, or 0 before the first state.
func (c *cluster) hosts() int { return c.info().Hosts }

// mostHosts returns how many hosts a request may name. Before the first state there is no bound: after a restart launchers reconnect before
// every cluster is read, and their requests were valid before the restart.
func (c *cluster) mostHosts() int {
	if c.State == nil {
		return core.MaxNodes
	}
	return c.hosts()
}

// passes reports whether a filter accepts the cluster. Before the first state, only the cluster's name and attributes count.
func (c *cluster) passes(f launcher.Filter) bool {
	if len(f.Clusters) > 0 && !slices.Contains(f.Clusters, c.Name) {
		return false
	}
	for k, v := range f.Attrs {
		if has, ok := c.Attrs[k]; !ok || has != v {
			return false
		}
	}
	b := c.State
	if b == nil {
		return true
	}
	return b.Hosts >= f.MinHosts && b.Memory >= f.HostMem && b.Memory*int64(b.Hosts) >= f.TotalMem && b.Scratch >= f.Scratch &&
		(f.Arch == "" || f.Arch == b.Arch)
}

// listOf returns the clusters for which `shown` returns true, and the links between these clusters.
func (m *Machine) listOf(shown func(int) bool) *launcher.Clusters {
	out := &launcher.Clusters{All: []launcher.Cluster{}, Links: []launcher.Link{}}
	for i := range m.clusters {
		if shown(i) {
			out.All = append(out.All, m.describe(i))
			out.Links = append(out.Links, m.linksOf(i, func(j int) bool { return j < i && shown(j) })...)
		}
	}
	return out
}

// describe returns cluster i as launchers see it.
func (m *Machine) describe(i int) launcher.Cluster {
	c := m.clusters[i]
	f := c.info()
	return launcher.Cluster{C: i, Name: c.Name, Hosts: f.Hosts, Cores: f.Cores, Mem: f.Memory, Scratch: f.Scratch, Arch: f.Arch, Speed: c.Speed, Site: c.Site,
		Attrs: maps.Clone(c.Attrs)}
}

// linksOf returns the links between cluster i and the clusters for which `to` returns true.
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

// Link is the network link between two clusters or sites, or between the clusters of one site.
type Link struct {
	Between   [2]string
	Latency   time.Duration
	Bandwidth int // Mbit/s; 0 if unknown
}

// usual is the latency between two clusters that no link names.
const usual = 50 * time.Millisecond

// linkBetween returns the link between two clusters. A link that names clusters wins over one that names their sites.
func linkBetween(links []Link, a, b Cluster) Link {
	best, found := -1, Link{Latency: usual}
	for _, l := range links {
		rank := max(a.rankOf(l.Between[0])+b.rankOf(l.Between[1]), a.rankOf(l.Between[1])+b.rankOf(l.Between[0]))
		if rank > best {
			best, found = rank, l
		}
	}
	return found
}

// rankOf returns 1 if the end of a link names the cluster, 0 if it names the cluster's site, and a negative number otherwise.
func (c Cluster) rankOf(end string) int {
	switch end {
	case c.Name:
		return 1
	case c.Site:
		return 0
	}
	return -3
}
