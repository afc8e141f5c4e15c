package slurm_test

import (
	"strings"
	"testing"
	"time"
)

// A job needs every node of the pool, and one of the nodes is drained.
func TestAJobThatWaitsForTheWholePoolIsToldWhichNodesAreAway(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	p := serving(t, lab, "")
	lab.Run(t, "root", "scontrol", "update", "NodeName=n23", "State=DRAIN", "Reason=fan")
	t.Cleanup(func() { tryClient(lab, "scontrol", "update", "NodeName=n23", "State=RESUME") })
	job := lab.Submit(t, "alice", "sleep 5", "-H", "-N24", "-t5", "--comment=ep=24x1m")
	p.awaitQueueExplanation(job, "It has no place in the plan: 24 nodes are needed, and 23 in service; it waits for n23 (IDLE+DRAIN: fan", ") to come back.")
	if table := p.accordion("queue"); strings.Contains(table, "~now") || !strings.Contains(table, "n23 (IDLE+DRAIN: fan") {
		t.Errorf("accordion queue shows\n%s", table)
	}
	if text := p.accordion("queue", "--json"); !strings.Contains(text, `"away_nodes":[{"nodes":"n23","why":"IDLE+DRAIN: fan`) {
		t.Errorf("accordion queue --json shows\n%s", text)
	}
	lab.Run(t, "root", "scontrol", "update", "NodeName=n23", "State=RESUME")
	awaitEvent(t, p, job, "started", time.Minute)
	awaitEnded(t, lab, time.Minute, job)

	drainedPartition(t, p)
	assertClean(t, p)
}

// drainedPartition sets the partition to DRAIN while one managed job waits and another must grow. The nodes are not
// at fault, so the sidecar must not change their states. It must report the reason.
func drainedPartition(t *testing.T, p *process) {
	t.Helper()
	lab := p.lab
	grows := lab.Submit(t, "alice", "sleep 12; eval \"$(accordion step)\"; sleep 4", "-H", "-N2", "-t5", "--comment=ep=2x15s,4x15s")
	awaitEvent(t, p, grows, "started", time.Minute)
	waits := lab.Submit(t, "alice", "sleep 3; eval \"$(accordion step)\"; sleep 3", "-H", "-N2", "-t5", "--comment=ep=2x5s,3x5s", "--begin=now+10")
	drained := time.Now()
	lab.Run(t, "root", "scontrol", "update", "PartitionName=main", "State=DRAIN")
	t.Cleanup(func() { tryClient(lab, "scontrol", "update", "PartitionName=main", "State=UP") })
	ends := time.Now().Add(12 * time.Second) // the growth is due by then
	p.awaitQueueExplanation(waits, "partition main is in state DRAIN")
	time.Sleep(time.Until(ends.Add(10 * time.Second)))
	p.awaitExplanation(grows, "partition main is in state DRAIN")
	for _, e := range p.journalSince(drained) {
		if e.Verb == "nudge" {
			t.Errorf("%s: the states of nodes were changed: %v", e.At.Format(time.TimeOnly), e.Args)
		}
	}
	lab.Run(t, "root", "scontrol", "update", "PartitionName=main", "State=UP")
	awaitEnded(t, lab, 2*time.Minute, grows, waits)
	for _, job := range []string{grows, waits} {
		if n := len(p.events(job, "grew")); n != 1 {
			t.Errorf("job %s grew %d times, want once", job, n)
		}
	}
}
