package growth

import (
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output"
)

// Terms describe how one job grows on this cluster, and what the job needs on its nodes.
type Terms struct {
	Way  Way
	Site Site
	In   output.Sharing // how jobs share nodes in the job's partition
	Node output.Node    // what each node of the job has for jobs
}

// cpusForWholeNode returns how many CPUs of a node must be requested to get the whole node, or 0 if every job gets
// whole nodes.
func (t Terms) cpusForWholeNode() int {
	if t.In.WholeNodes() {
		return 0
	}
	return t.Node.EffectiveCPUs
}

// Growths returns the maximum number of growths of a job, which is 0 for an ordinary job.
func Growths(r *output.Record) int {
	most := 0
	choices, _ := adapter.ParseRequest(adapter.RequestOf(&r.Job)) // an ordinary job has no choices
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

// Spare returns how much memory, in MB, is left unallocated on each node for the expanders of a job's growths. Each
// expander takes 1 MB on the job's own nodes. A growth that fails is repeated with another expander.
func Spare(r *output.Record) int64 { return int64(max(64, 8*Growths(r))) }

// SharingSettings returns the settings, other than the size, that a waiting job needs so that it shares its nodes
// with no other job and can grow.
func (t Terms) SharingSettings(r *output.Record) []string {
	var all []string
	if cpus := t.cpusForWholeNode(); cpus > 0 {
		all = append(all, fmt.Sprintf("MinCPUsNode=%d", cpus))
	}
	switch {
	case t.Way.Growth == Overlap:
		if t.Site.Memory {
			all = append(all, fmt.Sprintf("MinMemoryNode=%d", t.Node.JobMemory()-Spare(r)))
		}
		all = append(all, "OverSubscribe=YES")
	case t.Way.Growth == Merge && !t.In.WholeNodes():
		all = append(all, "OverSubscribe=NO") // Slurm may count cores of merged nodes as free; only this setting prevents other jobs from using them
	}
	return all
}

// tasksAndCPUs returns a job's tasks and CPUs on the given number of nodes.
func tasksAndCPUs(r *output.Record, nodes int) (tasks, cpus int) {
	tasks = r.TasksPerNode() * nodes
	return tasks, r.CPUsPerTask() * tasks
}

// Counts returns the settings that give a waiting job the number of nodes. It returns none if the job already
// requests that number. On a site where a job gets only the CPUs that its tasks need, each task requests its share
// of all CPUs of a node. The environment variables of the script and of srun do not change.
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

// Divided returns an error if tasks limit the job's CPUs and the tasks on each node cannot share all of the node's
// CPUs evenly.
func (t Terms) Divided(r *output.Record) error {
	on := r.TasksPerNode()
	if each := t.cpusForWholeNode(); each > 0 && t.tasksLimitCPUs(r) && each%on != 0 {
		return fmt.Errorf("its %d tasks on each node do not divide a node's %d CPUs, and this Slurm gives it no more than they need: "+
			"ask for a number that does (--ntasks-per-node)", on, each)
	}
	return nil
}

// tasksLimitCPUs reports whether the job gets only the CPUs that its tasks need. It is always true for a job with
// generic resources. If such a job states its number of tasks, Slurm decides that the job requests too much
// (BadConstraints).
func (t Terms) tasksLimitCPUs(r *output.Record) bool { return t.Site.tasksLimitCPUs || r.WantsGRES() }

// Allocation returns the allocation by which a job grows by `nodes`.
func (t Terms) Allocation(job *output.Record, nodes []string, reservation string) Allocation {
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

// Shares splits the nodes into the allocations by which a job grows. If an allocation can only be ended as a whole,
// each node gets its own allocation. Then the job can release some nodes and keep others.
func (t Terms) Shares(nodes []string) [][]string {
	if t.Way.Growth == Companions && t.Site.Trap != "" {
		return slices.Collect(slices.Chunk(nodes, 1))
	}
	return [][]string{nodes}
}

// Rigid returns why the job cannot change its size as requested, or "" if it can. The reason can only be that this
// cluster cannot make an allocation smaller. On such a cluster a job can release its companions, but none of its
// first nodes.
func (t Terms) Rigid(r *output.Record) string {
	if t.Site.Trap == "" || adapter.Delegated(&r.Job) { // a part of an application keeps its size
		return ""
	}
	choices, _ := adapter.ParseRequest(adapter.RequestOf(&r.Job)) // unreadable requests are refused elsewhere
	for _, ep := range choices {
		if !slices.ContainsFunc(ep, func(s core.Step) bool { return s.Nodes < ep[0].Nodes }) {
			return ""
		}
	}
	return t.Site.Trap + ": here a job can give back only what it grew by, so let its first step have the fewest nodes"
}

// coverMemory is the memory, in MB, that the expander over all nodes takes on each node. It is the least that Slurm
// allocates. Each growth adds it to the memory of the job's own nodes.
const coverMemory = 1

// Cover returns an expander with the least memory. Its nodes are those that expander `e` keeps for the job, or
// those and the job's own nodes.
func (t Terms) Cover(job, e *output.Record, nodes []string) Allocation {
	return Allocation{Parent: job, name: fmt.Sprintf("%s%d", output.OverPrefix, job.ID), Nodes: nodes, cpus: t.Node.EffectiveCPUs, memory: coverMemory, expands: true, reservation: e.Reservation}
}
