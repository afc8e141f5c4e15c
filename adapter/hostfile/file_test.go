package hostfile

import (
	"strings"
	"testing"

	"accordion/adapter"
)

func TestHostsFileHasNodesOfEachAllocation(t *testing.T) {
	for _, test := range []struct {
		name  string
		parts []adapter.Part
		stays []string
		want  string
	}{
		{"one allocation", nil, []string{"n1", "n2"}, ""},
		{"two", []adapter.Part{{Job: 42, Nodes: []string{"n1", "n2"}}, {Job: 57, Nodes: []string{"n3"}}}, []string{"n1", "n2", "n3"}, "# allocations 42:n[1-2] 57:n3"},
		{"the second leaves in part", []adapter.Part{{Job: 42, Nodes: []string{"n1"}}, {Job: 57, Nodes: []string{"n3", "n4"}}}, []string{"n1", "n4"}, "# allocations 42:n1 57:n4"},
		{"the second leaves", []adapter.Part{{Job: 42, Nodes: []string{"n1"}}, {Job: 57, Nodes: []string{"n3"}}}, []string{"n1"}, "# allocations 42:n1"},
	} {
		if got := strings.Join(allocationLines(test.parts, test.stays), "\n"); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
