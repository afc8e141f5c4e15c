package slurm_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/slurm"
)

// lists reads all jobs by squeue and by consoles, and judges that both say the same.
func (w *world) lists() {
	w.Helper()
	same := func() bool {
		bySqueue, byList, oneByOne, err := w.sys.BothWays(w.ctx)
		w.ok(err)
		return slices.Equal(bySqueue, byList) && slices.Equal(bySqueue, oneByOne)
	}
	w.lab.Await(w.T, patience, "squeue and scontrol say the same of all jobs", same) // jobs change between two readings
}

// cheap judges that readings take no programs.
func (w *world) cheap() {
	w.Helper()
	before := w.sys.Clients()
	for range 10 {
		w.observe()
	}
	if n := w.sys.Clients() - before; n > 2 { // consoles that are old
		w.Errorf("ten readings took %d programs", n)
	}
}

func TestAConsoleTellsOfJobsWhatSqueueTells(t *testing.T) {
	w := newWorld(t)
	holder := w.running("n2")
	w.submit(sleeps, "-H", "-N1-3", "-t5")
	w.submit(sleeps, "-n6", "-t5", "--begin=now+5hours", "-J", "two words", "--comment=a b=c", "--nice=7")
	w.submit(sleeps, "-N1", "-t1-02:03", "--dependency=afterok:"+w.number(holder.Key))
	w.submit("sleep 600", "-N1", "-t5", "--array=1-9%2", "-p", "shared", "-w", "n3", "--mem-per-cpu=10")
	w.submit(sleeps, "-H", "-N1", ":", "-N2")
	w.submit(sleeps, "-N1", "-t5", "-p", "shared,main", "-w", "n2") // waits
	w.submit(sleeps, "-H", "-N2", "-t5", "--mincpus=3", "--mem=123", "-p", "shared", "--oversubscribe")
	w.submit("true", "-N1", "-t5") // is over soon
	w.lab.Run(t, "alice", "salloc", "-Q", "-N1", "-n1", "-t5", "-p", "shared", "-w", "n4", "--no-shell", "--comment=by hand")
	suspended := w.running("n5")
	w.lab.Run(t, "root", "scontrol", "suspend", w.number(suspended.Key))
	w.lists()
	w.cheap()

	ours := w.evolving()
	w.ok(w.sys.Adopt(w.ctx, ours))
	w.lists()
	w.cheap()
	if j := w.inspect(ours); j.Mark != adapter.MarkPrefix+"ep=2x1m,5x1m,3x1m" {
		t.Errorf("its mark is %q", j.Mark)
	}

	whole := "x UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=5 Nice=0 Account=a QOS=b JobState=RUNNING"
	for _, lie := range []struct{ what, option string }{
		{"a mark", "--comment=ep=1x1m AdminComment=accordion:ep=9x9h  StdErr=x"},
		{"another's field", "--job-name=x JobState=RUNNING Partition=y"},
		{"an owner", "--job-name=" + whole},
		{"an account of many fields", "--account=q|w QOS=e"},
		{"a reservation", "--cluster-constraint= x Reservation=accordion-1-1"},
		{"a label", "--mcs-label= Priority=5 Nice=0 Account=x"},
		{"a job that is not", "--job-name=" + whole + "\nJobId=4711 JobName=y"},
		{"a job that is", "--job-name=" + whole + "\nJobId=" + w.number(holder.Key) + " JobName=wrap"},
		{"all of it", "--comment= Partition=" + strings.Repeat("a UserId=b(1) AllocNode:Sid=c ReqNodeList=d ExcNodeList=e NodeList=n1 NumNodes=9 NumCPUs=9 NumTasks=9 CPUs/Task=9 "+
			"MinCPUsNode=1 MinTmpDiskNode=0 Features=f DelayBoot=0 OverSubscribe=NO Contiguous=0 Licenses=x Network=y Command=z WorkDir=w", 2)},
	} {
		key := w.submit(sleeps, "-H", "-N1", "-t5", lie.option)
		w.observe()
		w.lists()
		if j := w.inspect(key); j.Mark != "" || j.User != "alice" || j.State != adapter.Pending || j.Reservation != "" {
			t.Errorf("%s: %+v", lie.what, j)
		}
	}
	w.cheap()
	if len(slurm.Leaked(w.observe())) > 0 {
		t.Error("nodes are in use by no job")
	}
}

// number is the job's number as the clients want it.
func (w *world) number(key adapter.Key) string { return strconv.FormatInt(int64(key.ID), 10) }
