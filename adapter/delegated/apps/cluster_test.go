package apps

import (
	"slices"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

func TestFilterExcludesClustersWithLessOrUnknownResources(t *testing.T) {
	known := &cluster{Cluster: Cluster{Name: "a", Attrs: map[string]string{"fabric": "ib"}}}
	bare := &cluster{Cluster: Cluster{Name: "b"}}
	known.setState(&mailbox.ClusterState{Hosts: 10, HostResources: adapter.HostResources{Cores: 8, Memory: 1000, Scratch: 500, Arch: "x86_64"}})
	bare.setState(&mailbox.ClusterState{Hosts: 10})
	for name, test := range map[string]struct {
		filter      launcher.Filter
		known, bare bool // whether the cluster with a state, and the cluster without one, pass the filter
	}{
		"none":             {launcher.Filter{}, true, true},
		"enough hosts":     {launcher.Filter{MinHosts: 10}, true, true},
		"more hosts":       {launcher.Filter{MinHosts: 11}, false, false},
		"enough memory":    {launcher.Filter{HostMem: 1000, TotalMem: 10_000}, true, false},
		"more memory":      {launcher.Filter{HostMem: 1001}, false, false},
		"more in all":      {launcher.Filter{TotalMem: 10_001}, false, false},
		"enough scratch":   {launcher.Filter{Scratch: 500}, true, false},
		"more scratch":     {launcher.Filter{Scratch: 501}, false, false},
		"the architecture": {launcher.Filter{Arch: "x86_64"}, true, false},
		"another":          {launcher.Filter{Arch: "aarch64"}, false, false},
		"the fabric":       {launcher.Filter{Attrs: map[string]string{"fabric": "ib"}}, true, false},
		"another fabric":   {launcher.Filter{Attrs: map[string]string{"fabric": "opa"}}, false, false},
		"by name":          {launcher.Filter{Clusters: []string{"b"}}, false, true},
	} {
		if got := known.passes(test.filter); got != test.known {
			t.Errorf("%s: the cluster of which all is known passes: %v", name, got)
		}
		if got := bare.passes(test.filter); got != test.bare {
			t.Errorf("%s: the cluster of which nothing is known passes: %v", name, got)
		}
	}
}

func TestDescriptionHasTheClustersResources(t *testing.T) {
	c := &cluster{Cluster: Cluster{Name: "a", Speed: 1, Site: "lyon"}}
	c.setState(&mailbox.ClusterState{Hosts: 10, HostResources: adapter.HostResources{Cores: 8, Memory: 1000, Scratch: 500, Arch: "x86_64"}})
	d := (&Machine{clusters: []*cluster{c}}).describe(0)
	if d.Hosts != 10 || d.Cores != 8 || d.Mem != 1000 || d.Scratch != 500 || d.Arch != "x86_64" {
		t.Errorf("%+v", d)
	}
}

// state returns a state with jobs of applications 7 and 8, and with the progress of the orders for these jobs.
func state() *mailbox.ClusterState {
	return &mailbox.ClusterState{
		Hosts: 10,
		Jobs: []mailbox.Job{
			{ID: 1, Application: 7, User: "ann", State: adapter.Done}, {ID: 2, Application: 7, User: "ann", State: adapter.Running},
			{ID: 3, Application: 7, User: "bob", State: adapter.Pending}, {ID: 4, Application: 8, User: "bob", State: adapter.Pending},
		},
		Parts: []mailbox.Standing{{Application: 7, Job: 2, Stand: mailbox.Waiting}, {Application: 7, Job: 3, Stand: mailbox.Waiting}},
	}
}

func TestAPartIsFoundByItsJobAndOnAnEmbeddedClusterByItsApplication(t *testing.T) {
	for _, c := range []struct {
		name        string
		embedded    bool
		application int64
		job         core.JobID
		standing    core.JobID // 0 if there is none
		lists       core.JobID
	}{
		{"its job", false, 7, 2, 2, 2},
		{"another job of it", false, 7, 3, 3, 3},
		{"a job that is done", false, 7, 1, 0, 0},
		{"a job of another", false, 8, 2, 0, 0},
		{"nothing ordered", false, 8, 4, 0, 4},
		{"an application that is not there", false, 9, 2, 0, 0},
		{"the cluster makes it", true, 7, 0, 2, 2},
		{"the cluster makes it, nothing ordered", true, 8, 0, 0, 4},
		{"the cluster has not made it", true, 9, 0, 0, 0},
	} {
		k := &cluster{Cluster: Cluster{Embedded: c.embedded}}
		if k.standing(c.application, c.job) != nil {
			t.Errorf("%s: a cluster without a state says something", c.name)
		}
		k.setState(state())
		standing, lists := core.JobID(0), core.JobID(0)
		if s := k.standing(c.application, c.job); s != nil {
			standing = s.Job
		}
		if j, ok := k.lists(c.application, c.job); ok {
			lists = j.ID
		}
		if standing != c.standing || lists != c.lists {
			t.Errorf("%s: the standing is of job %d and job %d is listed, want %d and %d", c.name, standing, lists, c.standing, c.lists)
		}
	}
}

func TestMadeReturnsTheUsersNewestJob(t *testing.T) {
	for _, c := range []struct {
		embedded    bool
		application int64
		user        string
		want        core.JobID
	}{{true, 7, "ann", 2}, {true, 7, "bob", 3}, {true, 8, "ann", 0}, {true, 9, "ann", 0}, {false, 7, "ann", 0}} {
		k := &cluster{Cluster: Cluster{Embedded: c.embedded}}
		k.setState(state())
		if got := k.made(c.application, c.user); got != c.want {
			t.Errorf("application %d of %s (embedded: %v) has job %d, want %d", c.application, c.user, c.embedded, got, c.want)
		}
	}
}

func TestNewStateReplacesTheOneBefore(t *testing.T) {
	k := &cluster{}
	if k.hosts() != 0 || k.mostHosts() != core.MaxNodes || k.info() != (clusterInfo{}) || !k.passes(launcher.Filter{MinHosts: 1 << 20}) {
		t.Errorf("before the first state %d hosts are there, and %d may be asked for: %+v", k.hosts(), k.mostHosts(), k.info())
	}
	k.setState(state())
	k.setState(&mailbox.ClusterState{Hosts: 4})
	if k.hosts() != 4 || k.mostHosts() != 4 || k.standing(7, 2) != nil {
		t.Errorf("%d hosts are there, and %d may be asked for; the standing is %v", k.hosts(), k.mostHosts(), k.standing(7, 2))
	}
	if _, ok := k.lists(7, 2); ok {
		t.Error("a job of the state before is listed")
	}
}

func TestEachLinkBetweenListedClustersIsListedOnce(t *testing.T) {
	m := &Machine{
		clusters: []*cluster{{Cluster: Cluster{Name: "a", Site: "x"}}, {Cluster: Cluster{Name: "b", Site: "x"}}, {Cluster: Cluster{Name: "c"}}},
		links:    []Link{{Between: [2]string{"x", "c"}, Latency: 900 * time.Microsecond, Bandwidth: 10}, {Between: [2]string{"b", "c"}, Latency: 100 * time.Microsecond}},
	}
	ab, ac, bc := launcher.Link{A: 0, B: 1, Latency: usual.Microseconds()}, launcher.Link{A: 0, B: 2, Latency: 900, Bandwidth: 10}, launcher.Link{A: 1, B: 2, Latency: 100}
	for _, c := range []struct {
		told  []int
		links []launcher.Link
	}{
		{nil, []launcher.Link{}},
		{[]int{1}, []launcher.Link{}},
		{[]int{0, 1}, []launcher.Link{ab}},
		{[]int{0, 2}, []launcher.Link{ac}},
		{[]int{0, 1, 2}, []launcher.Link{ab, ac, bc}},
	} {
		got := m.listOf(func(i int) bool { return slices.Contains(c.told, i) })
		var names []int
		for _, one := range got.All {
			names = append(names, one.C)
		}
		if !slices.Equal(names, c.told) || !slices.Equal(got.Links, c.links) {
			t.Errorf("of %v are told the clusters %v with the links %v, want %v", c.told, names, got.Links, c.links)
		}
	}
	if got := m.linksOf(2, func(int) bool { return true }); !slices.Equal(got, []launcher.Link{ac, bc}) {
		t.Errorf("from c lead %v", got)
	}
}
