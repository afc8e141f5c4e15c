package managed

import (
	"slices"
	"testing"

	"accordion/adapter"
)

func TestTheNodeOfTheScriptAndTheOneThatTheBatchSystemTakesForItBothStay(t *testing.T) {
	for _, c := range []struct {
		name string
		seen []string // the job's nodes as the batch system lists them; it assumes that the script runs on the first node
		next int
		want []string
	}{
		{"they are one", []string{"n3", "n1", "n5"}, 2, []string{"n3", "n5"}},
		{"the other stays anyhow", []string{"n5", "n1", "n3"}, 2, []string{"n3", "n5"}},
		{"the other stays in place of the last", []string{"n1", "n3", "n5"}, 2, []string{"n3", "n1"}},
		{"there is no place but the script's", []string{"n1", "n3", "n5"}, 1, []string{"n3", "n1"}},
		{"the other is none of the job's", []string{"n9", "n3", "n5"}, 1, []string{"n3"}},
		{"nothing is known of its nodes", nil, 2, []string{"n3", "n5"}},
	} {
		r := &Job{Record: Record{Nodes: []string{"n3", "n5", "n1"}}, Reading: Reading{Seen: &adapter.Job{Nodes: c.seen}}}
		if got := r.NodesKeptByShrink(c.next); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v stay, want %v", c.name, got, c.want)
		}
		if !slices.Equal(r.Nodes, []string{"n3", "n5", "n1"}) {
			t.Errorf("%s: what it holds became %v", c.name, r.Nodes)
		}
	}
}
