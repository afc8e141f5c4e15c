package output

import (
	"fmt"
	"slices"
	"strings"
)

// PoolNodes is the set of the partitions' nodes.
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

// Partition is the first of the names that is the pool's, of a job that may name several; nil when none is.
func (in Inventory) Partition(names string, pool []string) *Partition {
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(in.Partitions, func(p Partition) bool { return p.Name == name })
		if i >= 0 && slices.Contains(pool, name) {
			return &in.Partitions[i]
		}
	}
	return nil
}

// ClosedReason returns why Slurm starts nothing of a job in its partition, whatever nodes are free; "": it does. In a partition that is drained it
// starts what waits already, but no allocation to grow by.
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

// Least is what each of the nodes has for jobs, at the least.
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

// wholeNodes says whether every partition of the pool gives whole nodes.
func (in Inventory) wholeNodes(pool []string) bool {
	return !slices.ContainsFunc(in.Partitions, func(p Partition) bool { return slices.Contains(pool, p.Name) && !p.Sharing().WholeNodes() })
}

// Unreserved is a node of the kind that can be used and that nobody has reserved; "" when there is none.
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

// CandidateNodes is nodes that the job holds, or might.
func (in Inventory) CandidateNodes(r *Record, pool []string) []string {
	if len(r.Nodes) > 0 {
		return r.Nodes
	}
	var all []string
	inPool, _ := PoolNodes(in, pool) // without nodes there is nothing to hold
	for _, n := range in.Nodes {
		if inPool[n.Name] && (r.Kinds == nil || slices.Contains(r.Kinds, n.Kind)) {
			all = append(all, n.Name)
		}
	}
	return all
}
