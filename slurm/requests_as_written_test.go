package slurm_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// scratch gives the nodes of a lab without GPUs a generic resource counted in gigabytes, as sites do with their local
// disks.
const scratch = "GresTypes=gpu,tmp\nNodeName=n[1-2] Gres=tmp:350G"

// assertRequestsAsWritten runs two jobs that write numbers as many public scripts do. One job requests
// --gres=tmp:10G. It starts, and grows by companions with the same amount per node. The other job has -c 1, which
// Slurm since 23.11 prints as cpu=1 among the resources of each task. It grows like any job without generic
// resources, and its srun runs on all of its nodes.
func assertRequestsAsWritten(t *testing.T, lab *lab.SlurmLab) {
	lab.Clear(t)
	lab.Do(t, "serve")
	const grows = "#EP 1x10s,2x14s\nsleep 2\neval \"$(accordion step)\"\n"
	disk := lab.Submit(t, "alice", grows+"accordion run sh -c 'echo on $SLURMD_NODENAME'\naccordion explain $SLURM_JOB_ID\nsleep 4", "--gres=tmp:10G")
	cpus := lab.Submit(t, "bob", grows+"srun sh -c 'echo on $SLURMD_NODENAME'\naccordion explain $SLURM_JOB_ID\nsleep 4", "-c1", "-Cfat")
	for _, job := range []struct {
		id, user   string
		companions bool
		nodes      []string
	}{{disk, "alice", true, []string{"on n1", "on n2"}}, {cpus, "bob", false, []string{"on n3", "on n4"}}} {
		said := ""
		lab.Await(t, 2*time.Minute, "job "+job.id+" tells on which nodes it runs, and how it grows", func() bool {
			said = outputOf(lab, job.user, job.id)
			return strings.Contains(said, "It grows by")
		})
		var nodes []string
		for line := range strings.Lines(said) {
			if strings.HasPrefix(line, "on n") {
				nodes = append(nodes, strings.TrimSpace(line))
			}
		}
		slices.Sort(nodes)
		nodes = slices.Compact(nodes) // the srun of 20.11 starts a task on each CPU, so a node may occur several times
		if !slices.Equal(nodes, job.nodes) {
			t.Errorf("job %s runs %q, want %q\n%s", job.id, nodes, job.nodes, said)
		}
		if got := strings.Contains(said, "It grows by companions"); got != job.companions {
			t.Errorf("job %s grows by companions: %t\n%s", job.id, got, said)
		}
	}
	held := retryAs(t, lab, "root", "squeue", "-h", "-o", "%j")
	if !strings.Contains(held, companionName(disk)) || strings.Contains(held, companionName(cpus)) {
		t.Errorf("want companions of job %s and none of job %s among\n%s", disk, cpus, held)
	}
}
