package oar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// An Absent host, or an advance reservation in the future, can be the reason why a job waits. Such a job is not
// planned for the present time, so it is not started and refused again and again. (See found/19 and found/17. Under
// OAR, reservations do not repeat.)
func TestAnAbsentHostAndAnAdvanceReservationAreReasonsOnARealOAR(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 5, lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	lab.Do(t, "node", "Absent", "n5")
	job := lab.Submit(t, "alice", "sleep 2", "-q", "evolve", "-t", "ep=5x20s")
	explains(t, lab, job, "It has no place in the plan: 5 nodes are needed, and 4 in service; it waits for n5 (Absent) to come back.")
	if table := lab.Run(t, "root", "accordion", "queue"); strings.Contains(table, "~now") {
		t.Errorf("accordion queue shows\n%s", table)
	}
	lab.Do(t, "node", "Alive", "n5")
	ends(t, lab, job)

	// The job's 40 s of work would fit before the reservation, but its walltime does not.
	lab.Run(t, "alice", "bash", "-c", `oarsub -r "$(date -d '+90 seconds' '+%F %T')" -l nodes=2,walltime=0:1:0 'sleep 1'`)
	job = lab.Submit(t, "alice", "sleep 2", "-q", "evolve", "-t", "ep=5x40s")
	explains(t, lab, job, "reservation oar-")
	time.Sleep(5 * time.Second)
	said := lab.Run(t, "root", "accordion", "journal", "--job", job)
	if n := strings.Count(said, " starting: "); n > 1 {
		t.Errorf("job %s was released %d times\n%s", job, n, said)
	}
	if n := strings.Count(said, "(failed"); n > 2 {
		t.Errorf("%d acts for job %s were refused\n%s", n, job, said)
	}
	lab.Run(t, "alice", "oardel", job, lab.SQL(t, "select max(job_id) from jobs where reservation = 'Scheduled'"))
	awaitNothingLeft(t, lab)
}
