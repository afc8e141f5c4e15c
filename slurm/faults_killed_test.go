package slurm_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// killController kills slurmctld with kill -9 and starts it again.
func killController(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	lab.Do(t, "ctl-stop", "--kill")
	lab.Do(t, "ctl-start")
	awaitNodesKnown(t, lab)
}

// awaitEvent waits until the sidecar's journal has an event of the job.
func awaitEvent(t *testing.T, p *process, job, kind string, patience time.Duration) {
	t.Helper()
	p.lab.Await(t, patience, "job "+job+" "+kind, func() bool { return len(p.events(job, kind)) > 0 })
}

// accepted returns how many jobs with the id the sidecar has accepted.
func accepted(p *process, job string) int {
	submitted := map[int64]bool{}
	if job != "" {
		for _, e := range p.events(job, "accepted") {
			submitted[e.Submitted] = true
		}
	}
	return len(submitted)
}

// A killed slurmctld forgets what happened in its last five seconds. It gives the ids of the forgotten jobs to new
// jobs.
func TestAKilledSlurmctldLosesItsLastSecondsAndNothingOfOurs(t *testing.T) {
	t.Parallel()
	lab := faultLab(t, 12)
	p := serving(t, lab, "clients_per_minute = 300") // restarts of the controller need many client programs
	p.unjudged = byAccounting                        // accounting lacks what a killed slurmctld forgot
	watched := watchNodes(t, lab)

	// The last steps of these jobs last until the end of the test, because slurmctld may not answer for many
	// seconds after a restart. A killed slurmctld may also forget that a job has ended, and then it does not query
	// the job's node for minutes.
	lab.Run(t, "alice", "rm", "-f", "over") // of an earlier run
	lasting := func(ep string) string {
		return lab.Submit(t, "alice", "#!/bin/bash\n#EP "+ep+"\n"+stepScriptEnding(2, 29, "until [ -e over ]; do sleep 0.1; done"))
	}
	grows, shrinks := lasting("2x30s,4x20m"), lasting("4x30s,2x20m")
	awaitEvent(t, p, grows, "grew", 2*time.Minute)
	awaitEvent(t, p, shrinks, "shrank", time.Minute)
	resized := func() {
		t.Helper()
		for job, want := range map[string]string{grows: "4", shrinks: "2"} {
			lab.Await(t, time.Minute, "job "+job+" has "+want+" nodes", func() bool { return strings.HasPrefix(heldNodes(lab, job), want+" ") })
		}
	}
	killController(t, lab)
	resized()

	lively := submitEvolving(t, lab, 600, []int{1}) // while a managed job runs, the sidecar reads the cluster every second, and so sees the jobs below before slurmctld is killed
	awaitEvent(t, p, lively, "started", time.Minute)
	// If a node does not know its job yet when slurmctld restarts, slurmctld requeues the job, and the node is
	// drained at the next start of a job.
	lab.Await(t, time.Minute, "job "+lively+" runs on its node", func() bool { return strings.Contains(stepOutput(lab, lively), "step 1 on 1") })
	reused := ""
	for try := 0; accepted(p, reused) < 2; try++ {
		if try == 12 {
			t.Fatal("slurmctld never used an id twice: it was killed too late after a submission")
		}
		lab.AwaitSaved(t)
		job := submitEvolving(t, lab, 10, []int{1, 3})
		awaitEvent(t, p, job, "accepted", 30*time.Second)
		killController(t, lab)
		at := time.Now().Unix()
		reused = lab.Submit(t, "bob", "#!/bin/bash\n#EP 2x8s,1x8s\n"+stepScript(2, 7))
		t.Logf("job %s was submitted; then, after the kill, job %s", job, reused)
		lab.Await(t, time.Minute, "job "+reused+" is accepted", func() bool {
			return slices.ContainsFunc(p.events(reused, "accepted"), func(e entry) bool { return e.Submitted >= at })
		})
		if accepted(p, reused) < 2 {
			lab.Await(t, time.Minute, "jobs "+job+" and "+reused+" are gone", func() bool { // a slurmctld that has just started may lose the first scancel
				tryClient(lab, "scancel", job, reused)
				left := strings.Fields(runClient(t, lab, "squeue", "-h", "-a", "-o", "%A"))
				return !slices.Contains(left, job) && !slices.Contains(left, reused)
			})
		}
	}
	if reused != lively { // slurmctld may also have forgotten this job, and given its id to bob's job
		tryClient(lab, "scancel", lively)
	}
	lab.Await(t, 2*time.Minute, "bob's job has ended", func() bool {
		return strings.Contains(lab.File("bob", "slurm-"+reused+".out"), "step 2 on 1\ndone")
	})
	resized()
	lab.Run(t, "alice", "touch", "over")
	awaitEnded(t, lab, 2*time.Minute, grows, shrinks)
	for job, want := range map[string]string{grows: expectedOutput(2, 4), shrinks: expectedOutput(4, 2)} {
		if got := stepOutput(lab, job); got != want {
			t.Errorf("job %s: %q, want %q", job, got, want)
		}
	}
	assertClean(t, p)
	watched.noNodeInTwoJobs(t)
}
