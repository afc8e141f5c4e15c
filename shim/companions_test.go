package shim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/shim/agent"
	"accordion/shim/wire"
)

// beside returns the sidecar's reply for a job with companions.
func beside(step int, nodes string, allocations ...wire.Allocation) wire.Reply {
	r := sized(step, nodes)
	r.Allocations = allocations
	return r
}

var twoCompanions = []wire.Allocation{{Job: 7, Nodes: "n[1-2]"}, {Job: 57, Nodes: "n[3,5]"}, {Job: 58, Nodes: "n4"}}

func TestTheExportsOfAJobWithCompanions(t *testing.T) {
	env := inSlurm(t)
	out := call(t, env, beside(2, "n[1-5]", twoCompanions...))
	after := env.after(t, out.Text)
	link := filepath.Join(filepath.Dir(after["ACCORDION_HOSTFILE"]), agent.Name)
	want := env.with( // the variables SLURM_* still describe the job's own allocation
		"ACCORDION_ALLOCATIONS", "7:n[1-2] 57:n[3,5] 58:n4",
		"ACCORDION_NODELIST", "n[1-5]",
		"ACCORDION_NNODES", "5",
		"ACCORDION_JOB", "7",
		"ACCORDION_STEP", "2",
		"ACCORDION_STEPS", "9",
		"ACCORDION_UNTIL", "1800000000",
		"ACCORDION_GENERATION", "1",
		"ACCORDION_TASKS", "8/2",
		"ACCORDION_HOSTFILE", after["ACCORDION_HOSTFILE"],
		"HYDRA_LAUNCHER", "ssh",
		"HYDRA_LAUNCHER_EXEC", link,
		"HYDRA_ENV", "none",
		"HYDRA_HOST_FILE", after["HYDRA_HOST_FILE"],
		"OMPI_MCA_plm", "rsh",
		"OMPI_MCA_plm_rsh_agent", link,
		"OMPI_MCA_plm_rsh_no_tree_spawn", "1",
		"OMPI_MCA_plm_rsh_num_concurrent", "128",
		"OMPI_MCA_plm_rsh_pass_environ_mca_params", "0",
		"OMPI_MCA_ras", "^slurm",
		"OMPI_MCA_orte_default_hostfile", after["OMPI_MCA_orte_default_hostfile"],
		"PRTE_MCA_plm", "ssh",
		"PRTE_MCA_plm_ssh_agent", link,
		"PRTE_MCA_plm_ssh_no_tree_spawn", "1",
		"PRTE_MCA_plm_ssh_num_concurrent", "128",
		"PRTE_MCA_plm_ssh_pass_environ_mca_params", "0",
		"PRTE_MCA_ras", "^slurm",
		"PRTE_MCA_prte_default_hostfile", after["OMPI_MCA_orte_default_hostfile"],
	)
	if d := cmp.Diff(want, after); d != "" {
		t.Errorf("the environment (-want +got):\n%s", d)
	}
	for variable, want := range map[string]string{
		"ACCORDION_HOSTFILE":             "n1\nn2\nn3\nn4\nn5\n",
		"HYDRA_HOST_FILE":                "n1:4\nn2:4\nn3:4\nn5:4\nn4:4\n",
		"OMPI_MCA_orte_default_hostfile": "n1 slots=4\nn2 slots=4\nn3 slots=4\nn5 slots=4\nn4 slots=4\n",
	} {
		if got, err := os.ReadFile(after[variable]); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", variable, got, err, want)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Readlink(link); err != nil || got != program {
		t.Errorf("the agent leads to %q, %v; want %s", got, err, program)
	}
	if !strings.Contains(out.Message, "step 2 of 9 begins: 5 nodes, n[1-5]") || strings.Contains(out.Message, ";") {
		t.Errorf("the message is %q", out.Message)
	}
}

func TestExportsForCompanionsEndWithThem(t *testing.T) {
	env := inSlurm(t)
	grown := env.after(t, call(t, env, beside(2, "n[1-5]", twoCompanions...)).Text)
	for name, reply := range map[string]wire.Reply{
		"no allocations": sized(3, "n[1-2]"),
		"one":            beside(3, "n[1-2]", wire.Allocation{Job: 7, Nodes: "n[1-2]"}),
	} {
		after := grown.after(t, call(t, grown, reply).Text)
		for variable := range after {
			for _, prefix := range []string{"HYDRA_", "OMPI_", "PRTE_", "ACCORDION_ALLOCATIONS"} {
				if strings.HasPrefix(variable, prefix) {
					t.Errorf("%s: %s=%s is left", name, variable, after[variable])
				}
			}
		}
		if after["ACCORDION_NODELIST"] != "n[1-2]" || after["SLURM_JOB_NODELIST"] != "n[1-2]" || after["SLURM_NTASKS"] != "8" {
			t.Errorf("%s: %v", name, after)
		}
	}
	// Without companions, the user's own variables for launchers stay unchanged.
	env["HYDRA_HOST_FILE"] = "mine"
	if after := env.after(t, call(t, env, sized(2, "n[1-5]")).Text); after["HYDRA_HOST_FILE"] != "mine" {
		t.Errorf("a user's own HYDRA_HOST_FILE became %q", after["HYDRA_HOST_FILE"])
	}
}

