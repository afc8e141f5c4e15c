package slurm_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/scripts/lab"
)

// killController is kill -9 of slurmctld, and its start again.
func killController(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	lab.Do(t, "ctl-stop", "--kill")
	lab.Do(t, "ctl-start")
	settled(t, lab)
}

// saved makes slurmctld write its state now, with the jobs that it has; it does so again five seconds later.
func saved(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	lab.Run(t, "root", "scontrol", "reconfigure")
}

// awaitEvent waits until the sidecar's journal has an event of the job.
func awaitEvent(t *testing.T, p *process, job, kind string, patience time.Duration) {
	t.Helper()
	p.lab.Await(t, patience, "job "+job+" "+kind, func() bool { return len(p.events(job, kind)) > 0 })
}

// accepted is how many jobs of the number the sidecar has accepted.
func accepted(p *process, job string) int {
	submitted := map[int64]bool{}
	if job != "" {
		for _, e := range p.events(job, "accepted") {
			submitted[e.Submitted] = true
		}
	}
	return len(submitted)
}

// TestAKilledSlurmctldLosesItsLastSecondsAndNothingOfOurs: a killed slurmctld forgets what it was told in its last five
// seconds, and gives the numbers of the jobs it forgot to others.
func TestAKilledSlurmctldLosesItsLastSecondsAndNothingOfOurs(t *testing.T) {
	t.Parallel()
	lab := faultLab(t, 12)
	p := serving(t, lab, "clients_per_minute = 300") // a controller that is killed over and over makes many
	watched := watch(t, lab)

	grows := evolves(t, lab, 30, []int{2, 4})
	shrinks := evolves(t, lab, 30, []int{4, 2})
	awaitEvent(t, p, grows, "grew", 2*time.Minute)
	awaitEvent(t, p, shrinks, "shrank", time.Minute)
	killController(t, lab)
	for job, want := range map[string]string{grows: "4", shrinks: "2"} {
		lab.Await(t, time.Minute, "job "+job+" has "+want+" nodes", func() bool { return strings.HasPrefix(holds(lab, job), want+" ") })
	}

	lively := evolves(t, lab, 600, []int{1}) // while a managed job runs the sidecar reads each second, and so in time
	awaitEvent(t, p, lively, "started", time.Minute)
	// A node that does not know its job yet when slurmctld comes back loses it: the job is put back, and the next start on that node drains it.
	lab.Await(t, time.Minute, "job "+lively+" runs on its node", func() bool { return strings.Contains(said(lab, lively), "step 1 on 1") })
	reused := ""
	for try := 0; accepted(p, reused) < 2; try++ {
		if try == 12 {
			t.Fatal("slurmctld never gave a number twice: it was not killed soon enough after a submission")
		}
		saved(t, lab)
		job := evolves(t, lab, 10, []int{1, 3})
		awaitEvent(t, p, job, "accepted", 30*time.Second)
		killController(t, lab)
		at := time.Now().Unix()
		reused = lab.Submit(t, "bob", "#!/bin/bash\n#EP 2x8s,1x8s\n"+stepping(2, 7))
		t.Logf("job %s was submitted; then, after the kill, job %s", job, reused)
		lab.Await(t, time.Minute, "job "+reused+" is accepted", func() bool {
			return slices.ContainsFunc(p.events(reused, "accepted"), func(e entry) bool { return e.Submitted >= at })
		})
		if accepted(p, reused) < 2 {
			asks(lab, "scancel", job, reused)
		}
	}
	if reused != lively { // which may have been forgotten itself, and its number be bob's
		asks(lab, "scancel", lively)
	}
	lab.Await(t, 2*time.Minute, "bob's job is over", func() bool {
		return strings.Contains(lab.File("bob", "slurm-"+reused+".out"), "step 2 on 1\ndone")
	})
	ended(t, lab, 2*time.Minute, grows, shrinks)
	for job, want := range map[string]string{grows: says(2, 4), shrinks: says(4, 2)} {
		if got := said(lab, job); got != want {
			t.Errorf("job %s: %q, want %q", job, got, want)
		}
	}
	clean(t, p)
	watched.noNodeInTwoJobs(t) // accounting, too, lacks what a killed slurmctld forgot
}
