package oar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// oarwalltime shortens a job's walltime, so that the profile no longer fits, and extends it again.
func TestAShortenedWalltimeIsPlannedWithAndToldOnARealOAR(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 5, lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	job := submitScript(t, lab, "alice", fmt.Sprintf(speaker, "2x60s,4x12s,1x12s", 58, "10 10"))
	lab.Await(t, long, "the job runs", func() bool { return lab.State(t, job) == "Running" })
	lab.Await(t, long, "its script has begun, so that a message finds its file", func() bool {
		return strings.Contains(lab.Run(t, "alice", "ls"), "reached."+job)
	})
	journal := func(word string) {
		t.Helper()
		lab.Await(t, long, "the journal shows that the job is "+word, func() bool {
			return strings.Contains(lab.Run(t, "root", "accordion", "journal", "--job", job), " "+word+": its limit was ")
		})
	}
	lab.Run(t, "alice", "oarwalltime", job, "0:0:55")
	journal("shortened")
	lab.Run(t, "root", "oarwalltime", job, "0:10:0")
	journal("restored")
	ends(t, lab, job)
	if got := stepSizes(t, lab, "alice", job); !slices.Equal(got, []int{2, 4, 1}) {
		t.Errorf("from inside, the steps of job %s had %v nodes, want 2, 4, 1", job, got)
	}
	said := lab.Run(t, "alice", "sh", "-c", "cat OAR."+job+".stderr")
	for _, want := range []string{"accordion: the limit of this job was shortened to 55s: it ends at ", ", in step 1 of 3", "accordion: the limit of this job was lengthened to 10m: it ends at ", ", in step 3 of 3"} {
		if !strings.Contains(said, want) {
			t.Errorf("job %s reads\n%s\nwant %q in it", job, said, want)
		}
	}
	awaitNothingLeft(t, lab)
	checkNoOverlap(t, lab)
}

// A growth is so late that the remaining steps no longer fit into the walltime. The sidecar extends the walltime, and the job has all of
// its steps.
func TestAGrowthThatIsLateBeyondTheWalltimeHasItLengthened(t *testing.T) {
	if !*everything {
		t.Skip("a minute and a half: -args -accordion.long")
	}
	t.Parallel()
	lab := lab.OAR(t, 4, lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	job := lab.Submit(t, "alice", "sleep 1000", "-q", "evolve", "-t", "ep=1x10s,3x20s")
	lab.Await(t, long, "the job runs", func() bool { return lab.State(t, job) == "Running" })
	free := strings.Fields(lab.SQL(t, `select distinct r.network_address from resources r where r.resource_id not in (select a.resource_id
		from assigned_resources a join jobs j on j.assigned_moldable_job = a.moldable_job_id where j.job_id = `+job+")"))
	lab.Do(t, append([]string{"node", "Absent"}, free[0])...)
	lab.Do(t, "node", "Absent", free[1])
	started := lab.SQL(t, "select start_time from jobs where job_id = "+job)
	lab.Await(t, long, "its growth is a minute late", func() bool {
		return lab.SQL(t, "select 1 from jobs where job_id = "+job+" and extract(epoch from now()) > 62 + "+started) == "1"
	})
	lab.Do(t, "node", "Alive", free[0])
	lab.Do(t, "node", "Alive", free[1])
	said := func(word string) func() bool {
		return func() bool {
			return strings.Contains(lab.Run(t, "root", "accordion", "journal", "--job", job), word)
		}
	}
	lab.Await(t, long, "it grows", said(" grew: from 1 to 3 nodes"))
	lab.Await(t, long, "its walltime is lengthened", said(" restored: its limit was lengthened"))
	lab.Await(t, long, "it has ended", func() bool { return lab.State(t, job) == "Error" || lab.State(t, job) == "Terminated" })
	t.Log(lab.Run(t, "root", "accordion", "journal", "--job", job))
	if had := lab.SQL(t, "select stop_time - start_time from jobs where job_id = "+job+" and stop_time - start_time not between 80 and 125"); had != "" {
		t.Errorf("it had %s s, want 20 after its growth and what it may be late by, and less than the longer walltime", had)
	}
	awaitNothingLeft(t, lab)
}
