package slurm_test

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core/hostlist"
)

// A node goes down after a job's start was planned on it. The job starts on another node, before the minute after
// which the sidecar gives up a start that did not happen.
func TestAStartOnANodeThatIsLostIsTakenBackAtOnceOnARealSlurm(t *testing.T) {
	t.Parallel()
	lab := faultLab(t, 5)
	g := &gate{t: t, lab: lab, clients: newClients(t)}
	p := serving(t, lab, g.setting())
	g.set("before", "'scontrol update JobId='*' ReservationName="+adapter.Prefix+"'[0-9]*")
	job := submitEvolving(t, lab, 9, []int{2, 3})
	g.await("the start")
	starts := p.events(job, "starting")
	if len(starts) != 1 {
		t.Fatalf("job %s was started %d times\n%s", job, len(starts), p.diagnosis())
	}
	on, err := hostlist.Expand(starts[0].Args["nodes"].(string))
	if err != nil {
		t.Fatal(err)
	}
	node := on[len(on)-1]
	lab.Do(t, "node-kill", node) // the node is killed, because a node that is only set DOWN becomes usable again when slurmd reports, and the job would start there (ReturnToService=2)
	setNode(t, lab, node, "DOWN")
	g.open()
	awaitEnded(t, lab, 2*time.Minute, job)
	if got := stepOutput(lab, job); got != expectedOutput(2, 3) {
		t.Errorf("job %s: %q, want %q", job, got, expectedOutput(2, 3))
	}
	held := p.events(job, "held")
	if len(held) != 1 || !strings.Contains(held[0].Text, node+" was lost before it began") {
		t.Errorf("the start of job %s on %s, which was lost, was not taken back at once\n%s", job, node, p.diagnosis())
	}
	lab.Do(t, "node-start", node)
	assertClean(t, p)
}
