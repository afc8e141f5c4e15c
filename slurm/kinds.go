package slurm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/slurm/client"
)

// This file says which nodes of the pool are of one kind, and on which kinds a job can run. Processors, memory and generic
// resources are compared here. What an expression of features (-C) means Slurm is asked, once for each expression and kind.

// kind is what jobs may tell a node apart by, in words.
func (n *node) kind() string {
	words := []string{fmt.Sprintf("%d CPUs", n.effective), fmt.Sprintf("%d MB", n.free())}
	for _, more := range []string{n.gres, n.features} {
		if more != "" {
			words = append(words, more)
		}
	}
	return strings.Join(words, ", ")
}

// free is the memory that jobs may have, in MB.
func (n *node) free() int64 { return n.memory - n.reserved }

// build is what the nodes of one managed job must have in common where they are made whole by asking for all of their CPUs
// and memory.
func (n *node) build() string { return fmt.Sprintf("%d CPUs, %d MB", n.effective, n.free()) }

// has says whether a node has the generic resources: a list such as gres:gpu:a100:2.
func (n *node) has(list string, times int) bool {
	for item := range strings.SplitSeq(list, ",") {
		name, count := gres(item)
		if name != "" && n.count(name) < count*times {
			return false
		}
	}
	return true
}

// count is how many of a generic resource a node has: of gpu those of every type, of gpu:a100 those of that type.
func (n *node) count(name string) int {
	sum := 0
	for item := range strings.SplitSeq(n.gres, ",") {
		item, _, _ = strings.Cut(item, "(") // gpu:a100:4(S:0-1)
		has, count := gres("gres:" + item)
		if has == name || strings.HasPrefix(has, name+":") {
			sum += count
		}
	}
	return sum
}

// suits says whether the node has what the job asks for on each of its nodes, features aside.
func (n *node) suits(r *record) bool {
	return r.minCPUs <= n.effective && (r.memoryPer == "CPU" || r.minMemory <= n.free()) && n.has(r.tresPerNode, 1) && n.has(r.tresPerTask, ceil(r.Tasks, r.Want)) && n.hasAny(r.tresPerJob) &&
		(r.State != adapter.Pending || n.hasAny(r.tres)) // of one that runs, that is what came with its nodes
}

// hasAny says whether a node has some of each of the generic resources in a list of resources.
func (n *node) hasAny(list string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if name, _ := gres(item); name != "" && n.count(name) == 0 {
			return false
		}
	}
	return true
}

// simple is an expression of features that needs nobody's help: one, or several of which a node must have all, or any.
var simple = regexp.MustCompile(`^[\w.:+-]+((&[\w.:+-]+)*|(\|[\w.:+-]+)*)$`)

// featured says whether a node with these active features is what a simple expression means.
func featured(features, expression string) bool {
	has := func(f string) bool { return slices.Contains(strings.Split(features, ","), f) }
	if strings.Contains(expression, "|") {
		return slices.ContainsFunc(strings.Split(expression, "|"), has)
	}
	return !slices.ContainsFunc(strings.Split(expression, "&"), func(f string) bool { return !has(f) })
}

// meaning is an expression of features, and a kind of nodes.
type meaning struct{ expression, kind string }

// asksAtOnce bounds how many meanings Slurm is asked for in one reading: each is a program.
const asksAtOnce = 4

// tellApart writes into each job which kinds of nodes it can run on, where it cannot run on all, and into each node its kind.
// A managed job whose expression is not understood yet is blocked until it is.
func (s *System) tellApart(ctx context.Context, in *inventory, jobs []record) {
	pool, err := poolNodes(*in, s.config.Partitions)
	if err != nil {
		return // Observe says so
	}
	kinds := map[string]*node{}
	var names []string
	for i := range in.nodes {
		n := &in.nodes[i]
		n.Kind = n.kind()
		if !in.wholePool(s.config.Partitions) {
			n.Build = n.build()
		}
		if pool[n.Name] && kinds[n.Kind] == nil {
			kinds[n.Kind] = n
			names = append(names, n.Kind)
		}
	}
	slices.Sort(names)
	asks := asksAtOnce
	for i := range jobs {
		r := &jobs[i]
		if r.State != adapter.Pending && adapter.RequestOf(&r.Job) == "" {
			continue
		}
		suits := make([]string, 0, len(names))
		for _, name := range names {
			if !kinds[name].suits(r) {
				continue
			}
			yes, known := s.means(ctx, r, kinds[name], in, &asks)
			if !known && adapter.RequestOf(&r.Job) != "" && r.State == adapter.Pending {
				r.Blocked, r.Why = true, "asking Slurm which nodes -C "+r.features+" means"
			}
			if yes || !known {
				suits = append(suits, name)
			}
		}
		if len(suits) < len(names) {
			r.Kinds = suits
		}
	}
}

// wholePool says whether every partition of the pool gives whole nodes.
func (in inventory) wholePool(pool []string) bool {
	return !slices.ContainsFunc(in.partitions, func(p partition) bool { return slices.Contains(pool, p.name) && !p.sharing().whole() })
}

// means says whether a job's features mean a kind of nodes, and whether that is known. Slurm is asked for managed jobs only,
// and tells nothing of nodes that are reserved or cannot be used.
func (s *System) means(ctx context.Context, r *record, of *node, in *inventory, asks *int) (yes, known bool) {
	switch {
	case r.features == "":
		return true, true
	case simple.MatchString(r.features):
		return featured(of.features, r.features), true
	}
	m := meaning{r.features, of.Kind}
	s.mu.Lock()
	yes, known = s.meanings[m]
	s.mu.Unlock()
	if known || adapter.RequestOf(&r.Job) == "" || *asks == 0 {
		return yes, known
	}
	p := in.partition(r.Partition, s.config.Partitions)
	free := in.unreserved(of.Kind)
	if p == nil || free == "" {
		return false, false
	}
	*asks--
	_, err := s.run.Run(ctx, client.Call{Program: "sbatch", Args: []string{
		"--test-only", "--partition=" + p.name, "--constraint=" + r.features, "--nodes=1", "--nodelist=" + free, "--wrap=true"}})
	if f := (*client.Failure)(nil); err != nil && (!errors.As(err, &f) || !client.Says(err, "not available", "feature")) {
		return false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.meanings == nil || len(s.meanings) > 1000 {
		s.meanings = map[meaning]bool{} // users think of many expressions in a year
	}
	s.meanings[m] = err == nil
	return err == nil, true
}

// unreserved is a node of the kind that can be used and that nobody has reserved; "" when there is none.
func (in *inventory) unreserved(kind string) string {
	reserved := map[string]bool{}
	for _, r := range in.reservations {
		if r.Name == Park {
			continue
		}
		for _, n := range r.Nodes {
			reserved[n] = true
		}
	}
	for i := range in.nodes {
		if n := &in.nodes[i]; n.Kind == kind && n.Usable && !reserved[n.Name] {
			return n.Name
		}
	}
	return ""
}
