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

// Cluster is a cluster on which applications may run. Messages identify a cluster by its index.
type Cluster struct {
	Name     string // unique
	Site     string // name of the site; "" if there is none
	Speed    float64
	Attrs    map[string]string
	Embedded bool // the cluster itself makes the job of a part when the part starts, so that launchers do not submit jobs there
}

// cluster is a Cluster with what the machine knows about it.
type cluster struct {
	Cluster
	State *mailbox.ClusterState         // the newest state; nil before the first
	Jobs  map[int64][]mailbox.Job       // jobs in the state, by application
	Parts map[int64][]*mailbox.Standing // parts in the state, by application

	lost    bool                     // the cluster has not been read for a minute
	trouble string                   // why the state cannot be used; "" if it can
	placed  bool                     // a pass has computed the cluster's occupation from a state
	changed bool                     // the orders for this cluster changed, or the end of an orphan is due
	ordered []*application           // applications with an order for this cluster, by rank
	orders  []mailbox.Order          // the orders that were sent last; nil if none were sent yet
	orphans map[core.JobID]core.Time // jobs that no application names, each with the second at which it was first found
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

// standing returns the state's entry for the part of an application, or nil. For an embedded cluster, `job` is ignored.
func (c *cluster) standing(application int64, job core.JobID) *mailbox.Standing {
	for _, s := range c.Parts[application] {
		if s.Job == job || c.Embedded {
			return s
		}
	}
	return nil
}

// lists returns the job of an application's part. It returns false if the state does not show the job, or the job has ended. For an
// embedded cluster, `job` is ignored.
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

// info returns what launchers see of a cluster, except its occupation.
func (c *cluster) info() clusterInfo {
	if c.State == nil {
		return clusterInfo{}
	}
	b := c.State
	return clusterInfo{Hosts: b.Hosts, Cores: b.Cores, Memory: b.Memory, Scratch: b.Scratch, Arch: b.Arch}
}

// hosts returns how many hosts of the cluster applications may request. It returns 0 before the first state.
func (c *cluster) hosts() int { return c.info().Hosts }

// mostHosts returns the largest number of hosts that a request may have on the cluster. Before the first state it returns the largest
// possible number. After a restart, launchers reconnect before all clusters are read, and their requests were valid before the restart.
func (c *cluster) mostHosts() int {
	if c.State == nil {
		return core.MaxNodes
	}
	return c.hosts()
}

// passes reports whether the filter accepts the cluster. Before the first state, it checks only the cluster's name and attributes.
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

// listOf returns a message with the clusters for which `shown` returns true, and the links between these clusters.
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

// describe returns the description of cluster i for launchers.
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

// usual is the latency between two clusters for which there is no link.
const usual = 50 * time.Millisecond

// linkBetween returns the link between two clusters. A link that names clusters takes precedence over a link that names their sites.
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

// rankOf returns 1 if one end of a link names the cluster, 0 if it names the cluster's site, and a negative number otherwise.
func (c Cluster) rankOf(end string) int {
	switch end {
	case c.Name:
		return 1
	case c.Site:
		return 0
	}
	return -3
}