// The job's own allocation has 5 tasks on 2 nodes, and its companions have 2 nodes and 1 node. That makes 13 tasks on 5 nodes.
func TestTheSlotsOfAllNodesAreTheFirstStepsTasks(t *testing.T) {
	env := inSlurm(t).with("SLURM_NTASKS", "5", "SLURM_NPROCS", "5", "SLURM_TASKS_PER_NODE", "3,2")
	after := env.after(t, call(t, env, beside(2, "n[1-5]", twoCompanions...)).Text)
	if got, err := os.ReadFile(after["HYDRA_HOST_FILE"]); err != nil || string(got) != "n1:3\nn2:3\nn3:3\nn5:2\nn4:2\n" {
		t.Errorf("the slots: %q, %v", got, err)
	}
	if after["SLURM_NTASKS"] != "5" || after["ACCORDION_TASKS"] != "5/2" {
		t.Errorf("the job's own: %v", after)
	}
}

func TestImpossibleAllocationsAreRejected(t *testing.T) {
	for name, c := range map[string]struct {
		allocations []wire.Allocation
		messages    string
	}{
		"another job's first": {[]wire.Allocation{{Job: 8, Nodes: "n1"}, {Job: 7, Nodes: "n2"}}, "the sidecar's first allocation is job 8, not this one"},
		"a bad list":          {[]wire.Allocation{{Job: 7, Nodes: "n1"}, {Job: 8, Nodes: "n["}}, "the sidecar's nodes of job 8: "},
	} {
		env := inSlurm(t)
		out := call(t, env, beside(2, "n[1-2]", c.allocations...))
		if !strings.Contains(out.Message, c.messages) {
			t.Errorf("%s: the message is %q, not %q", name, out.Message, c.messages)
		}
		if after := env.after(t, out.Text); after["ACCORDION_ALLOCATIONS"] != "" || after["SLURM_NODELIST"] != "n[1-2]" {
			t.Errorf("%s: %v", name, after)
		}
	}
}

// Without a sidecar, the shim asks Slurm about each companion. One has ended, one has shrunk, and for one Slurm does not answer.
func TestWithoutASidecarTheCompanionsThatStillRunAreDescribed(t *testing.T) {
	env := inSlurm(t)
	grown := env.after(t, call(t, env, beside(2, "n[1-8]", wire.Allocation{Job: 7, Nodes: "n[1-2]"}, wire.Allocation{Job: 57, Nodes: "n[3-4]"},
		wire.Allocation{Job: 58, Nodes: "n[5-6]"}, wire.Allocation{Job: 59, Nodes: "n7"}, wire.Allocation{Job: 60, Nodes: "n8"})).Text)
	line := func(state, nodes string) string {
		return "echo JobId=1 JobName=x JobState=" + state + ` Reason=None "Dependency=(null)" "ReqNodeList=(null)" "ExcNodeList=(null)" NodeList='` + nodes + `' BatchHost=n1 NumNodes=9`
	}
	fakeScontrol(t, `case "$5" in
7) `+line("RUNNING", "n[1-2]")+` ;;
57) `+line("CANCELLED", "n[3-4]")+` ;;
58) `+line("RUNNING", "n6")+` ;;
59) echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1 ;;
*) echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1 ;;
esac`)
	after := grown.after(t, unserved(t, grown).Text)
	if want := "7:n[1-2] 58:n6 60:n8"; after["ACCORDION_ALLOCATIONS"] != want || after["ACCORDION_NODELIST"] != "n[1-2,6,8]" || after["SLURM_NNODES"] != "2" {
		t.Errorf("%s=%q, want %q; %s nodes of %s", "ACCORDION_ALLOCATIONS", after["ACCORDION_ALLOCATIONS"], want, after["SLURM_NNODES"], after["ACCORDION_NODELIST"])
	}
}
