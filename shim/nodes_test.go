package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"accordion/shim/allocation"
)

// published writes a hosts file where the sidecar does, of a cluster that only this test has.
func published(t *testing.T, env environment, text string) {
	t.Helper()
	env["SLURM_CLUSTER_NAME"] = fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name())
	name := allocation.Published(os.Getuid(), env["SLURM_CLUSTER_NAME"], 7)
	if err := os.Mkdir(filepath.Dir(name), 0o700); err == nil {
		t.Cleanup(func() { os.Remove(filepath.Dir(name)) })
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(name) })
}

func TestASilentJobLearnsWhatItHasFromItsHostsFile(t *testing.T) {
	env := inSlurm(t)
	published(t, env, "# generation=2 step=3 steps=4 nodes=3 from=1 until=1800000000\nn1\nn2\nn7\n")
	out := Nodes(t.Context(), env.lookup)
	after := env.after(t, out.Text)
	if out.Status != 0 || out.Says != "job 7: 3 nodes, n[1-2,7]" {
		t.Errorf("status %d: %s", out.Status, out.Says)
	}
	for name, want := range map[string]string{
		"SLURM_JOB_NODELIST": "n[1-2,7]", "SLURM_NNODES": "3", "SLURM_NTASKS": "12", "SLURM_TASKS_PER_NODE": "4(x3)", "ACCORDION_NODELIST": "n[1-2,7]",
		"ACCORDION_STEP": "3", "ACCORDION_STEPS": "4", "ACCORDION_UNTIL": "1800000000", "ACCORDION_GENERATION": "2", "ACCORDION_ALLOCATIONS": "", "HYDRA_LAUNCHER": "",
	} {
		if after[name] != want {
			t.Errorf("%s=%q, want %q", name, after[name], want)
		}
	}
}

func TestASilentJobLearnsOfItsCompanions(t *testing.T) {
	env := inSlurm(t)
	published(t, env, "# generation=2 step=3 steps=4 nodes=4 from=1 until=2\n# allocations 7:n[1-2] 57:n[3,5]\nn1\nn2\nn3\nn5\n")
	after := env.after(t, Nodes(t.Context(), env.lookup).Text)
	for name, want := range map[string]string{
		"SLURM_JOB_NODELIST": "n[1-2]", "SLURM_NTASKS": "8", "ACCORDION_NODELIST": "n[1-3,5]", "ACCORDION_ALLOCATIONS": "7:n[1-2] 57:n[3,5]", "HYDRA_LAUNCHER": "ssh",
	} {
		if after[name] != want {
			t.Errorf("%s=%q, want %q", name, after[name], want)
		}
	}
	if got, err := os.ReadFile(after["HYDRA_HOST_FILE"]); err != nil || string(got) != "n1:4\nn2:4\nn3:4\nn5:4\n" {
		t.Errorf("the hosts of mpiexec: %q, %v", got, err)
	}
}

func TestWithoutAHostsFileTheBatchSystemIsAsked(t *testing.T) {
	env := inSlurm(t)
	env["SLURM_CLUSTER_NAME"] = "of-no-file"
	fakeScontrol(t, `[ "$*" = "show job -d -o 7" ] && echo '`+scontrolLine+`'`)
	out := Nodes(t.Context(), env.lookup)
	if after := env.after(t, out.Text); out.Status != 0 || after["SLURM_NODELIST"] != "n[1-3]" || after["ACCORDION_STEP"] != "" {
		t.Errorf("status %d, %s, text:\n%s", out.Status, out.Says, out.Text)
	}
}

func TestWhatCannotBeKnownIsSaid(t *testing.T) {
	env := inSlurm(t)
	published(t, env, "something else\n")
	if out := Nodes(t.Context(), env.lookup); out.Status != StatusRefused || !strings.Contains(out.Says, "it does not begin as a hosts file") {
		t.Errorf("a wrong file: status %d: %s", out.Status, out.Says)
	}
	nothing := environment{"SLURM_JOB_ID": "7", "SLURM_CLUSTER_NAME": "of-no-file"}
	if out := Nodes(t.Context(), nothing.lookup); out.Status != StatusRefused || out.Text != "(exit 1)\n" {
		t.Errorf("nothing at all: status %d: %s, text %q", out.Status, out.Says, out.Text)
	}
	if out := Nodes(t.Context(), environment{}.lookup); out.Status != StatusUsage {
		t.Errorf("no job: status %d: %s", out.Status, out.Says)
	}
}
