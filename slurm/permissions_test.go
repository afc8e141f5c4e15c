package slurm_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/slurm/output"
)

// attempts lists what unprivileged users try. These letters stand for jobs, and N for the node of R:
//
// R is alice's managed job that runs. W is her managed job that waits. G is her managed job that has grown by the
// companion C. O is bob's ordinary job that waits. S is a job of bob's that would share the cores of R.
//
// The flag `unguarded` means that Slurm permits the attempt if the plug-in is not installed.
var attempts = []struct {
	user, command string
	unguarded     bool
}{
	{"alice", "scontrol release W", true}, // permitted but without effect
	{"alice", "scontrol hold W", true},
	{"alice", "scontrol update JobId=W ReservationName=", true},
	{"alice", "scontrol update JobId=W ReservationName=accordion-W-0", true},
	{"alice", "scontrol update JobId=W Priority=1000", true},
	{"alice", "scontrol update JobId=W Priority=4294967290", false},
	{"alice", "scontrol update JobId=W Nice=5", true},
	{"alice", "scontrol update JobId=W Nice=-5", false},
	{"alice", "scontrol update JobId=W StartTime=now", true},
	{"alice", "scontrol update JobId=W Requeue=1", true},
	{"alice", "scontrol update JobId=W Comment=ep=1x1s", true},
	{"alice", "scontrol update JobId=W AdminComment=mine", false},
	{"alice", "scontrol update JobId=W JobName=x", true},
	{"alice", "scontrol update JobId=W TimeLimit=1", true},
	{"alice", "scontrol update JobId=W NumNodes=1", true},
	{"alice", "scontrol update JobId=W ReqNodeList=n1", true},
	{"alice", "scontrol update JobId=W Partition=shared", true},
	{"alice", "scontrol update JobId=W Dependency=expand:R", true},
	{"alice", "scontrol update JobId=R NumNodes=1", true},
	{"alice", "scontrol update JobId=R NodeList=n1", true},
	{"alice", "scontrol update JobId=R TimeLimit=1", true},
	{"alice", "scontrol update JobId=R Requeue=1", true},
	{"alice", "scontrol update JobId=C NumNodes=0", true},
	{"alice", "scontrol update JobId=C JobName=x", true},
	{"alice", "scontrol update JobId=C TimeLimit=1", true},
	{"alice", "scontrol update JobId=C AdminComment=mine", false},
	{"alice", "scontrol requeue R", false},
	{"alice", "scontrol requeuehold R", false},
	{"alice", "scontrol suspend R", false},
	{"alice", "sbatch -N1 -t1 --dependency=expand:R", true},
	{"alice", "salloc -I --no-shell -N1 -t1 --dependency=expand:R", true},
	{"alice", "sbatch -N1 -t1 --reservation=accordion-W-0", true},
	{"alice", "sbatch -N1 -t1 -J accordion-grow-R --reservation=accordion-W-0", true},
	{"alice", "strigger --clear --jobid=G", false},
	{"bob", "salloc -I --no-shell -N1 -t1 --dependency=expand:R", true},
	{"bob", "sbatch -N1 -t1 --dependency=afterany:O,expand:R", true},
	{"bob", "scontrol update JobId=O Dependency=expand:R", true},
	{"bob", "scontrol update JobId=O ReservationName=accordion-W-0", false},
	{"bob", "scontrol update JobId=O ReservationName=accordion-park", true},
	{"bob", "scontrol update JobId=R NumNodes=1", false},
	{"bob", "scontrol update JobId=C NumNodes=0", false},
	{"bob", "scontrol update JobId=C JobName=x", false},
	{"bob", "scontrol update JobId=W ReservationName=", false},
	{"bob", "scontrol release W", false},
	{"bob", "scancel R", false},
	{"bob", "scancel W", false},
	{"bob", "scancel C", false},
	{"bob", "srun --jobid=R --overlap -N1 -n1 true", false},
	{"bob", "srun --jobid=C --overlap -N1 -n1 true", false},
	{"bob", "strigger --clear --jobid=G", false},
	{"bob", "strigger --set --jobid=G --fini --program=/bin/true", false},
	{"bob", "sbatch -N1 -t1 --reservation=mine,accordion-W-0", false},
	{"bob", "sbatch -N1 -t1 --reservation=accordion-W-0", false},
	{"bob", "sbatch -N1 -t1 --reservation=accordion-park", true},
	{"bob", "sbatch -N1 -t1 -J accordion-grow-R", true},
	{"bob", "sbatch -N1 -t1 -J accordion-with-R --reservation=accordion-park", true},
	{"bob", "salloc -I --no-shell -N1 -n1 -t1 -w N -p main -s --mem=1", false},
	{"bob", "salloc -I --no-shell -N1 -n1 -t1 -w N -p main -s -O --mem=1", false},
	{"bob", "salloc -I --no-shell -N1 -n1 -t1 -w N -p shared -s --mem=1", false},
	{"bob", "salloc -I --no-shell -N1 -n1 -t1 -w N -p shared,main -s --mem=1", false},
	{"bob", "salloc -I --no-shell -N1 -n1 -t1 -w N -p shared -O --mem=1", false},
	{"bob", "scontrol update JobId=O OverSubscribe=YES", false},
	{"bob", "scontrol update JobId=S Partition=main", true},
	{"bob", "scontrol create reservation ReservationName=accordion-1-0 StartTime=now Duration=1 Users=bob Nodes=n4", false},
	{"bob", "scontrol update ReservationName=accordion-park Users=bob", false},
	{"bob", "scontrol delete ReservationName=accordion-W-0", false},
	{"bob", "scontrol delete ReservationName=accordion-park", false},
}

