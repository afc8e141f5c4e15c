package apps

import (
	"testing"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/shim/wire/launcher"
)

func TestAFilterLeavesOutWhatHasLessAndWhatIsNotKnown(t *testing.T) {
	known := &cluster{Cluster: Cluster{Name: "a", Attrs: map[string]string{"fabric": "ib"}}}
	bare := &cluster{Cluster: Cluster{Name: "b"}}
	known.Show(&mailbox.ClusterState{Hosts: 10, Strength: adapter.Strength{Cores: 8, Memory: 1000, Scratch: 500, Arch: "x86_64"}})
	bare.Show(&mailbox.ClusterState{Hosts: 10})
	for name, test := range map[string]struct {
		filter      launcher.Filter
		known, bare bool // pass
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
		if got := known.Passes(test.filter); got != test.known {
			t.Errorf("%s: the cluster of which all is known passes: %v", name, got)
		}
		if got := bare.Passes(test.filter); got != test.bare {
			t.Errorf("%s: the cluster of which nothing is known passes: %v", name, got)
		}
	}
}

func TestWhatAClusterHasIsTold(t *testing.T) {
	c := &cluster{Cluster: Cluster{Name: "a", Speed: 1, Site: "lyon"}}
	c.Show(&mailbox.ClusterState{Hosts: 10, Strength: adapter.Strength{Cores: 8, Memory: 1000, Scratch: 500, Arch: "x86_64"}})
	d := (&Machine{clusters: []*cluster{c}}).describe(0)
	if d.Hosts != 10 || d.Cores != 8 || d.Mem != 1000 || d.Scratch != 500 || d.Arch != "x86_64" {
		t.Errorf("%+v", d)
	}
}
