package slurm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
)

// From 25.11 on owners may suspend their jobs; before that only operators may.
func TestASuspendedJobIsNotMadeLargerBeforeItIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.managed("n1")
	key := job.Key
	grows := func(by string) {
		t.Helper()
		grow := reservation("accordion-grow", by)
		w.ok(w.sys.Reserve(w.ctx, grow))
		w.ok(w.sys.Merge(w.ctx, key, w.expand(job, grow)))
		w.ok(w.sys.Unreserve(w.ctx, grow.Name))
		job = w.inspect(key)
	}
	grows("n2")
	scontrol := func(verb string) {
		t.Helper()
		retryAs(t, w.lab, "root", "scontrol", verb, fmt.Sprint(key.ID))
	}

	scontrol("suspend")
	if job = w.await(key, adapter.Running); !slices.Equal(job.Nodes, []string{"n1", "n2"}) {
		t.Errorf("suspended it holds %v", job.Nodes)
	}
	known := func() []string {
		return strings.Fields(w.lab.Run(t, "root", "squeue", "-h", "-a", "-t", "all", "-o", "%A"))
	}
	before := known()
	_, err := w.sys.Expand(w.ctx, job, []string{"n3"}, "")
	w.errIs(err, adapter.ErrFrozen)
	if !strings.Contains(err.Error(), "suspended") {
		t.Errorf("it says %v", err)
	}
	for _, id := range known() { // Slurm may have forgotten other jobs meanwhile
		if !slices.Contains(before, id) {
			t.Errorf("an allocation was tried: job %s", id)
		}
	}
	w.ok(w.sys.Shrink(w.ctx, key, []string{"n1"}))

	scontrol("resume")
	grows("n3")
	if got := w.nodesOf(key); got != "RUNNING 2 n[1,3]" {
		t.Errorf("grown: %s", got)
	}
	w.ok(w.sys.End(w.ctx, key, "over"))
	w.assertClean()
}
