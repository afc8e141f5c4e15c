package growth

import (
	"fmt"
	"strings"
	"testing"

	"accordion/core"
	"accordion/slurm/output"
)

func TestAnAllocationHasAllOptionsOfItsParent(t *testing.T) {
	parent := &output.Record{Account: "physics", MinMemory: 3700, TRESPerNode: "gres:gpu:a100:2,gres:tmp:10G", TRESPerTask: "cpu=2,gres/fpga:1"}
	parent.ID, parent.UID, parent.GID, parent.Partition, parent.QOS = 46, 1001, 100, "main,other", "normal"
	parent.Tasks, parent.Want, parent.Limit = 4, 2, core.Forever
	task := *parent
	last := &task
	last.Array, last.TaskIDs = 46, "3"
	nodes := []string{"n7", "n6"}
	const base = "--no-shell --no-bell --chdir=/ --partition=main,other --job-name=accordion-%s-46 --nodes=%d --nodelist=%s "
	const whose = " --qos=normal --account=physics --reservation=accordion-46-2"
	site := Site{Memory: true}
	own := output.Node{EffectiveCPUs: 8, RealMemory: 4000}
	for _, test := range []struct {
		name string
		a    Allocation
		want string
	}{
		{"an expander in whole nodes", Terms{Way{Merge, ""}, site, "EXCLUSIVE", own}.Allocation(parent, nodes, "accordion-46-2"),
			fmt.Sprintf(base, "grow", 2, "n[6-7]") + "--mem=0 --dependency=expand:46" + whose},
		{"an expander that makes its nodes whole", Terms{Way{Merge, ""}, site, "NO", own}.Allocation(parent, nodes, "accordion-46-2"),
			fmt.Sprintf(base, "grow", 2, "n[6-7]") + "--mem=0 --mincpus=8 --dependency=expand:46" + whose},
		{"the one with the memory", Terms{Way{Overlap, ""}, site, "YES:2", own}.Allocation(parent, nodes, "accordion-46-2"),
			fmt.Sprintf(base, "grow", 2, "n[6-7]") + "--mem=3699 --mincpus=8 --dependency=expand:46" + whose},
		{"an expander of an array's last task", Terms{Way{Overlap, ""}, site, "YES:2", own}.Allocation(last, nodes, "accordion-46-2"),
			fmt.Sprintf(base, "grow", 2, "n[6-7]") + "--mem=3699 --mincpus=8 --dependency=expand:46_3" + whose},
		{"the one that covers it", Terms{Way{Overlap, ""}, site, "YES:2", own}.Cover(last, &output.Record{}, nodes),
			fmt.Sprintf(base, "over", 2, "n[6-7]") + "--mem=1 --mincpus=8 --dependency=expand:46_3 --qos=normal --account=physics"},
		{"a companion", Terms{Way{Companions, ""}, site, "YES:2", own}.Allocation(parent, nodes, "accordion-46-2"),
			fmt.Sprintf(base, "with", 2, "n[6-7]") + "--mem=0 --mincpus=8 --time=UNLIMITED" + whose + " --gres=gpu:a100:2,tmp:10737418240,fpga:2"},
	} {
		if got := strings.Join(test.a.Arguments(), " "); got != test.want {
			t.Errorf("%s:\ngot  salloc %s\nwant salloc %s", test.name, got, test.want)
		}
	}
}

func TestTasksAndCPUsFollowTheNodes(t *testing.T) {
	for _, c := range []struct{ want, tasks, cpus, nodes, newTasks, newCPUs int }{
		{1, 4, 4, 2, 8, 8}, {3, 6, 6, 5, 10, 10}, {2, 2, 8, 5, 5, 20}, {4, 16, 16, 1, 4, 4}, {3, 7, 7, 2, 6, 6}, {0, 0, 0, 2, 2, 2},
	} {
		r := &output.Record{}
		r.Want, r.Tasks, r.CPUs = c.want, c.tasks, c.cpus
		if tasks, cpus := tasksAndCPUs(r, c.nodes); tasks != c.newTasks || cpus != c.newCPUs {
			t.Errorf("%+v: %d tasks and %d CPUs", c, tasks, cpus)
		}
	}
}

func TestAJobHasAllCPUsOfItsNodesOnEveryRelease(t *testing.T) {
	for _, test := range []struct {
		name              string
		release           int
		in                output.Sharing
		want, tasks, cpus int
		nodes             int
		counts            string // the counts, or the reason why the number of nodes is refused
		gres              string
	}{
		{"22.05 does as it is asked", 2205, "YES:2", 1, 1, 1, 3, "NumNodes=3-3 NumTasks=3 NumCPUs=3", ""},
		{"24.11 gives what tasks need", 2411, "YES:2", 1, 1, 1, 3, "NumNodes=3-3 NumTasks=3 NumCPUs=24 CPUsPerTask=8", ""},
		{"several tasks on a node", 2605, "NO", 2, 8, 8, 2, "NumNodes=2-2 NumTasks=8 NumCPUs=16 CPUsPerTask=2", ""},
		{"it has all of them", 2411, "YES:2", 2, 16, 16, 2, "", ""},
		{"whole nodes", 2411, "EXCLUSIVE", 1, 1, 1, 3, "NumNodes=3-3 NumTasks=3 NumCPUs=3", ""},
		{"tasks that do not divide them", 2411, "YES:2", 1, 3, 3, 2, "its 3 tasks on each node do not divide a node's 8 CPUs", ""},
		{"GPUs on 22.05", 2205, "YES:2", 1, 1, 1, 3, "NumNodes=3-3 NumTasks=3 NumCPUs=24 CPUsPerTask=8", "gres:gpu:1"},
	} {
		r := &output.Record{MaxNodes: test.want, TRESPerNode: test.gres}
		r.Want, r.Tasks, r.CPUs = test.want, test.tasks, test.cpus
		s := SiteOf(output.Configuration{"SLURM_VERSION": fmt.Sprintf("%d.%02d.1", test.release/100, test.release%100)})
		counts, err := Terms{Site: s, In: test.in, Node: output.Node{EffectiveCPUs: 8}}.Counts(r, test.nodes)
		got := strings.Join(counts, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.counts) || test.counts == "" && got != "" {
			t.Errorf("%s: %s, want %s", test.name, got, test.counts)
		}
	}
}

func TestOnlyJobsThatShrinkAreRigidIfAllocationsCannotShrink(t *testing.T) {
	terms := Terms{Site: Site{Trap: "allocations cannot be made smaller"}}
	for comment, rigid := range map[string]bool{"ep=2x1m,5x1m": false, "ep=5x1m,2x1m": true, "launch=7": false} {
		r := &output.Record{}
		r.Comment = comment
		if why := terms.Rigid(r); (why != "") != rigid {
			t.Errorf("%s: %q", comment, why)
		}
	}
}
