package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"accordion/core/hostlist"
	"accordion/shim/allocation"
)

// slurm is a job under Slurm. srun takes the size of a job from the environment of the batch script, which Slurm wrote
// when the job began. The shim changes that environment, so later steps use the present size.
type slurm struct{}

var _ system = slurm{}

func (slurm) described(env Getenv) []string {
	for _, name := range []string{"SLURM_JOB_NODELIST", "SLURM_NODELIST"} {
		if nodes, err := hostlist.Expand(env.get(name)); err == nil && len(nodes) > 0 {
			return nodes
		}
	}
	return nil
}

func (slurm) ask(ctx context.Context, id int64) ([]string, error) {
	j, err := allocation.Show(ctx, id)
	switch {
	case errors.Is(err, allocation.ErrUnknown):
		return nil, fmt.Errorf("%w: %w", errEnded, err)
	case err != nil:
		return nil, err
	case !j.Runs():
		return nil, fmt.Errorf("%w: it is %s", errEnded, j.State)
	}
	return j.Nodes, nil
}

func (s slurm) export(text *script, j job, has holding) (messages []string) {
	before, nodes := s.described(j.env), has.own()
	count, list := strconv.Itoa(len(nodes)), hostlist.Compact(nodes)
	text.export("SLURM_NNODES", count)
	text.export("SLURM_JOB_NUM_NODES", count)
	text.export("SLURM_NODELIST", list)
	text.export("SLURM_JOB_NODELIST", list)
	if cpus := cpusPerNode(j.env.get("SLURM_JOB_CPUS_PER_NODE"), before, nodes); cpus != nil {
		text.export("SLURM_JOB_CPUS_PER_NODE", cpus.String())
	}
	exportTasks(text, j, firstTasks(j, len(before)), len(nodes))

	// SLURM_HOSTFILE is the user's own list of hosts, one for each task. srun refuses the list if it has fewer lines than there are tasks,
	// or contains a node that the job no longer has.
	if _, set := j.env("SLURM_HOSTFILE"); set && !sameSet(before, nodes) {
		text.unset("SLURM_HOSTFILE")
		if j.env.get("SLURM_DISTRIBUTION") == "arbitrary" { // without the file, "arbitrary" has no meaning
			text.unset("SLURM_DISTRIBUTION")
		}
		messages = append(messages, "SLURM_HOSTFILE contained the previous nodes and is unset; "+variableHostfile+" lists the present ones")
	}
	return append(messages, exportCompanions(text, j, has.allocations, firstTasks(j, len(before)))...)
}

// sameSet reports whether two lists have the same nodes. `after` is sorted.
func sameSet(before, after []string) bool {
	sorted := slices.Clone(before)
	hostlist.Sort(sorted)
	return slices.Equal(sorted, after)
}

// cpusPerNode returns the numbers of CPUs of the nodes that the job has now. Nodes that stay keep their numbers. The numbers of new nodes
// are unknown, so these nodes get the smallest known number. It returns nil if the old numbers do not match the old nodes.
func cpusPerNode(text string, before, after []string) allocation.Counts {
	known, ok := allocation.ParseCounts(text)
	if !ok || len(known) != len(before) {
		return nil
	}
	of := make(map[string]int, len(before))
	for i, node := range before {
		of[node] = known[i]
	}
	smallest := slices.Min(known)
	c := make(allocation.Counts, len(after))
	for i, node := range after {
		if c[i], ok = of[node]; !ok {
			c[i] = smallest
		}
	}
	return c
}

// exportTasks scales the number of tasks with the number of nodes: `sbatch -N2 -n8` has 4 tasks per node, and 20 on 5
// nodes. It always scales from the first step, so that rounding errors do not add up.
func exportTasks(text *script, j job, ratio allocation.Ratio, after int) {
	if ratio == (allocation.Ratio{}) {
		return
	}
	text.export(variableTasks, ratio.String())
	scaled := ratio.On(after)
	for _, name := range []string{"SLURM_NTASKS", "SLURM_NPROCS"} {
		if _, set := j.env(name); set {
			text.export(name, strconv.Itoa(scaled))
		}
	}
	if _, set := j.env("SLURM_TASKS_PER_NODE"); set {
		text.export("SLURM_TASKS_PER_NODE", allocation.Spread(scaled, after).String())
	}
}

// firstTasks returns the number of tasks and nodes of the first step, or the zero value if the job has requested no number of tasks.
func firstTasks(j job, described int) allocation.Ratio {
	if r, ok := allocation.ParseRatio(j.own(variableTasks)); ok {
		return r
	}
	if described == 0 {
		return allocation.Ratio{}
	}
	for _, name := range []string{"SLURM_NTASKS", "SLURM_NPROCS"} {
		if n, ok := allocation.Positive(j.env.get(name)); ok {
			return allocation.Ratio{Tasks: n, Nodes: described}
		}
	}
	if c, ok := allocation.ParseCounts(j.env.get("SLURM_TASKS_PER_NODE")); ok {
		return allocation.Ratio{Tasks: c.Sum(), Nodes: described}
	}
	return allocation.Ratio{}
}
