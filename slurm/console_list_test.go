package slurm_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/internal/lab"
	"accordion/slurm"
	"accordion/slurm/output"
)

// assertReadingsAgree checks that squeue and consoles report the same about all jobs.
func (w *world) assertReadingsAgree() {
	w.Helper()
	same := func() bool {
		bySqueue, byList, oneByOne, err := w.sys.BothWays(w.ctx)
		w.ok(err)
		return slices.Equal(bySqueue, byList) && slices.Equal(bySqueue, oneByOne)
	}
	w.lab.Await(w.T, patience, "squeue and scontrol agree on all jobs", same) // jobs may change between the two readings
}

// assertFewPrograms checks that readings start almost no programs.
func (w *world) assertFewPrograms() {
	w.Helper()
	before := w.sys.Clients()
	for range 10 {
		w.observe()
	}
	if n := w.sys.Clients() - before; n > 2 { // to replace old consoles
		w.Errorf("ten readings took %d programs", n)
	}
}

func TestAConsoleTellsOfJobsWhatSqueueTells(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ordinaryJobs()
	w.adoptOne()
	if _, said, err := w.lab.Sbatch("alice", sleeps, "--account=q|w QOS=e"); err == nil || !strings.Contains(said, "Invalid account") {
		t.Errorf("with associations enforced an unknown account is accepted: %v: %s", err, said)
	}
	w.submitForgeries()
	w.assertFewPrograms()
	if len(slurm.Leaked(w.observe())) > 0 {
		t.Error("nodes are in use by no job")
	}
}

// If associations are not enforced, the account is another text that users choose freely.
func TestAConsoleTellsOfJobsWithFreeAccountsWhatSqueueTells(t *testing.T) {
	t.Parallel()
	w := worldOn(t, lab.Slurm(t, 6, lab.Plain(), lab.Users("alice"), lab.Fast(), lab.NoPlugin()))
	w.submitForgery("an account of many fields", "--account=q|w QOS=e")
	w.submitForgery("an account that is an owner", "--account="+forgedHead)
	w.submitForgeries()
	w.assertFewPrograms()
}

// worldOn does what newWorld does, on the given lab.
func worldOn(t *testing.T, lab *lab.SlurmLab) *world {
	t.Helper()
	sys, err := slurm.New(slurm.Config{Partitions: []string{"main"}, Conf: lab.Conf(), Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sys.Close)
	return &world{T: t, lab: lab, sys: sys, ctx: t.Context()}
}

// ordinaryJobs submits one job of each kind.
func (w *world) ordinaryJobs() {
	w.Helper()
	holder := w.running("n2")
	w.submit(sleeps, "-H", "-N1-3", "-t5")
	w.submit(sleeps, "-n6", "-t5", "--begin=now+5hours", "-J", "two words", "--comment=a b=c", "--nice=7")
	w.submit(sleeps, "-N1", "-t1-02:03", "--dependency=afterok:"+w.number(holder.Key))
	w.submit("sleep 600", "-N1", "-t5", "--array=1-9%2", "-p", "shared", "-w", "n3", "--mem-per-cpu=10")
	w.submit(sleeps, "-H", "-N1", ":", "-N2")
	w.submit(sleeps, "-N1", "-t5", "-p", "shared,main", "-w", "n2") // stays pending
	w.submit(sleeps, "-H", "-N2", "-t5", "--mincpus=3", "--mem=123", "-p", "shared", "--oversubscribe")
	w.lab.Submit(w.T, "alice", "true", "-N1", "-t5") // this job may end before a reading shows it
	w.lab.Run(w.T, "alice", "salloc", "-Q", "-N1", "-n1", "-t5", "-p", "shared", "-w", "n4", "--no-shell", "--comment=by hand")
	suspended := w.running("n5")
	w.lab.Run(w.T, "root", "scontrol", "suspend", w.number(suspended.Key))
	w.assertReadingsAgree()
	w.assertFewPrograms()
}

// adoptOne adopts a job.
func (w *world) adoptOne() {
	w.Helper()
	ours := w.evolving()
	w.ok(w.sys.Adopt(w.ctx, ours))
	w.assertReadingsAgree()
	w.assertFewPrograms()
	if j := w.inspect(ours); j.Mark != adapter.MarkPrefix+"ep=2x1m,5x1m,3x1m" {
		w.Errorf("its mark is %q", j.Mark)
	}
}

// forgedHead is a text that looks like most of a record, from the name on.
const forgedHead = "x UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=5 Nice=0 Account=a QOS=b JobState=RUNNING"

// submitForgeries submits jobs whose texts look like Slurm's own.
func (w *world) submitForgeries() {
	w.Helper()
	victim := w.number(w.submit(sleeps, "-H", "-N1", "-t5"))
	for _, lie := range []struct {
		what    string
		options []string
	}{
		{"a mark", []string{"--comment=ep=1x1m AdminComment=accordion:ep=9x9h  StdErr=x"}},
		{"another's field", []string{"--job-name=x JobState=RUNNING Partition=y"}},
		{"an owner", []string{"--job-name=" + forgedHead}},
		{"an expander in its reservation", []string{"--job-name=" + output.GrowPrefix + victim, "--cluster-constraint= x Reservation=accordion-1-1"}},
		{"a label", []string{"--mcs-label= Priority=5 Nice=0 Account=x"}},
		{"a job that is not", []string{"--job-name=" + forgedHead + "\nJobId=4711 JobName=y"}},
		{"a job that is", []string{"--job-name=" + forgedHead + "\nJobId=" + victim + " JobName=wrap"}},
		{"all of it", []string{"--comment= Partition=" + strings.Repeat("a UserId=b(1) AllocNode:Sid=c ReqNodeList=d ExcNodeList=e NodeList=n1 NumNodes=9 NumCPUs=9 NumTasks=9 CPUs/Task=9 "+
			"MinCPUsNode=1 MinTmpDiskNode=0 Features=f DelayBoot=0 OverSubscribe=NO Contiguous=0 Licenses=x Network=y Command=z WorkDir=w", 2)}},
	} {
		w.submitForgery(lie.what, lie.options...)
	}
}

// submitForgery submits a job with the given forged texts, and checks that a reading does not mistake any of them
// for Slurm's own text.
func (w *world) submitForgery(what string, options ...string) {
	w.Helper()
	key := w.submit(sleeps, append([]string{"-H", "-N1", "-t5"}, options...)...)
	w.observe()
	w.assertReadingsAgree()
	if j := w.inspect(key); j.Mark != "" || j.User != "alice" || j.State != adapter.Pending || j.Reservation != "" || j.Expands != 0 {
		w.Errorf("%s: %+v", what, j)
	}
}

// number returns the job's id for the clients.
func (w *world) number(key adapter.Key) string { return strconv.FormatInt(int64(key.ID), 10) }
