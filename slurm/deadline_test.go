package slurm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/internal/lab"
)

func TestAJobWithADeadlineIsNeverPlannedAfterIt(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "")
	p := serving(t, lab, manyClients)
	submitImpossible(t, lab)

	// This job can only just end by its deadline. It starts with a shorter limit than usual, because Slurm would
	// reject the usual limit.
	tight := lab.Submit(t, "alice", "#EP 1x20s\nsleep 2", "--deadline=now+80seconds")
	lab.Await(t, time.Minute, "the job that can just end in time has ended", func() bool { return state(t, lab, tight) == "COMPLETED" })

	lab.Submit(t, "alice", "sleep 40", fmt.Sprintf("-N%d", lab.Nodes), "-p", "shared", "-t2")
	lab.Await(t, time.Minute, "an ordinary job has all nodes", func() bool {
		return retryAs(t, lab, "root", "squeue", "-h", "-t", "R", "-o", "%D") == fmt.Sprint(lab.Nodes)
	})
	late := lab.Submit(t, "bob", "#EP 1x20s,2x20s\ntrue", "--deadline=now+80seconds") // the job would have to start within 20 s
	wide := lab.Submit(t, "bob", "#EP 1x20s\nsleep 1", "--deadline=now+10minutes")
	lab.Await(t, time.Minute, "the sidecar knows that the job cannot end in time", func() bool {
		v := p.view(late)
		return v != nil && strings.HasPrefix(v.Why, view.TooLate) && v.Start == 0 && v.Latest > 0
	})
	if text := p.accordion("explain", late); !strings.Contains(text, "would have to start by") {
		t.Errorf("accordion explain prints\n%s", text)
	}
	if all := reservations(t, lab); strings.Contains(all, adapter.Prefix+late+"-") {
		t.Errorf("the job has a reservation: %s", all)
	}
	lab.Await(t, time.Minute, "Slurm has ended the job for its deadline", func() bool { return state(t, lab, late) == "DEADLINE" })
	if refused := p.events(late, "refused"); len(refused) != 1 || !strings.Contains(refused[0].Text, "cannot end by its deadline") {
		t.Errorf("the journal has %v", refused)
	}
	lab.Await(t, 2*time.Minute, "the job with time to spare has ended", func() bool { return state(t, lab, wide) == "COMPLETED" })
	assertClean(t, p)
}

// submitImpossible submits a job that cannot end by its deadline, however soon it starts. Slurm must report that
// immediately: on some releases sbatch rejects the job, on others the job's state becomes DEADLINE.
func submitImpossible(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	job, said, err := lab.Sbatch("alice", "#EP 1x20s,2x20s\nsleep 600", "--deadline=now+30seconds")
	if err != nil {
		if !strings.Contains(said, "time limit") {
			t.Errorf("sbatch says %q", said)
		}
		return
	}
	lab.Await(t, time.Minute, "Slurm has ended the job that cannot end in time", func() bool {
		return retryAs(t, lab, "root", "sacct", "-X", "-n", "-P", "-j", job, "-o", "State") == "DEADLINE"
	})
}
