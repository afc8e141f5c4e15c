package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// terms are how one job grows on this cluster, and what that asks of its nodes.
type terms struct {
	way  way
	site site
	in   sharing // of its partition
	node node    // what each of its nodes has for jobs
}

// terms decides how the job grows, which holds the nodes or is to start on them. The same job grows in the same way all its
// life, unless somebody changes the cluster.
func (s *System) terms(ctx context.Context, r *record, nodes []string) (terms, error) {
	c, err := s.recent(ctx)
	if err != nil {
		return terms{}, err
	}
	in, err := s.ground(ctx)
	if err != nil {
		return terms{}, err
	}
	p := in.partition(r.Partition, s.config.Partitions)
	if p == nil {
		return terms{}, fmt.Errorf("its partition %s is none of %s", r.Partition, strings.Join(s.config.Partitions, ", "))
	}
	t := terms{site: c.site(), in: p.sharing(), node: in.least(nodes)}
	t.way, err = t.site.wayOf(s.config.Growth, p.sharing(), r.wantsGres())
	return t, err
}

// ground is nodes and partitions as they were last read: what is asked of it changes with a new configuration only.
func (s *System) ground(ctx context.Context) (inventory, error) {
	s.mu.Lock()
	known := s.last
	s.mu.Unlock()
	if len(known.partitions) > 0 {
		return known, nil
	}
	return s.inventory(ctx)
}

// partition is the first of the names that is the pool's, of a job that may name several; nil when none is.
func (in inventory) partition(names string, pool []string) *partition {
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(in.partitions, func(p partition) bool { return p.name == name })
		if i >= 0 && slices.Contains(pool, name) {
			return &in.partitions[i]
		}
	}
	return nil
}

// least is what each of the nodes has for jobs, at the least.
func (in inventory) least(nodes []string) node {
	var least node
	for _, n := range in.nodes {
		if !slices.Contains(nodes, n.Name) {
			continue
		}
		if least.Name == "" {
			least = n
		}
		least.effective, least.memory, least.reserved = min(least.effective, n.effective), min(least.free(), n.free()), 0
	}
	return least
}

// wholly is the CPUs that must be asked for to have whole nodes; 0 where every job gets them.
func (t terms) wholly() int {
	if t.in.whole() {
		return 0
	}
	return t.node.effective
}

