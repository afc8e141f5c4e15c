package sidecar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
)

// The sidecar does not adopt parts of applications. Their launchers schedule them, and their nodes
// are in use like the nodes of any job.
func TestAPartOfAnApplicationIsLeftToItsLauncher(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		held := w.submit(embedded.JobSpec{Nodes: 4, Hold: true, Limit: 600, Runs: 600, Comment: "launch=7"})
		marked := w.submit(embedded.JobSpec{Nodes: 4, Managed: true, Limit: 600, Runs: 600, Comment: "launch=7"})
		nonsense := w.submit(embedded.JobSpec{Nodes: 4, Hold: true, Limit: 600, Runs: 600, Comment: "launch=x"})
		runs := w.submit(embedded.JobSpec{Nodes: 4, Managed: true, Limit: 60, Runs: 40, Comment: "launch=8"})
		if err := w.Release(t.Context(), runs); err != nil {
			t.Error(err)
		}
		w.at(5)
		evolving := w.evolving("8x20s,16x20s")
		w.at(120)
		for _, part := range []adapter.Key{held, marked, nonsense} {
			if r := w.record(part); len(r.Spans) > 0 || w.events(part) != "" {
				t.Errorf("a part that waits: %q, %v", w.events(part), r.Spans)
			}
		}
		if got := w.events(runs); got != "" || !strings.HasPrefix(w.sizes(runs), "4@") {
			t.Errorf("a part that runs: %q, %s", got, w.sizes(runs))
		}
		if got := w.steps(evolving); got != "8 16" {
			t.Errorf("the evolving job next to them ran on %s nodes, want 8 16", got)
		}
		for _, part := range []adapter.Key{held, marked, nonsense} {
			if err := w.Cancel(part); err != nil {
				t.Error(err)
			}
		}
		w.quiet(200)
		time.Sleep(5 * time.Second)
		w.clean()
	})
}
