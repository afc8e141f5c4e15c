package sidecar_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"accordion/adapter"
)

// forgets shows every node as unknown while it is told to: a Slurm whose slurmctld was just started.
type forgets struct {
	adapter.BatchSystem
	unknown atomic.Bool
}

func (f *forgets) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := f.BatchSystem.Observe(ctx)
	if err == nil && f.unknown.Load() {
		for i := range s.Nodes {
			s.Nodes[i].Usable, s.Nodes[i].Idle, s.Nodes[i].Why = false, false, "UNKNOWN"
		}
	}
	return s, err
}

// Without the nodes that are unknown the growth would only fit when the other job has given back its own: a promise that
// is moved there stays there.
func TestAGrowthIsPutOffByNoMoreThanTheTimeInWhichAllNodesAreUnknown(t *testing.T) {
	o := slurmish
	o.Nodes = 6
	inWorld(t, o, func(w *world) {
		w.halt()
		restarted := &forgets{BatchSystem: w.System}
		w.mortal.BatchSystem = restarted
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
