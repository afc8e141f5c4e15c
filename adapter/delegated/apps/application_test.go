package apps

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/shim/wire/launcher"
)

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	a := Application{
		ID: 7, User: "ann", Name: "sim", Phase: Starting, Rank: 100, Most: 60, Tag: 0, Walltime: 50, View: 9, Acked: 8, Try: 2,
		Filter: launcher.Filter{MinHosts: 2, Attrs: map[string]string{"fabric": "ib"}, Clusters: []string{"a"}},
		Tries:  []int64{90, 95}, Slow: true, Failed: "no nodes", At: 101, By: 200, Since: 101,
		Parts: []*Part{{Name: "a", Job: 12, Hosts: 3, Nodes: []string{"n1"}, Drop: 1, Kept: 2, Ghost: 300}},
	}
	var back Application
	if err := json.Unmarshal(a.Record().Data, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, back); d != "" {
		t.Error(d)
	}
}

// After five failed tries in a minute, only one try a minute is made, until a try succeeds or the request changes.
func TestOnlyOneTryAMinuteAfterFiveFailures(t *testing.T) {
	a := &Application{}
	for _, c := range []struct{ now, next int64 }{{0, 0}, {10, 0}, {20, 0}, {61, 0}, {65, 0}, {70, 0}, {72, 132}, {132, 192}, {192, 252}} {
		a.countFailure(c.now)
		if a.retryAt() != c.next {
			t.Errorf("after the failure at %d the next try is at %d, not %d", c.now, a.retryAt(), c.next)
		}
	}
}

func TestHostsHeldByAPart(t *testing.T) {
	a := &Application{Phase: Running, By: 500}
	for _, c := range []struct {
		what  string
		part  Part
		hosts int
		until int64
	}{
		{"it runs", Part{Hosts: 3}, 3, 500},
		{"the request does not use it", Part{}, 0, 0},
		{"over", Part{Hosts: 3, Over: true}, 0, 0},
		{"a ghost", Part{Hosts: 3, Over: true, Ghost: 90}, 3, 90},
		{"a ghost whose time has passed", Part{Hosts: 3, Over: true, Ghost: 80}, 0, 0},
		{"done, and its ghost stands", Part{Hosts: 3, Done: true, Ghost: 90}, 3, 90},
		{"done, and about to leave", Part{Hosts: 3, Done: true}, 3, 0},
		{"a try that was given up", Part{Hosts: 1, Drop: 2, Kept: 3}, 3, 0},
	} {
		if hosts, until := a.heldHosts(&c.part, 80); hosts != c.hosts || until != c.until {
			t.Errorf("%s: %d hosts until %d, not %d until %d", c.what, hosts, until, c.hosts, c.until)
		}
	}
}
