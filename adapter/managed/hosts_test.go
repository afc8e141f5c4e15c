package managed

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

func TestShimReadsFromHostsFileWhatTheJobHas(t *testing.T) {
	r := &Job{Record: Record{Key: adapter.Key{ID: 42}, Began: 1, Promise: []core.Time{9}}, Choices: []core.EP{{{Nodes: 300, Duration: 9}}}}
	for job := range core.JobID(3) { // these names cannot be abbreviated, and do not fit on one line
		part := adapter.Part{Job: 42 + job}
		for n := range 100 {
			part.Nodes = append(part.Nodes, fmt.Sprintf("a%dz%s%d", n, strings.Repeat("x", 40), job))
		}
		r.Parts, r.Nodes = append(r.Parts, part), append(r.Nodes, part.Nodes...)
	}
	text := r.Hosts(r.Nodes, 0, 3)
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
	if !slices.Equal(read.Nodes, nodes) || len(read.Allocations) != len(r.Parts) {
		t.Fatalf("%d nodes in %d allocations", len(read.Nodes), len(read.Allocations))
	}
	for i, part := range r.Parts {
		if got := read.Allocations[i]; got.Job != int64(part.Job) || len(got.Nodes) != len(part.Nodes) {
			t.Errorf("allocation %d has %d nodes, want %d of them in %d", got.Job, len(got.Nodes), len(part.Nodes), part.Job)
		}
	}
}
