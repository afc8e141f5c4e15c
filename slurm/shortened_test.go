package slurm_test

import (
	"strings"
	"testing"
	"time"
)

// An administrator shortens a job's limit, so that the job's profile no longer fits, and later restores the limit.
func TestAShortenedLimitIsPlannedWithAndToldOnARealSlurm(t *testing.T) {
	t.Parallel()
	lab := faultLab(t, 6)
	p := serving(t, lab, "")
	job := submitEvolving(t, lab, 32, []int{2, 4, 5})
	awaitEvent(t, p, job, "started", 2*time.Minute)
	awaitScriptBegun(t, lab, job)
	steps := func() int { v := p.view(job); return v.Steps }
	if n := steps(); n != 3 {
		t.Errorf("job %s has %d steps, want 3", job, n)
	}
	lab.Run(t, "root", "scontrol", "update", "JobId="+job, "TimeLimit=1")
	awaitEvent(t, p, job, "shortened", time.Minute)
	lab.Await(t, 20*time.Second, "with a limit of a minute the job is shown with 2 steps of 32 s", func() bool { return steps() == 2 })
	lab.Run(t, "root", "scontrol", "update", "JobId="+job, "TimeLimit=10")
	awaitEvent(t, p, job, "restored", time.Minute)
	awaitEnded(t, lab, 3*time.Minute, job)
	output := outputOf(lab, "alice", job)
	for _, want := range []string{"step 2 on 4", "step 3 on 5", "done", "accordion: the limit of this job was shortened to 1m: it ends at ", ", in step 2 of 3", "accordion: the limit of this job was lengthened to 10m: it ends at ", ", in step 3 of 3"} {
		if !strings.Contains(output, want) {
			t.Errorf("job %s reads\n%s\nwant %q in it", job, output, want)
		}
	}
	assertClean(t, p)
}
