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

// An Allocation is what Slurm is asked for beside a running job, in the name of its owner: nodes without steps.
type Allocation struct {
	Parent      *output.Record
	name        string
	Nodes       []string
	cpus        int      // of each node: all that it has; 0: the partition gives whole nodes
	memory      int64    // MB of each node; 0: all of it
	gres        []string // options of salloc
	limit       string   // in Slurm's words; "": what remains of the parent's, which an expander gets
	expands     bool     // it is to be merged into the parent
	reservation string
}

// Arguments is salloc's command line. Everything in it is a separate argument and none begins with what a user chose.
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

// perNodeOptions repeats for salloc what a job asks of each of its nodes: what it asks for each task, for as many tasks as
// it has on a node.
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

// remains is what is left of a running job's limit, as salloc takes it.
func remains(r *output.Record) string {
	if r.Ends() == core.Forever {
		return "UNLIMITED"
	}
	return output.Minutes(r.Ends() - time.Now().Unix())
}

// OwnerAllocates is the release from which on salloc and srun do not let root act for others by --uid.
const OwnerAllocates = 2302
