package apps_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/adapter/delegated/apps"
	"accordion/shim/wire/launcher"
)

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	a := apps.Application{
		ID: 7, User: "ann", Name: "sim", Phase: apps.Starting, Rank: 100, Most: 60, Tag: 0, Walltime: 50, View: 9, Acked: 8, Try: 2,
		Filter: launcher.Filter{MinHosts: 2, Attrs: map[string]string{"fabric": "ib"}, Clusters: []string{"a"}},
		Tries:  []int64{90, 95}, Slow: true, Failed: "no nodes", At: 101, By: 200, Since: 101,
		Parts: []*apps.Part{{Name: "a", Job: 12, Hosts: 3, Nodes: []string{"n1"}, Drop: 1, Kept: 2, Ghost: 300}},
	}
	var back apps.Application
	if err := json.Unmarshal(a.Record().Data, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, back); d != "" {
		t.Error(d)
	}
}

// Five tries may fail in a minute; then there is one a minute, until one succeeds or the request changes.
func TestTries(t *testing.T) {
	a := &apps.Application{}
	for _, c := range []struct{ now, next int64 }{{0, 0}, {10, 0}, {20, 0}, {61, 0}, {65, 0}, {70, 0}, {72, 132}, {132, 192}, {192, 252}} {
		a.Fail(c.now)
		if a.RetryAt() != c.next {
			t.Errorf("after the failure at %d the next try is at %d, not %d", c.now, a.RetryAt(), c.next)
		}
	}
}

func TestWhatAPartTakes(t *testing.T) {
	a := &apps.Application{Phase: apps.Running, By: 500}
	for _, c := range []struct {
		what  string
		part  apps.Part
		hosts int
		until int64
	}{
		{"it runs", apps.Part{Hosts: 3}, 3, 500},
		{"the request does not use it", apps.Part{}, 0, 0},
		{"over", apps.Part{Hosts: 3, Over: true}, 0, 0},
		{"a ghost", apps.Part{Hosts: 3, Over: true, Ghost: 90}, 3, 90},
		{"a ghost whose time has passed", apps.Part{Hosts: 3, Over: true, Ghost: 80}, 0, 0},
		{"done, and its ghost stands", apps.Part{Hosts: 3, Done: true, Ghost: 90}, 3, 90},
		{"done, and about to leave", apps.Part{Hosts: 3, Done: true}, 3, 0},
		{"a try that was given up", apps.Part{Hosts: 1, Drop: 2, Kept: 3}, 3, 0},
	} {
		if hosts, until := a.Takes(&c.part, 80); hosts != c.hosts || until != c.until {
			t.Errorf("%s: %d hosts until %d, not %d until %d", c.what, hosts, until, c.hosts, c.until)
		}
	}
}
