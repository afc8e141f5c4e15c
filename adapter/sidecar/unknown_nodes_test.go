package sidecar_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"accordion/adapter"
)

// unknownNodes is a batch system that shows every node as unknown while `unknown` is set, as Slurm
// does immediately after a start of slurmctld.
type unknownNodes struct {
	adapter.BatchSystem
	unknown atomic.Bool
}

func (f *unknownNodes) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := f.BatchSystem.Observe(ctx)
	if err == nil && f.unknown.Load() {
		for i := range s.Nodes {
			s.Nodes[i].Usable, s.Nodes[i].Idle, s.Nodes[i].Why = false, false, "UNKNOWN"
		}
	}
	return s, err
}

// If the plan left out the unknown nodes, the growth would only fit after the end of the other job.
// A promise that was moved to that end would stay there.
func TestAGrowthIsPostponedOnlyWhileAllNodesAreUnknown(t *testing.T) {
	o := slurmish
	o.Nodes = 6
	inWorld(t, o, func(w *world) {
		w.halt()
		restarted := &unknownNodes{BatchSystem: w.System}
		w.killing.BatchSystem = restarted
		w.serve()
		job := w.evolving("2x20s,4x20s,3x20s")
		other := w.evolving("2x100s")
		w.at(18)
		restarted.unknown.Store(true)
		w.at(27)
		time.Sleep(time.Second / 2) // between two readings
		restarted.unknown.Store(false)
		w.quiet(400)
		if w.steps(job) != "2 4 3" || w.nodesAt(job, 30) != "n[1-2,5-6]" {
			t.Errorf("it held %s, want n[1-2,5-6] at second 30, and 2 4 3 nodes in all", w.sizes(job))
		}
		if got := w.nodesAt(job, 26); got != "n[1-2]" {
			t.Errorf("at second 26, when no node is known, it holds %s, want n[1-2]", got)
		}
		if strings.Contains(w.journalled(), "its end moves by 1m") {
			t.Errorf("its promise moved behind the other job's end:\n%s", w.journalled())
		}
		w.shows(other, "2@2-101")
		w.clean()
	})
}