// protectedJobs holds the jobs of alice that neither she nor others may change, and the jobs of bob that appear in
// the attempts.
type protectedJobs struct {
	running, waiting, grown, companion, ordinary, sharing string
	node                                                  string // the node of the running job
}

// startProtected starts the protectedJobs on a lab of four nodes. The second half of the nodes has GPUs.
func startProtected(t *testing.T, p *process, guarded bool) protectedJobs {
	t.Helper()
	lab := p.lab
	evolving := func(script, ep string, options ...string) string {
		t.Helper()
		if guarded {
			return lab.Submit(t, "alice", script, append(options, "--ep="+ep)...)
		}
		nodes, _, _ := strings.Cut(ep, "x")
		return lab.Submit(t, "alice", script, append(options, "-H", "-N"+nodes, "-t5", "--comment=ep="+ep)...)
	}
	show := func(job, format string) string { return runClient(t, lab, "squeue", "-h", "-j", job, "-o", format) }
	begun := func(job string) func() bool {
		return func() bool {
			v := p.view(job)
			return v != nil && v.Phase == "running" && show(job, "%v") == "(null)"
		}
	}
	var jobs protectedJobs
	jobs.running = evolving("sleep 600", "1x2h,2x1h", "-C", "thin")
	lab.Await(t, 2*time.Minute, "the first job runs, and is no longer in its reservation", begun(jobs.running))
	jobs.node = show(jobs.running, "%N")
	jobs.grown = evolving("sleep 3\neval \"$(accordion step)\"\nsleep 600", "1x5s,2x2h", "--gpus-per-node=1")
	lab.Await(t, 2*time.Minute, "a job with GPUs has grown by a companion", func() bool {
		jobs.companion = runClient(t, lab, "squeue", "-h", "-t", "R", "-n", "accordion-with-"+jobs.grown, "-o", "%A")
		v := p.view(jobs.grown)
		return jobs.companion != "" && show(jobs.companion, "%v") == "(null)" && v != nil && v.Size == 2
	})
	jobs.waiting = evolving("true", "4x10m,2x5m")
	jobs.ordinary = lab.Submit(t, "bob", "true", "-N4", "-t1", "--begin=now+2hours")
	jobs.sharing = lab.Submit(t, "bob", "sleep 600", "-H", "-N1", "-n1", "-t1", "-p", "shared", "-s", "--mem=1", "-w", jobs.node)
	lab.Await(t, 2*time.Minute, "the other waits for its nodes, in the park", func() bool {
		w := p.view(jobs.waiting)
		return w != nil && w.Phase == "waiting" && w.Start > 0 && show(jobs.waiting, "%v") == output.Park && strings.Contains(reservations(t, lab), "accordion-"+jobs.waiting+"-0 ")
	})
	return jobs
}

