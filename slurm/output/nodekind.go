package output

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/slurm/number"
)

// kind returns a text with all properties by which a job can select the node: CPUs, memory, generic resources and
// features.
func (n *Node) kind() string {
	words := []string{fmt.Sprintf("%d CPUs", n.EffectiveCPUs), fmt.Sprintf("%d MB", n.JobMemory())}
	for _, more := range []string{n.GRES, n.Features} {
		if more != "" {
			words = append(words, more)
		}
	}
	return strings.Join(words, ", ")
}

// JobMemory returns the memory that jobs may have, in MB.
func (n *Node) JobMemory() int64 { return n.RealMemory - n.reservedMemory }

// build returns the properties that all nodes of a managed job must have in common if the job requests all CPUs and
// memory of its nodes to get whole nodes.
func (n *Node) build() string { return fmt.Sprintf("%d CPUs, %d MB", n.EffectiveCPUs, n.JobMemory()) }

// has reports whether the node has each generic resource of a list, such as gres:gpu:a100:2, `times` times.
func (n *Node) has(list string, times int) bool {
	for r := range number.Resources(list) {
		if r.Kind == number.Device && n.count(r.Name)/int64(max(times, 1)) < r.Count {
			return false
		}
	}
	return true
}

// count returns how many of a generic resource the node has. The name gpu counts GPUs of every type, gpu:a100 only
// those of that type.
func (n *Node) count(name string) int64 { return number.Devices(n.GRES)[name] }

// Hardware is what a job may request on a node. Two nodes with equal Hardware are interchangeable.
type Hardware struct {
	CPUs, Sockets, CoresPerSocket, ThreadsPerCore int
	Memory, Scratch                               int64 // MB
	GRES                                          string
	Features                                      string // active features, followed by available ones; a feature may occur twice
}

// Hardware returns what a job may request on the node. `memory` is true if Slurm allocates memory to jobs. If Slurm
// does not, a job may request all of the node's memory.
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

// Suits reports whether the node has what the job requests on each of its nodes, apart from features.
func (n *Node) Suits(r *Record) bool {
	return r.MinCPUs <= n.EffectiveCPUs && (r.MemoryPer == "CPU" || r.MinMemory <= n.JobMemory()) && r.MinDisk <= n.Scratch && n.has(r.TRESPerNode, 1) && n.has(r.TRESPerTask, r.TasksPerNode()) && n.hasAny(r.TRESPerJob) &&
		(r.State != adapter.Pending || n.hasAny(r.TRES)) // the TRES of a running job are what it got with its nodes, not a request
}

// hasAny reports whether the node has at least one of each generic resource in the list.
func (n *Node) hasAny(list string) bool {
	for r := range number.Resources(list) {
		if r.Kind == number.Device && r.Count > 0 && n.count(r.Name) == 0 {
			return false
		}
	}
	return true
}

// Simple matches a feature expression that Featured can evaluate: one feature, or several that are joined only by &
// or only by |.
var Simple = regexp.MustCompile(`^[\w.:+-]+((&[\w.:+-]+)*|(\|[\w.:+-]+)*)$`)

// Featured reports whether a node with these active features satisfies a Simple expression.
func Featured(features, expression string) bool {
	has := func(f string) bool { return slices.Contains(strings.Split(features, ","), f) }
	if strings.Contains(expression, "|") {
		return slices.ContainsFunc(strings.Split(expression, "|"), has)
	}
	return !slices.ContainsFunc(strings.Split(expression, "&"), func(f string) bool { return !has(f) })
}

// SetKinds sets the kind of each node. It also sets the build of each node unless every partition of the pool gives
// whole nodes.
func (in *Inventory) SetKinds(pool []string) {
	whole := in.wholeNodes(pool)
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if n.Kind = n.kind(); !whole {
			n.Build = n.build()
		}
	}
}
