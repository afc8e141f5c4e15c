package shim

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"accordion/internal/testenv"
	"accordion/shim/allocation"
)

// published writes a hosts file where the sidecar writes it, for a cluster that only this test uses.
func published(t *testing.T, env environment, text string) {
	t.Helper()
	env["SLURM_CLUSTER_NAME"] = fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name())
	name := allocation.Published(env["SLURM_CLUSTER_NAME"], 7)
	if err := os.Mkdir(filepath.Dir(name), 0o700); err == nil {
		t.Cleanup(func() { os.Remove(filepath.Dir(name)) })
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(name) })
}

func TestNodesDescribesTheHostsFile(t *testing.T) {
	env := inSlurm(t)
	published(t, env, "# generation=2 step=3 steps=4 nodes=3 from=1 until=1800000000\nn1\nn2\nn7\n")
	out := Nodes(t.Context(), env.lookup)
	after := env.after(t, out.Text)
	if out.Status != 0 || out.Message != "job 7: 3 nodes, n[1-2,7]" {
		t.Errorf("status %d: %s", out.Status, out.Message)
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

// Another user has made the usual folder. The file is in a private one, and the job gets its path. Only root can set
// this up in /tmp.
func TestHostsFileIsFoundInThePrivateFolder(t *testing.T) {
	const victim, attacker, variable = 64303, 64304, "ACCORDION_TEST_SILENT"
	env := environment{"SLURM_JOB_ID": "7", "SLURM_CLUSTER_NAME": "silent"}
	if want := os.Getenv(variable); want != "" {
		if out := HostsFile(env.lookup); out.Status != StatusResized || out.Text != want+"\n" {
			t.Errorf("status %d, %s: %q, want %s", out.Status, out.Message, out.Text, want)
		}
		if after := env.after(t, Nodes(t.Context(), env.lookup).Text); after[variableHosts] != want || after["ACCORDION_NODELIST"] != "n[1-2]" {
			t.Errorf("%s=%q, want %q", variableHosts, after[variableHosts], want)
		}
		return
	}
	testenv.Needs(t, testenv.Root)
	usual := fmt.Sprintf("/tmp/accordion-%d", victim)
	shared, err := os.MkdirTemp("", "shim")
	self, unread := os.ReadFile(os.Args[0])
	private := usual + ".abc"
	t.Cleanup(func() {
		for _, dir := range []string{shared, usual, usual + ".aaa", private} {
			os.RemoveAll(dir)
		}
	})
	text := []byte("# generation=2 step=1 steps=2 nodes=2 from=1 until=2\nn1\nn2\n")
	forged := []byte("# generation=2 step=1 steps=2 nodes=1 from=1 until=2\nevil\n")
	err = errors.Join(err, unread, os.Chmod(shared, 0o755), os.WriteFile(filepath.Join(shared, "test"), self, 0o755))
	for dir, owner := range map[string]int{usual: attacker, usual + ".aaa": attacker, private: victim} {
		file := filepath.Join(dir, "silent-7.hosts")
		if err = errors.Join(err, os.Mkdir(dir, 0o755), os.WriteFile(file, forged, 0o644), os.Chown(dir, owner, owner)); owner == victim {
			err = errors.Join(err, os.WriteFile(file, text, 0o644))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), filepath.Join(shared, "test"), "-test.run=^"+t.Name()+"$")
	run.Env, run.Dir = []string{variable + "=" + filepath.Join(private, "silent-7.hosts"), "PATH=" + os.Getenv("PATH"), "TMPDIR=/tmp"}, "/"
	run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: victim, Gid: victim}}
	if source, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, source)
	}
}

func TestNodesDescribesCompanions(t *testing.T) {
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
		t.Errorf("status %d, %s, text:\n%s", out.Status, out.Message, out.Text)
	}
}

func TestUnknownNodesAreReported(t *testing.T) {
	env := inSlurm(t)
	published(t, env, "something else\n")
	if out := Nodes(t.Context(), env.lookup); out.Status != StatusRefused || !strings.Contains(out.Message, "it does not begin like a hosts file") {
		t.Errorf("a wrong file: status %d: %s", out.Status, out.Message)
	}
	nothing := environment{"SLURM_JOB_ID": "7", "SLURM_CLUSTER_NAME": "of-no-file"}
	if out := Nodes(t.Context(), nothing.lookup); out.Status != StatusRefused || out.Text != "(exit 1)\n" {
		t.Errorf("nothing at all: status %d: %s, text %q", out.Status, out.Message, out.Text)
	}
	if out := Nodes(t.Context(), environment{}.lookup); out.Status != StatusUsage {
		t.Errorf("no job: status %d: %s", out.Status, out.Message)
	}
}
