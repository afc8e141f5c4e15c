package slurm_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// A lab of each release works like a lab of the machine's own release. All labs run at the same time. Each can be
// reached from outside, and leaves nothing behind.
func TestEveryReleaseBootsBindsAndGoes(t *testing.T) {
	for _, release := range []string{"20.11", "22.05", "24.11", "26.05"} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			var left traces
			// The name is unique, because the last lab with a user removes that user.
			newcomer := fmt.Sprintf("newcomer-%s-%d", strings.ReplaceAll(release, ".", "-"), os.Getpid())
			t.Run("it runs jobs", func(t *testing.T) {
				lab := lab.Slurm(t, 2, lab.Release(release), lab.Users("alice", newcomer), lab.Fast())
				if !strings.HasPrefix(lab.Slurm, release+".") {
					t.Errorf("it is Slurm %s, want %s", lab.Slurm, release)
				}
				jobsAreBound(t, lab)
				theSubmissionPluginWorks(t, lab)
				clientsReachItFromOutside(t, lab)
				daemonsGoAndComeBack(t, lab)
				lab.Submit(t, newcomer, "cd /; env -i setsid sleep 1000 </dev/null >&/dev/null & disown; exec sleep 1000", "-N2", "-p", "shared")
				left = tracesOf(t, lab, newcomer)
			})
			left.mustBeGone(t)
		})
	}
}

func jobsAreBound(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	if !lab.Binds {
		return
	}
	cores := map[string]bool{}
	for _, task := range rows(lab.Run(t, "alice", "srun", "-Q", "-p", "shared", "-N2", "--ntasks-per-node=2", "--mem=100", "bash", "-c",
		`echo "$SLURMD_NODENAME" $(grep Cpus_allowed_list /proc/self/status)`)) {
		cores[task[0]+":"+task[2]] = true
	}
	if len(cores) != 4 {
		t.Errorf("four tasks on two nodes have the cores %v, want four", cores)
	}
	said := lab.Run(t, "alice", "srun", "-Q", "-p", "shared", "--gres=gpu:1", "bash", "-c",
		`for i in 0 1; do : <"$ACCORDION_LAB/dev/gpu$i"; done 2>&1; true`)
	if first, second, _ := strings.Cut(said, "\n"); !strings.HasSuffix(first, "No such device or address") || !strings.HasSuffix(second, "Operation not permitted") {
		t.Errorf("a job with one GPU opens the first two with: %s", said)
	}
	if _, _, err := lab.Exec("alice", "", "srun", "-Q", "-p", "shared", "--mem=100", "bash", "-c",
		"all=$(head -c 300M /dev/zero | tr '\\0' x); test ${#all} -gt 0"); err == nil {
		t.Error("a job of 100 MB took 300")
	}
}

func theSubmissionPluginWorks(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	id := lab.Submit(t, "alice", "true", "--ep=1x10s,2x10s")
	if got := lab.Run(t, "alice", "squeue", "-h", "-j", id, "-o", "%r"); got != "JobHeldUser" {
		t.Errorf("an evolving job waits for %q, want JobHeldUser", got)
	}
	if _, says, err := lab.Sbatch("alice", "true", "--comment=ep=1y10s"); err == nil || !strings.Contains(says, "1y10s") {
		t.Errorf("a wrong profile: %v: %s", err, says)
	}
	lab.Clear(t)
}

func clientsReachItFromOutside(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", "exec sinfo -h -p main -o '%D %T'")
	c.Env = lab.Env()
	if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "2 idle" {
		t.Errorf("sinfo from outside: %v: %s, want 2 idle", err, out)
	}
}

func daemonsGoAndComeBack(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	id := lab.Submit(t, "alice", "exec sleep 1000", "-p", "shared", "-w", "n1")
	lab.Await(t, time.Minute, "the job runs", func() bool { return lab.Run(t, "alice", "squeue", "-h", "-j", id, "-o", "%t") == "R" })
	lab.Do(t, "ctl-stop", "--kill")
	lab.Do(t, "ctl-start")
	lab.Do(t, "node-kill", "n1")
	lab.Do(t, "node-start", "n1")
	lab.Clear(t)
	lab.Do(t, "status")
}
