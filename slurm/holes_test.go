package slurm_test

import (
	"strings"
	"testing"
	"time"
)

// attempts are what unprivileged users try, with R for alice's managed job that runs, W for the one that waits, and O for
// an ordinary one of bob's that waits.
var attempts = []struct{ user, command string }{
	{"alice", "scontrol release W"},
	{"alice", "scontrol hold W"},
	{"alice", "scontrol update JobId=W Priority=1000"},
	{"alice", "scontrol update JobId=W Nice=5"},
	{"alice", "scontrol update JobId=W StartTime=now"},
	{"alice", "scontrol update JobId=W Requeue=1"},
	{"alice", "scontrol update JobId=W Comment=ep=1x1s"},
	{"alice", "scontrol update JobId=W AdminComment=mine"},
	{"alice", "scontrol update JobId=W JobName=x"},
	{"alice", "scontrol update JobId=W TimeLimit=1"},
	{"alice", "scontrol update JobId=W NumNodes=1"},
	{"alice", "scontrol update JobId=W ReqNodeList=n1"},
	{"alice", "scontrol update JobId=W Partition=shared"},
	{"alice", "scontrol update JobId=W Dependency=expand:R"},
	{"alice", "scontrol update JobId=W ReservationName=accordion-1-0"},
	{"alice", "scontrol update JobId=R NumNodes=1"},
	{"alice", "scontrol update JobId=R NodeList=n1"},
	{"alice", "scontrol update JobId=R TimeLimit=1"},
	{"alice", "scontrol update JobId=R Requeue=1"},
	{"alice", "scontrol requeue R"},
	{"alice", "scontrol requeuehold R"},
	{"alice", "scontrol suspend R"},
	{"alice", "sbatch -N1 -t1 --dependency=expand:R"},
	{"alice", "salloc -I --no-shell -N1 -t1 --dependency=expand:R"},
	{"bob", "salloc -I --no-shell -N1 -t1 --dependency=expand:R"},
	{"bob", "sbatch -N1 -t1 --dependency=afterany:O,expand:R"},
	{"bob", "scontrol update JobId=O Dependency=expand:R"},
	{"bob", "scontrol update JobId=O ReservationName=accordion-1-0"},
	{"bob", "scontrol update JobId=R NumNodes=1"},
	{"bob", "scontrol release W"},
	{"bob", "scancel R"},
	{"alice", "sbatch -N1 -t1 --reservation=accordion-1-0"},
	{"bob", "sbatch -N1 -t1 --reservation=mine,accordion-1-0"},
	{"bob", "sbatch -N1 -t1 -J accordion-grow-R"},
	{"bob", "scontrol create reservation ReservationName=accordion-1-0 StartTime=now Duration=1 Users=bob Nodes=n4"},
}

func TestNoUserCanTakeAManagedJobOutOfThePlan(t *testing.T) {
	lab := submitLab(t)
	p := serving(t, lab, "")
	running := lab.Submit(t, "alice", "sleep 600", "--ep=3x2h,4x1h")
	waiting := lab.Submit(t, "alice", "true", "--ep=4x10m,2x5m")
	ordinary := lab.Submit(t, "bob", "true", "-N4", "-t1", "--begin=now+2hours")
	lab.Await(t, 2*time.Minute, "the first job runs, and is tied to its reservation no more; the other waits for its nodes", func() bool {
		r, w := p.view(running), p.view(waiting)
		return r != nil && w != nil && r.Phase == "running" && w.Phase == "waiting" && w.Start > 0 &&
			client(t, lab, "squeue", "-h", "-j", running, "-o", "%v") == "(null)"
	})
	// Planned starts are Slurm's own affair.
	steady := func() string {
		return client(t, lab, "squeue", "-h", "-a", "-S", "i", "-o", "%A %t %D %l %v %k %N") + "\n" +
			client(t, lab, "squeue", "-h", "-a", "-S", "i", "-O", "JobID,Dependency,PriorityLong,Name,Requeue,AdminComment:80")
	}
	before := steady()
	jobs := strings.NewReplacer("=R", "="+running, "=W", "="+waiting, "=O", "="+ordinary, ":R", ":"+running, ":O", ":"+ordinary,
		"-R", "-"+running, " R", " "+running, " W", " "+waiting)
	for _, a := range attempts {
		words := strings.Fields(jobs.Replace(a.command))
		t.Run(a.user+": "+a.command, func(t *testing.T) {
			out, said, err := lab.Exec(a.user, "#!/bin/sh\n", words...)
			if err == nil {
				t.Errorf("%v: allowed: %s %s", words, out, said)
			}
			if after := steady(); after != before {
				t.Errorf("changed from\n%s\nto\n%s\n(%s)", before, after, said)
			}
		})
	}
	if events := p.events(running, "changed", "requeued", "escaped"); len(events) > 0 {
		t.Errorf("the journal has %v", events)
	}
	for _, job := range []string{waiting, running} {
		lab.Run(t, "alice", "scancel", job)
	}
	lab.Run(t, "bob", "scancel", ordinary)
	clean(t, p)
}