// substitute returns the words of an attempt, with the letters replaced by the jobs' ids.
func (j protectedJobs) substitute(command string) []string {
	var all []string
	for word := range strings.FieldsSeq(command) {
		for _, name := range [][2]string{{"R", j.running}, {"W", j.waiting}, {"G", j.grown}, {"C", j.companion}, {"O", j.ordinary}, {"S", j.sharing}, {"N", j.node}} {
			word = regexp.MustCompile(`(^|[=:-])`+name[0]+`(,|-|$)`).ReplaceAllString(word, "${1}"+name[1]+"$2")
		}
		all = append(all, word)
	}
	return all
}

// assertAttemptsFail makes the attempts that must be rejected, and checks that Slurm rejects each and that none
// changes anything.
func (j protectedJobs) assertAttemptsFail(t *testing.T, lab *lab.SlurmLab, guarded bool) {
	// The comparison leaves out planned starts, which Slurm may change at any time.
	steady := func() string {
		held := regexp.MustCompile(`(?m)^ReservationName=(\S+) .* (Nodes=\S+) .* (Users=\S+) .*$`).ReplaceAllString(runClient(t, lab, "scontrol", "-o", "show", "reservation"), "$1 $2 $3")
		return runClient(t, lab, "squeue", "-h", "-a", "-S", "i", "-o", "%A %t %D %l %v %k %N") + "\n" +
			runClient(t, lab, "squeue", "-h", "-a", "-S", "i", "-O", "JobID,Partition,Dependency,Name,Requeue,Nice,AdminComment:80") + "\n" + held + "\n" +
			runClient(t, lab, "strigger", "--get", "--jobid="+j.grown, "-h", "-o", "%j %t")
	}
	before := steady()
	for _, a := range attempts {
		if !guarded && a.unguarded || strings.HasPrefix(a.command, "scontrol suspend") && lab.Slurm >= "25.11" { // from 25.11 on owners may suspend their jobs
			continue
		}
		words := j.substitute(a.command)
		t.Run(a.user+": "+a.command, func(t *testing.T) {
			out, said, err := lab.Exec(a.user, "#!/bin/sh\n", words...)
			if err == nil && !strings.Contains(out+said, "Invalid user id") { // for reservations 20.11 prints this message and exits with status 0
				t.Errorf("%v: allowed: %s %s", words, out, said)
			}
			after := steady()
			if after != before {
				t.Errorf("changed from\n%s\nto\n%s\n(%s)", before, after, said)
			}
			before = after
		})
	}
}

// cancel cancels all protectedJobs.
func (j protectedJobs) cancel(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	lab.Run(t, "bob", "scancel", j.ordinary, j.sharing)
	lab.Run(t, "alice", "scancel", j.waiting, j.running, j.grown)
}

func TestNoUserCanTakeAManagedJobOutOfThePlan(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	p := serving(t, lab, "")
	jobs := startProtected(t, p, true)
	jobs.assertAttemptsFail(t, lab, true)
	for _, job := range []string{jobs.running, jobs.grown, jobs.waiting} {
		if events := p.events(job, "changed", "requeued", "escaped"); len(events) > 0 {
			t.Errorf("the journal has %v", events)
		}
	}
	jobs.cancel(t, lab)
	assertClean(t, p)
}

