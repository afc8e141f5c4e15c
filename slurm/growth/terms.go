package growth

import (
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output"
)

// Terms are how one job grows on this cluster, and what that asks of its nodes.
type Terms struct {
	Way  Way
	Site Site
	In   output.Sharing // of its partition
	Node output.Node    // what each of its nodes has for jobs
}

// cpusForWholeNode is the CPUs that must be asked for to have whole nodes; 0 where every job gets them.
func (t Terms) cpusForWholeNode() int {
	if t.In.Whole() {
		return 0
	}
	return t.Node.Effective
}

// Growths is how often a job grows, at the most; 0 for an ordinary one.
func Growths(r *output.Record) int {
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

// Spare is the memory in MB that is left out on each node for the expanders of a job's growths, which take 1 MB each of its own
// nodes. Some may fail and be made again.
func Spare(r *output.Record) int64 { return int64(max(64, 8*Growths(r))) }

// SharingSettings is what a waiting job is given besides its size, so that it has its nodes for itself and can grow.
func (t Terms) SharingSettings(r *output.Record) []string {
	var all []string
	if cpus := t.cpusForWholeNode(); cpus > 0 {
		all = append(all, fmt.Sprintf("MinCPUsNode=%d", cpus))
	}
	switch {
	case t.Way.Growth == Overlap:
		if t.Site.Memory {
			all = append(all, fmt.Sprintf("MinMemoryNode=%d", t.Node.Free()-Spare(r)))
		}
		all = append(all, "OverSubscribe=YES")
	case t.Way.Growth == Merge && !t.In.Whole():
		all = append(all, "OverSubscribe=NO") // cores of merged nodes may be counted as free: only that keeps others off them
	}
	return all
}

// tasksAndCPUs is a job's tasks and CPUs on so many nodes.
func tasksAndCPUs(r *output.Record, nodes int) (tasks, cpus int) {
	tasks = r.TasksPerNode() * nodes
	return tasks, r.CPUsPerTask() * tasks
}

// Counts is what a waiting job is told to have so many nodes; nothing when it has them. Where a job gets no more CPUs than its tasks
// need, they need all: each task as many more as the node has. The script does not see that: its variables and those of
// srun stay as its user said.
func (t Terms) Counts(r *output.Record, nodes int) ([]string, error) {
	tasks, cpus := tasksAndCPUs(r, nodes)
	var more []string
	if each := t.cpusForWholeNode(); each > 0 && t.tasksLimitCPUs(r) {
		if err := t.Divided(r); err != nil {
			return nil, err
		}
		cpus = each * nodes
		more = []string{fmt.Sprintf("CPUsPerTask=%d", cpus/tasks)}
	}
	if r.Want == nodes && r.MaxNodes == nodes && (more == nil || r.CPUs == cpus) {
		return nil, nil
	}
	return append([]string{fmt.Sprintf("NumNodes=%d-%d", nodes, nodes), fmt.Sprintf("NumTasks=%d", tasks), fmt.Sprintf("NumCPUs=%d", cpus)}, more...), nil
}

// Divided says, by an error, that the tasks on each node cannot have all of its CPUs among them where that matters.
func (t Terms) Divided(r *output.Record) error {
	on := r.TasksPerNode()
	if each := t.cpusForWholeNode(); each > 0 && t.tasksLimitCPUs(r) && each%on != 0 {
		return fmt.Errorf("its %d tasks on each node do not divide a node's %d CPUs, and this Slurm gives it no more than they need: "+
			"ask for a number that does (--ntasks-per-node)", on, each)
	}
	return nil
}

// tasksLimitCPUs says whether the job gets no more CPUs than its tasks need. With generic resources none does: where it says how many tasks
// it has, Slurm finds that it asks for too much (BadConstraints).
func (t Terms) tasksLimitCPUs(r *output.Record) bool { return t.Site.tasksLimitCPUs || r.WantsGRES() }

// Beside is the allocation by which a job grows by the nodes.
func (t Terms) Beside(job *output.Record, nodes []string, reservation string) Allocation {
	a := Allocation{Parent: job, name: fmt.Sprintf("%s%d", output.GrowPrefix, job.ID), Nodes: nodes, cpus: t.cpusForWholeNode(), expands: true, reservation: reservation}
	switch t.Way.Growth {
	case Overlap:
		if t.Site.Memory {
			a.memory = max(job.MinMemory-coverMemory, 1)
		}
	case Companions:
		a.name, a.expands = fmt.Sprintf("%s%d", output.WithPrefix, job.ID), false
		a.limit, a.gres = remains(job), perNodeOptions(job)
	}
	return a
}

// Shares is the nodes of each allocation by which a job grows: one for each node where allocations can only be ended as a whole, for
// the job may give back some and keep others.
func (t Terms) Shares(nodes []string) [][]string {
	if t.Way.Growth == Companions && t.Site.Trap != "" {
		return slices.Collect(slices.Chunk(nodes, 1))
	}
	return [][]string{nodes}
}

// Rigid says why the job cannot do what it asks for on a cluster where no allocation can be made smaller; "": it can. There it gives
// back companions, and so nothing of what it began with.
func (t Terms) Rigid(r *output.Record) string {
	if t.Site.Trap == "" || adapter.Delegated(&r.Job) { // a part of an application keeps what it has
		return ""
	}
	choices, _ := adapter.ParseRequest(adapter.RequestOf(&r.Job)) // one that cannot be read is refused elsewhere
	for _, ep := range choices {
		if !slices.ContainsFunc(ep, func(s core.Step) bool { return s.Nodes < ep[0].Nodes }) {
			return ""
		}
	}
	return t.Site.Trap + ": here a job can give back only what it grew by, so let its first step have the fewest nodes"
}

// coverMemory is what the expander over all nodes takes of each node's memory, in MB: the least that Slurm gives. A job's own
// nodes have so much more of it after each growth.
const coverMemory = 1

// Cover is an expander of the least memory on nodes that an expander keeps for the job, or on its own too.
func (t Terms) Cover(job, e *output.Record, nodes []string) Allocation {
	return Allocation{Parent: job, name: fmt.Sprintf("%s%d", output.OverPrefix, job.ID), Nodes: nodes, cpus: t.Node.Effective, memory: coverMemory, expands: true, reservation: e.Reservation}
}