func TestWithoutThePluginWhatUsersDoToManagedJobsIsSeenAndPlannedAround(t *testing.T) {
	lab := quickLab(t)
	evolving := func(script, ep, nodes string) string {
		t.Helper()
		return lab.Submit(t, "alice", script, "-H", "-N"+nodes, "-n"+nodes, "-t5", "--comment=ep="+ep)
	}
	state := func(job string) string { return client(t, lab, "squeue", "-h", "-j", job, "-o", "%t %r") }
	began := func(job string) {
		t.Helper()
		lab.Await(t, time.Minute, "job "+job+" runs", func() bool { return strings.HasPrefix(state(job), "R ") })
	}
	// told awaits an event of the job in the journal.
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
	p := serving(t, lab, "[overrun]\nleast = \"10m\"") // nobody is ended for what takes long on a busy machine

	late := evolving("sleep 600", "2x2m,4x2m", "2")
	lab.Await(t, time.Minute, "root holds the job", func() bool { return state(late) == "PD JobHeldAdmin" })
	if _, said, err := lab.Exec("alice", "", "scontrol", "release", late); err == nil {
		t.Errorf("an adopted job can be released by its owner: %s", said)
	}
	p.stop() // it would hold the job again
	insists(t, lab, "alice", "scontrol", "update", "JobId="+late, "Nice=5")
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

	// Both are planned with until their limits.
	limit := time.Now().Add(3 * time.Minute).Unix()
	whole := evolving("true", "24x10s", "24")
	lab.Await(t, time.Minute, "the job over all nodes has its place", func() bool { v := p.view(whole); return v != nil && v.Start > 0 })
	if v := p.view(whole); v.Start < limit {
		t.Errorf("a job over all nodes is planned for %v, when those that escaped run yet", time.Unix(v.Start, 0))
	}
	lab.Run(t, "alice", "scancel", whole)

	lab.Run(t, "alice", "rm", "-f", "shrunk") // of a run before
	shrunk := evolving(telling+"until [ -e shrunk ]; do sleep 0.1; done\neval \"$(accordion step)\"\ntell\n", "4x20s,5x1m", "4")
	requeued := evolving("sleep 600", "2x2m,3x2m", "2")
	grown := evolving("sleep 600", "2x4m", "2")
	for _, job := range []string{shrunk, requeued, grown} {
		began(job)
		told(p, job, "started")
	}
	// At the begin of a second: the job asks for its next step, which has the nodes that it loses now, in the same one.
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	insists(t, lab, "alice", "scontrol", "update", "JobId="+shrunk, "NumNodes=2")
	if e := told(p, shrunk, "changed"); !strings.Contains(e.Text, "holds 2 nodes, not 4") {
		t.Errorf("the journal says %q", e.Text)
	}
	lab.Run(t, "alice", "touch", "shrunk")
	insists(t, lab, "alice", "scontrol", "update", "JobId="+requeued, "Requeue=1")
	lab.Run(t, "alice", "scontrol", "requeue", requeued)
	lab.Await(t, time.Minute, "the requeued job waits, held by root, from its first step", func() bool {
		v := p.view(requeued)
		return v != nil && v.Phase == "waiting" && v.Step == 0 && state(requeued) == "PD JobHeldAdmin"
	})
	// Where a reading falls between its end and its return, it is a job that ended and one that was accepted.
	if again := p.events(requeued, "requeued", "accepted"); len(again) != 2 {
		t.Errorf("the journal says of the job that was requeued: %v", again)
	}
	insists(t, lab, "bob", "salloc", "-I", "-Q", "--no-shell", "-N1", "-t1", "--dependency=expand:"+grown, "-J", "gift")
	insists(t, lab, "bob", "scontrol", "update", "JobId="+client(t, lab, "squeue", "-h", "-n", "gift", "-o", "%A"), "NumNodes=0")
	if e := told(p, grown, "changed"); !strings.Contains(e.Text, "holds 3 nodes, not 2") {
		t.Errorf("the journal says %q", e.Text)
	}

	lab.Await(t, 2*time.Minute, "the job that was shrunk is over", func() bool { return strings.Contains(output(lab, "alice", shrunk), "told 2") })
	if got := tales(t, output(lab, "alice", shrunk))[2]; got.nodes() != 5 {
		t.Errorf("the job that its owner shrank ran its second step on %d nodes, want 5\n%s", got.nodes(), output(lab, "alice", shrunk))
	}
	lab.Run(t, "alice", "scancel", early, late, requeued, grown)
	clean(t, p)
}
