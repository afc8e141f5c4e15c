package output

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/slurm/number"
)

// kind is what jobs may tell a node apart by, in words.
func (n *Node) kind() string {
	words := []string{fmt.Sprintf("%d CPUs", n.EffectiveCPUs), fmt.Sprintf("%d MB", n.JobMemory())}
	for _, more := range []string{n.GRES, n.Features} {
		if more != "" {
			words = append(words, more)
		}
	}
	return strings.Join(words, ", ")
}

// JobMemory is the memory that jobs may have, in MB.
func (n *Node) JobMemory() int64 { return n.RealMemory - n.reservedMemory }

// build is what the nodes of one managed job must have in common where they are made whole by asking for all of their CPUs
// and memory.
func (n *Node) build() string { return fmt.Sprintf("%d CPUs, %d MB", n.EffectiveCPUs, n.JobMemory()) }

// has says whether a node has the generic resources: a list such as gres:gpu:a100:2.
func (n *Node) has(list string, times int) bool {
	for r := range number.Resources(list) {
		if r.Kind == number.Device && n.count(r.Name)/int64(max(times, 1)) < r.Count {
			return false
		}
	}
	return true
}

// count returns how many of a generic resource a node has: for gpu those with every type, for
// gpu:a100 only that type.
func (n *Node) count(name string) int64 { return number.Devices(n.GRES)[name] }

// Hardware is what jobs may ask of a node. Two nodes with the same are alike.
type Hardware struct {
	CPUs, Sockets, CoresPerSocket, ThreadsPerCore int
	Memory, Scratch                               int64 // MB
	GRES                                          string
	Features                                      string // those that it has, and those that it may be rebooted into; some of them twice
}

// Hardware returns what jobs may ask of the node. Where Slurm does not allocate memory to jobs,
// they may ask for all of it.
func (n *Node) Hardware(memory bool) Hardware {
	h := Hardware{n.EffectiveCPUs, n.Sockets, n.CoresPerSocket, n.ThreadsPerCore, n.RealMemory, n.Scratch, n.GRES, n.Features}
	if memory {
		h.Memory = n.JobMemory()
	}
	if n.available != n.Features {
		h.Features += "," + n.available
	}
	return h
}

// Suits says whether the node has what the job asks for on each of its nodes, features aside.
func (n *Node) Suits(r *Record) bool {
	return r.MinCPUs <= n.EffectiveCPUs && (r.MemoryPer == "CPU" || r.MinMemory <= n.JobMemory()) && r.MinDisk <= n.Scratch && n.has(r.TRESPerNode, 1) && n.has(r.TRESPerTask, r.TasksPerNode()) && n.hasAny(r.TRESPerJob) &&
		(r.State != adapter.Pending || n.hasAny(r.TRES)) // of one that runs, that is what came with its nodes
}

// hasAny says whether a node has some of each of the generic resources in a list of resources.
func (n *Node) hasAny(list string) bool {
	for r := range number.Resources(list) {
		if r.Kind == number.Device && r.Count > 0 && n.count(r.Name) == 0 {
			return false
		}
	}
	return true
}

// Simple is an expression of features that needs nobody's help: one, or several of which a node must have all, or any.
var Simple = regexp.MustCompile(`^[\w.:+-]+((&[\w.:+-]+)*|(\|[\w.:+-]+)*)$`)

// Featured says whether a node with these active features is what a simple expression means.
func Featured(features, expression string) bool {
	has := func(f string) bool { return slices.Contains(strings.Split(features, ","), f) }
	if strings.Contains(expression, "|") {
		return slices.ContainsFunc(strings.Split(expression, "|"), has)
	}
	return !slices.ContainsFunc(strings.Split(expression, "&"), func(f string) bool { return !has(f) })
}

// SetKinds writes into each node its kind, and its build where not every partition of the pool gives whole nodes.
func (in *Inventory) SetKinds(pool []string) {
	whole := in.wholeNodes(pool)
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if n.Kind = n.kind(); !whole {
			n.Build = n.build()
		}
	}
}
