package slurm_test

import (
	"fmt"
	"testing"
	"time"
)

// acts are the calls of a start, a growth and a shrink between which slurmctld goes away; the first three unless there is
// time for all.
var acts = []struct{ what, when, call string }{
	{"a release", "before", "'scontrol release '*"},
	{"an expander over its own nodes", "before", "'salloc '*accordion-over-*"},
	{"a shrink", "after", "*' NodeList=n'*"},
	{"a merge", "before", "*' NumNodes=0'"},
	{"a merge", "after", "*' NumNodes=0'"},
	{"a start's reservation", "after", "'scontrol create reservation '*"},
	{"a shrink", "before", "*' NodeList=n'*"},
}

// TestSlurmctldMayStopAndStartAtAnyMoment stops and starts slurmctld in the middle of a call of the sidecar, while other
// jobs wait, run, grow and shrink. Every application sees the nodes of its profile all the same.
func TestSlurmctldMayStopAndStartAtAnyMoment(t *testing.T) {
	t.Parallel()
	acts := acts
	if !*long {
		acts = acts[:3]
	}
	// Nobody waits for nodes: what is late is late because of slurmctld. There are some to spare, for those of a growth that fails are
	// not free for a while, and a job that must grow by nodes before its own gets one too many when slurmctld starts (docs/reliability.md).
	lab := faultLab(t, 4*len(acts)+4)
	g := &gate{t: t, lab: lab, clients: newClients(t)}
	p := serving(t, lab, g.setting()+"\ngrowth = \"overlap\"\ntimeout = \"60s\"") // as 20.11 need not
	sizes := []int{2, 4, 1}
	var jobs []string
	for _, a := range acts {
		t.Logf("%s %s", a.when, a.what)
		g.set(a.when, a.call)
		jobs = append(jobs, submitEvolving(t, lab, 9, sizes))
		g.await(fmt.Sprintf("%s %s", a.when, a.what))
		awaitAccounted(t, lab)
		lab.Do(t, "ctl-stop")
		g.open()
		lab.Do(t, "ctl-start")
		awaitNodesKnown(t, lab)
	}
	awaitEnded(t, lab, 3*time.Minute, jobs...)
	for _, job := range jobs {
		if got := stepOutput(lab, job); got != expectedOutput(sizes...) {
			t.Errorf("job %s: %q, want %q", job, got, expectedOutput(sizes...))
		}
	}
	assertClean(t, p)
}
