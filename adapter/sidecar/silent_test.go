package sidecar

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/shim/allocation"
)

func TestAHostsFileSaysWhichNodesAreOfWhichAllocation(t *testing.T) {
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

func TestWhatTheShimReadsOfAHostsFileIsWhatTheJobHas(t *testing.T) {
	r := &record{Key: adapter.Key{ID: 42}, Began: 1, Promise: []core.Time{9}, choices: []core.EP{{{Nodes: 300, Duration: 9}}}}
	for job := range core.JobID(3) { // their names cannot be shortened: they are more than a line takes
		part := adapter.Part{Job: 42 + job}
		for n := range 100 {
			part.Nodes = append(part.Nodes, fmt.Sprintf("a%dz%s%d", n, strings.Repeat("x", 40), job))
		}
		r.parts, r.Nodes = append(r.parts, part), append(r.Nodes, part.Nodes...)
	}
	text := r.hosts(r.Nodes, 0, 3)
	for line := range strings.Lines(text) {
		if len(line) > 1023 {
			t.Errorf("a line of %d bytes: %.80s", len(line), line)
		}
	}
	path := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := allocation.ReadHosts(path)
	if err != nil {
		t.Fatal(err)
	}
	nodes := slices.Clone(r.Nodes)
	hostlist.Sort(nodes)
	if !slices.Equal(read.Nodes, nodes) || len(read.Allocations) != len(r.parts) {
		t.Fatalf("%d nodes in %d allocations", len(read.Nodes), len(read.Allocations))
	}
	for i, part := range r.parts {
		if got := read.Allocations[i]; got.Job != int64(part.Job) || len(got.Nodes) != len(part.Nodes) {
			t.Errorf("allocation %d has %d nodes, want %d of them in %d", got.Job, len(got.Nodes), len(part.Nodes), part.Job)
		}
	}
}