func TestWithoutThePluginSlurmKeepsUsersOffTheManagedJobsOfOthers(t *testing.T) {
	t.Parallel()
	lab := lab.Slurm(t, 4, lab.Users("alice", "bob"), lab.NoPlugin())
	p := serving(t, lab, "")
	jobs := startProtected(t, p, false)
	jobs.assertAttemptsFail(t, lab, false)

	lab.Run(t, "alice", "scontrol", "release", jobs.waiting)
	if got := runClient(t, lab, "squeue", "-h", "-j", jobs.waiting, "-o", "%t %v"); got != "PD "+output.Park {
		t.Errorf("its owner released a parked job, and it is %q", got)
	}
	lab.Run(t, "alice", "scontrol", "update", "JobId="+jobs.waiting, "ReservationName=")
	lab.Await(t, time.Minute, "the job that its owner took out of the park is back there", func() bool {
		return runClient(t, lab, "squeue", "-h", "-j", jobs.waiting, "-o", "%t %v") == "PD "+output.Park
	})
	lab.Run(t, "bob", "scontrol", "update", "JobId="+jobs.sharing, "Partition=main")
	lab.Run(t, "bob", "scontrol", "release", jobs.sharing)
	lab.Await(t, time.Minute, "Slurm has looked at the job that would share the cores of alice's", func() bool {
		show := runClient(t, lab, "scontrol", "-o", "show", "job", jobs.sharing)
		return strings.Contains(show, "OverSubscribe=YES") && !strings.Contains(show, "LastSchedEval=N/A") && !strings.Contains(show, "Reason=JobHeld")
	})
	if got := runClient(t, lab, "squeue", "-h", "-j", jobs.sharing, "-o", "%t"); got != "PD" {
		t.Errorf("a job of bob's that shares its cores is %s on the node of alice's", got)
	}
	jobs.cancel(t, lab)
	assertClean(t, p)
}

