package slurm_test

import (
	"slices"
	"strconv"
	"testing"

	"accordion/adapter"
	"accordion/slurm"
)

// lists reads all jobs by squeue and by consoles, and judges that both say the same.
func (w *world) lists(squeue bool) {
	w.Helper()
	same := func() bool {
		bySqueue, byList, oneByOne, err := w.sys.BothWays(w.ctx)
		w.ok(err)
		return slices.Equal(bySqueue, byList) && slices.Equal(bySqueue, oneByOne)
	}
	w.lab.Await(w.T, patience, "squeue and scontrol say the same of all jobs", same) // jobs change between two readings
	if w.sys.NeededSqueue() != squeue {
		w.Errorf("the list needed squeue: %v, want %v", w.sys.NeededSqueue(), squeue)
	}
}

func TestAConsoleTellsOfJobsWhatSqueueTells(t *testing.T) {
	w := newWorld(t)
	holder := w.running("n2")
	w.submit(sleeps, "-H", "-N1-3", "-t5")
	w.submit(sleeps, "-n6", "-t5", "--begin=now+5hours", "-J", "two words", "--comment=a b=c")
	w.submit(sleeps, "-N1", "-t1-02:03", "--dependency=afterok:"+w.number(holder.Key))
	w.submit("sleep 600", "-N1", "-t5", "--array=1-9%2", "-p", "shared", "-w", "n3")
	w.submit(sleeps, "-H", "-N1", ":", "-N2")
	w.submit(sleeps, "-N1", "-t5", "-p", "shared,main", "-w", "n2") // waits
	w.submit("true", "-N1", "-t5")                                  // is over soon
	w.lists(false)
	before := w.sys.Clients()
	for range 10 {
		w.observe()
	}
	if n := w.sys.Clients() - before; n > 2 {
		t.Errorf("ten readings took %d programs", n)
	}

	ours := w.evolving()
	w.ok(w.sys.Adopt(w.ctx, ours))
	w.observe() // squeue bears witness of the mark
	w.lists(false)
	if j := w.inspect(ours); j.Mark != adapter.MarkPrefix+"ep=2x1m,5x1m,3x1m" {
		t.Errorf("its mark is %q", j.Mark)
	}

	for _, lie := range []struct {
		what, option string
		squeue       bool // is needed for each list from then on, until Slurm forgets the job
	}{
		{"a mark", "--comment=ep=1x1m AdminComment=accordion:ep=9x9h  StdErr=x", false},
		{"another's field", "--job-name=x JobState=RUNNING", true},
		{"a job that is not", "--job-name=x UserId=root(0) GroupId=root(0)\nJobId=4711 JobName=y", true},
	} {
		key := w.submit(sleeps, "-H", "-N1", "-t5", lie.option)
		w.observe()
		w.lists(lie.squeue)
		if j := w.inspect(key); j.Mark != "" || j.User != "alice" || j.State != adapter.Pending {
			t.Errorf("%s: %+v", lie.what, j)
		}
	}
	if len(slurm.Leaked(w.observe())) > 0 {
		t.Error("nodes are in use by no job")
	}
}

// number is the job's number as the clients want it.
func (w *world) number(key adapter.Key) string { return strconv.FormatInt(int64(key.ID), 10) }
