package slurm_test

import (
	"fmt"
	"testing"
	"time"
)

// acts lists calls of a start, a growth and a shrink. The test stops slurmctld before or after such a call. A short
// run uses only the first three.
var acts = []struct{ what, when, call string }{
	{"a release", "before", "'scontrol release '*"},
	{"an expander over its own nodes", "before", "'salloc '*accordion-over-*"},
	{"a shrink", "after", "*' NodeList=n'*"},
	{"a merge", "before", "*' NumNodes=0'"},
	{"a merge", "after", "*' NumNodes=0'"},
	{"a start's reservation", "after", "'scontrol create reservation '*"},
	{"a shrink", "before", "*' NodeList=n'*"},
}

// Slurmctld stops and starts in the middle of a call of the sidecar, while other jobs wait, run, grow and shrink.
// Every application still sees the nodes of its profile.
func TestSlurmctldMayStopAndStartAtAnyMoment(t *testing.T) {
	t.Parallel()
	acts := acts
	if !*long {
		acts = acts[:3]
	}
	// The lab has spare nodes, so that no job waits for nodes and slurmctld causes every delay. The nodes of a
	// failed growth are not free for a while. When slurmctld starts, a job that must grow by nodes with lower
	// names gets one node too many (docs/reliability.md).
	lab := faultLab(t, 4*len(acts)+4)
	g := &gate{t: t, lab: lab, clients: newClients(t)}
	p := serving(t, lab, g.setting()+"\ngrowth = \"overlap\"\ntimeout = \"60s\"") // without this setting 20.11 would grow by merge
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