func TestWithoutThePluginWhatUsersDoToManagedJobsIsSeenAndPlannedAround(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	evolving := func(script, ep, nodes string) string {
		t.Helper()
		return lab.Submit(t, "alice", script, "-H", "-N"+nodes, "-n"+nodes, "-t5", "--comment=ep="+ep)
	}
	state := func(job string) string { return runClient(t, lab, "squeue", "-h", "-j", job, "-o", "%t %r") }
	began := func(job string) {
		t.Helper()
		lab.Await(t, time.Minute, "job "+job+" runs", func() bool { return strings.HasPrefix(state(job), "R ") })
	}
	// told waits for an event of the job in the journal, and returns the event.
	told := func(p *process, job, event string) entry {
		t.Helper()
		lab.Await(t, time.Minute, "the journal says that job "+job+" "+event, func() bool { return len(p.events(job, event)) > 0 })
		return p.events(job, event)[0]
	}

	hog := lab.Submit(t, "bob", "sleep 600", "-N22", "-t15")
	began(hog)
	early := evolving("sleep 600", "2x2m,4x2m", "2")
	lab.Run(t, "alice", "scontrol", "release", early)
	began(early)
	p := serving(t, lab, "[overrun]\nleast = \"10m\"") // with a long allowance no job is ended because a busy machine is slow

	late := evolving("sleep 600", "2x2m,4x2m", "2")
	parked := func(job string) bool {
		return runClient(t, lab, "squeue", "-h", "-j", job, "-o", "%t %v") == "PD "+output.Park
	}
	lab.Await(t, time.Minute, "the job is parked", func() bool { return parked(late) })
	p.stop() // a running sidecar would park the job again
	retryAs(t, lab, "alice", "scontrol", "update", "JobId="+late, "ReservationName=")
	lab.Run(t, "bob", "scancel", hog)
	began(late)
	p.start()
	told(p, late, "escaped")
	lab.Await(t, time.Minute, "status shows the job that escaped with one step, of two nodes", func() bool {
		v := p.view(late)
		return v != nil && v.Steps == 1 && v.Size == 2
	})
	if v := p.view(early); v != nil {
		t.Errorf("the job that was never adopted is %+v", v)
	}

	// The plan expects both escaped jobs to hold their nodes until their limits.
	limit := time.Now().Add(3 * time.Minute).Unix()
	whole := evolving("true", "24x10s", "24")
	lab.Await(t, time.Minute, "the job of all nodes has its reservation", func() bool { v := p.view(whole); return v != nil && v.Start > 0 })
	if v := p.view(whole); v.Start < limit {
		t.Errorf("a job over all nodes is planned for %v, when those that escaped run yet", time.Unix(v.Start, 0))
	}
	lab.Run(t, "alice", "scancel", whole)

	lab.Run(t, "alice", "rm", "-f", "shrunk") // left by an earlier run
	shrunk := evolving(reportScript+"until [ -e shrunk ]; do sleep 0.1; done\neval \"$(accordion step)\"\ntell\n", "4x20s,5x1m", "4")
	requeued := evolving("sleep 600", "2x2m,3x2m", "2")
	grown := evolving("sleep 600", "2x4m", "2")
	for _, job := range []string{shrunk, requeued, grown} {
		began(job)
		told(p, job, "started")
	}
	// The update is sent at the beginning of a second, so that the job requests its next step in the same second.
	// At that time the sidecar still expects the job to have the nodes that the update removes.
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	retryAs(t, lab, "alice", "scontrol", "update", "JobId="+shrunk, "NumNodes=2")
	if e := told(p, shrunk, "changed"); !strings.Contains(e.Text, "holds 2 nodes, not 4") {
		t.Errorf("the journal says %q", e.Text)
	}
	lab.Run(t, "alice", "touch", "shrunk")
	retryAs(t, lab, "alice", "scontrol", "update", "JobId="+requeued, "Requeue=1")
	lab.Run(t, "alice", "scontrol", "requeue", requeued)
	lab.Await(t, time.Minute, "the requeued job waits, parked, from its first step", func() bool {
		v := p.view(requeued)
		return v != nil && v.Phase == "waiting" && v.Step == 0 && parked(requeued)
	})
	// Slurm shows the requeued job with a new submission time. The sidecar must have accepted it again, and not
	// recorded its end.
	if again, over := p.events(requeued, "requeued"), p.events(requeued, "ended"); len(again) != 1 || len(over) != 0 {
		t.Errorf("the journal says of the job that was requeued: %v %v", again, over)
	}
	retryAs(t, lab, "bob", "salloc", "-I", "-Q", "--no-shell", "-N1", "-t1", "--dependency=expand:"+grown, "-J", "gift")
	gift := runClient(t, lab, "squeue", "-h", "-n", "gift", "-o", "%A")
	lab.Await(t, time.Minute, "bob gives his node to alice's job", func() bool {
		_, _, _ = lab.Exec("bob", "", "scancel", gift+".4294967292") // ends the step that Slurm itself creates (PrologFlags=Contain), once it exists
		_, _, err := lab.Exec("bob", "", "scontrol", "update", "JobId="+gift, "NumNodes=0")
		return err == nil
	})
	if e := told(p, grown, "changed"); !strings.Contains(e.Text, "holds 3 nodes, not 2") {
		t.Errorf("the journal says %q", e.Text)
	}

	lab.Await(t, 2*time.Minute, "the job that was shrunk has ended", func() bool { return strings.Contains(outputOf(lab, "alice", shrunk), "told 2") })
	if got := parseStepReports(t, outputOf(lab, "alice", shrunk))[2]; got.nodes() != 5 {
		t.Errorf("the job that its owner shrank ran its second step on %d nodes, want 5\n%s", got.nodes(), outputOf(lab, "alice", shrunk))
	}
	lab.Run(t, "alice", "scancel", early, late, requeued, grown)
	assertClean(t, p)
}
