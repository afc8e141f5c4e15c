package growth

import (
	"fmt"
	"strings"
	"time"

	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/number"
	"accordion/slurm/output"
)

// An Allocation describes an allocation of nodes that the sidecar requests for a running job, as the job's owner.
// The allocation has no steps.
type Allocation struct {
	Parent      *output.Record
	name        string
	Nodes       []string
	cpus        int      // all CPUs of each node; 0 if the partition gives whole nodes
	memory      int64    // MB on each node; 0 means all of the memory
	gres        []string // options of salloc for generic resources
	limit       string   // in the format of salloc --time; "" if an expander gets what remains of its parent's limit
	expands     bool     // the allocation will be merged into the parent
	reservation string
}

// Arguments returns salloc's arguments. None of them begins with a text that a user chose.
func (a Allocation) Arguments() []string {
	args := []string{
		"--no-shell", "--no-bell", "--chdir=/", "--partition=" + a.Parent.Partition, "--job-name=" + a.name,
		fmt.Sprintf("--nodes=%d", len(a.Nodes)), "--nodelist=" + hostlist.Compact(a.Nodes), fmt.Sprintf("--mem=%d", a.memory),
	}
	if a.cpus > 0 {
		args = append(args, fmt.Sprintf("--mincpus=%d", a.cpus))
	}
	if a.expands {
		args = append(args, "--dependency=expand:"+a.Parent.ExpandName())
	}
	for _, option := range [][2]string{{"--time=", a.limit}, {"--qos=", a.Parent.QOS}, {"--account=", a.Parent.Account}, {"--reservation=", a.reservation}} {
		if option[1] != "" {
			args = append(args, option[0]+option[1])
		}
	}
	return append(args, a.gres...)
}

// perNodeOptions returns salloc's options for the generic resources that a job requests on each of its nodes.
// Resources requested for each task are multiplied by the number of tasks on a node.
func perNodeOptions(r *output.Record) []string {
	each := r.TasksPerNode()
	var options []string
	for _, list := range []struct {
		text  string
		times int
	}{{r.TRESPerNode, 1}, {r.TRESPerTask, each}} {
		for r := range number.Resources(list.text) {
			if r.Kind == number.Device && r.Count > 0 {
				options = append(options, fmt.Sprintf("%s:%d", r.Name, r.Count*int64(list.times)))
			}
		}
	}
	if len(options) == 0 {
		return nil
	}
	return []string{"--gres=" + strings.Join(options, ",")}
}

// remains returns what remains of a running job's time limit, in the format of salloc --time.
func remains(r *output.Record) string {
	if r.Ends() == core.Forever {
		return "UNLIMITED"
	}
	return output.Minutes(r.Ends() - time.Now().Unix())
}

// OwnerAllocates is the first release whose salloc and srun do not let root act for other users by --uid.
const OwnerAllocates = 2302
