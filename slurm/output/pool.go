package output

import (
	"fmt"
	"slices"
	"strings"
)

// PoolNodes returns the set of the partitions' nodes.
func PoolNodes(in Inventory, pool []string) (map[string]bool, error) {
	nodes := map[string]bool{}
	for _, name := range pool {
		i := slices.IndexFunc(in.Partitions, func(p Partition) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no partition %q (`sinfo -a -h -o %%R` lists them)", name)
		}
		for _, n := range in.Partitions[i].Nodes {
			nodes[n] = true
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("partition %s has no nodes", strings.Join(pool, ", "))
	}
	return nodes, nil
}

// Partition returns the first of the job's partitions that is in the pool, or nil if none is. A job may name
// several partitions.
func (in Inventory) Partition(names string, pool []string) *Partition {
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(in.Partitions, func(p Partition) bool { return p.Name == name })
		if i >= 0 && slices.Contains(pool, name) {
			return &in.Partitions[i]
		}
	}
	return nil
}

// ClosedReason returns why Slurm does not start the job in its partition, whatever nodes are free. It returns "" if
// Slurm may start the job. A partition in state DRAIN still starts waiting jobs, but accepts no allocation by which
// a job grows.
func (in Inventory) ClosedReason(r *Record, pool []string, grows bool) string {
	p := in.Partition(r.Partition, pool)
	if p == nil {
		return ""
	}
	what := map[string]string{"DOWN": "Slurm starts no job there", "INACTIVE": "Slurm starts no job there", "DRAIN": "Slurm takes no new allocation there, and the job needs one to grow"}[p.State]
	if what == "" || p.State == "DRAIN" && !grows {
		return ""
	}
	return fmt.Sprintf("partition %s is in state %s: %s", p.Name, p.State, what)
}

// Least returns the node with the least CPUs and memory among the given nodes.
func (in Inventory) Least(nodes []string) Node {
	var least Node
	for _, n := range in.Nodes {
		if !slices.Contains(nodes, n.Name) {
			continue
		}
		if least.Name == "" {
			least = n
		}
		least.EffectiveCPUs, least.RealMemory, least.reservedMemory = min(least.EffectiveCPUs, n.EffectiveCPUs), min(least.JobMemory(), n.JobMemory()), 0
	}
	return least
}

// wholeNodes reports whether every partition of the pool gives jobs whole nodes.
func (in Inventory) wholeNodes(pool []string) bool {
	return !slices.ContainsFunc(in.Partitions, func(p Partition) bool { return slices.Contains(pool, p.Name) && !p.Sharing().WholeNodes() })
}

// Unreserved returns a usable node of the kind that is in no reservation, or only in the sidecar's reservations for
// waiting jobs. It returns "" if there is no such node.
func (in *Inventory) Unreserved(kind string) string {
	reserved := map[string]bool{}
	for _, r := range in.Reservations {
		if IsWaitingReservation(r.Name) {
			continue
		}
		for _, n := range r.Nodes {
			reserved[n] = true
		}
	}
	for i := range in.Nodes {
		if n := &in.Nodes[i]; n.Kind == kind && n.Usable && !reserved[n.Name] {
			return n.Name
		}
	}
	return ""
}

// CandidateNodes returns the nodes that the job holds. If the job has no nodes, it returns the nodes of the pool
// that the job may get.
func (in Inventory) CandidateNodes(r *Record, pool []string) []string {
	if len(r.Nodes) > 0 {
		return r.Nodes
	}
	var all []string
	inPool, _ := PoolNodes(in, pool) // a pool without nodes has no candidates
	for _, n := range in.Nodes {
		if inPool[n.Name] && (r.Kinds == nil || slices.Contains(r.Kinds, n.Kind)) {
			all = append(all, n.Name)
		}
	}
	return all
}