// growths is how often a job grows, at the most; 0 for an ordinary one.
func growths(r *record) int {
	most := 0
	choices, _ := adapter.ParseRequest(adapter.RequestOf(&r.Job)) // an ordinary job has none
	for _, ep := range choices {
		n := 0
		for i := 1; i < len(ep); i++ {
			if ep[i].Nodes > ep[i-1].Nodes {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// spare is the memory in MB that is left out on each node for the expanders of a job's growths, which take 1 MB each of its own
// nodes. Some may fail and be made again.
func spare(r *record) int64 { return int64(max(64, 8*growths(r))) }

// arrangement is what a waiting job is given besides its size, so that it has its nodes for itself and can grow.
func (t terms) arrangement(r *record) []string {
	var all []string
	if cpus := t.wholly(); cpus > 0 {
		all = append(all, fmt.Sprintf("MinCPUsNode=%d", cpus))
	}
	switch {
	case t.way.growth == Overlap:
		if t.site.memory {
			all = append(all, fmt.Sprintf("MinMemoryNode=%d", t.node.free()-spare(r)))
		}
		all = append(all, "OverSubscribe=YES")
	case t.way.growth == Merge && !t.in.whole():
		all = append(all, "OverSubscribe=NO") // cores of merged nodes may be counted as free: only that keeps others off them
	}
	return all
}

// scaled is a job's tasks and CPUs on so many nodes.
func scaled(r *record, nodes int) (tasks, cpus int) {
	tasks = ceil(r.Tasks, r.Want) * nodes
	return tasks, ceil(r.CPUs, r.Tasks) * tasks
}

// counts is what a waiting job is told to have so many nodes; nothing when it has them. Where a job gets no more CPUs than its tasks
// need, they need all: each task as many more as the node has. The script does not see that: its variables and those of
// srun stay as its user said.
func (t terms) counts(r *record, nodes int) ([]string, error) {
	tasks, cpus := scaled(r, nodes)
	var more []string
	if each := t.wholly(); each > 0 && t.sparing(r) {
		if err := t.divided(r); err != nil {
			return nil, err
		}
		cpus = each * nodes
		more = []string{fmt.Sprintf("CPUsPerTask=%d", cpus/tasks)}
	}
	if r.Want == nodes && r.maxNodes == nodes && (more == nil || r.CPUs == cpus) {
		return nil, nil
	}
	return append([]string{fmt.Sprintf("NumNodes=%d-%d", nodes, nodes), fmt.Sprintf("NumTasks=%d", tasks), fmt.Sprintf("NumCPUs=%d", cpus)}, more...), nil
}

// divided says, by an error, that the tasks on each node cannot have all of its CPUs among them where that matters.
func (t terms) divided(r *record) error {
	on := ceil(r.Tasks, r.Want)
	if each := t.wholly(); each > 0 && t.sparing(r) && each%on != 0 {
		return fmt.Errorf("its %d tasks on each node do not divide a node's %d CPUs, and this Slurm gives it no more than they need: "+
			"ask for a number that does (--ntasks-per-node)", on, each)
	}
	return nil
}

// sparing says whether the job gets no more CPUs than its tasks need. With generic resources none does: where it says how many tasks
// it has, Slurm finds that it asks for too much (BadConstraints).
func (t terms) sparing(r *record) bool { return t.site.sparing || r.wantsGres() }

// beside is the allocation by which a job grows by the nodes.
func (t terms) beside(job *record, nodes []string, reservation string) allocation {
	a := allocation{parent: job, name: fmt.Sprintf("%s%d", GrowPrefix, job.ID), nodes: nodes, cpus: t.wholly(), expands: true, reservation: reservation}
	switch t.way.growth {
	case Overlap:
		if t.site.memory {
			a.memory = max(job.minMemory-coverMemory, 1)
		}
	case Companions:
		a.name, a.expands = fmt.Sprintf("%s%d", withPrefix, job.ID), false
		a.limit, a.gres = job.remains(), job.perNodeOptions()
	}
	return a
}

// shares is the nodes of each allocation by which a job grows: one for each node where allocations can only be ended as a whole, for
// the job may give back some and keep others.
func (t terms) shares(nodes []string) [][]string {
	if t.way.growth == Companions && t.site.trap != "" {
		return slices.Collect(slices.Chunk(nodes, 1))
	}
	return [][]string{nodes}
}

// rigid says why the job cannot do what it asks for on a cluster where no allocation can be made smaller; "": it can. There it gives
// back companions, and so nothing of what it began with.
func (t terms) rigid(r *record) string {
	if t.site.trap == "" {
		return ""
	}
	choices, _ := adapter.ParseRequest(adapter.RequestOf(&r.Job)) // one that cannot be read is refused elsewhere
	for _, ep := range choices {
		if !slices.ContainsFunc(ep, func(s core.Step) bool { return s.Nodes < ep[0].Nodes }) {
			return ""
		}
	}
	return t.site.trap + ": here a job can give back only what it grew by, so let its first step have the fewest nodes"
}

// coverMemory is what the expander over all nodes takes of each node's memory, in MB: the least that Slurm gives. A job's own
// nodes have so much more of it after each growth.
const coverMemory = 1

// over is an expander of the least memory on nodes that an expander keeps for the job, or on its own too.
func (t terms) over(job, e *record, nodes []string) allocation {
	return allocation{parent: job, name: fmt.Sprintf("%s%d", overPrefix, job.ID), nodes: nodes, cpus: t.node.effective, memory: coverMemory, expands: true, reservation: e.Reservation}
}

// Beside reads the name of an allocation that was made beside a job for its growth: which job, 0 for every other name, and
// whether it stays beside it to its end, as companions do, or is to be merged into it. Any user may call his job so.
func Beside(name string) (parent core.JobID, stays bool) {
	for _, prefix := range []string{GrowPrefix, overPrefix, withPrefix} {
		if id, ok := strings.CutPrefix(name, prefix); ok {
			if n, err := strconv.ParseUint(id, 10, 31); err == nil && n > 0 {
				return core.JobID(n), prefix == withPrefix
			}
		}
	}
	return 0, false
}

// Names of the allocations that are made beside a job; its id follows. The name is what survives everywhere: Slurm
// forgets the dependency once it is satisfied.
const (
	GrowPrefix = adapter.Prefix + "grow-" // an expander on new nodes
	overPrefix = adapter.Prefix + "over-" // an expander on nodes that another one keeps
	withPrefix = adapter.Prefix + "with-" // a companion
)
