package sidecar_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"accordion/adapter"
	"accordion/adapter/embedded"
)

// stuckNode is a batch system that shows a node as in use although no job holds it, until the node
// is repaired.
type stuckNode struct {
	adapter.BatchSystem
	node     string
	lock     sync.Mutex
	repaired []string
}

func (f *stuckNode) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := f.BatchSystem.Observe(ctx)
	f.lock.Lock()
	defer f.lock.Unlock()
	if err == nil && f.repaired == nil {
		i := slices.IndexFunc(s.Nodes, func(n adapter.Node) bool { return n.Name == f.node })
		s.Nodes[i].Idle = false
	}
	return s, err
}

func (f *stuckNode) Repair(_ context.Context, nodes []string) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.repaired = nodes
	return nil
}

func TestANodeInUseByNoJobIsRepairedAndUsedAgain(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		lossy := &stuckNode{BatchSystem: w.System, node: "n16"}
		w.killing.BatchSystem = lossy
		w.serve()
		job := w.evolving("16x20s")
		w.quiet(120)
		if !slices.Equal(lossy.repaired, []string{"n16"}) {
			t.Errorf("repaired: %v, want the lost node alone", lossy.repaired)
		}
		if got := w.steps(job); got != "16" {
			t.Errorf("it ran on %q nodes, want all 16", got)
		}
		w.clean()
	})
}

func TestAJobThatCannotBeResizedIsRefusedWithAReason(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		const why = "an array's tasks cannot grow and shrink"
		job := w.submit(embedded.JobSpec{Nodes: 2, Limit: 60, Hold: true, Comment: "ep=2x20s,5x20s", Unfit: why})
		w.quiet(60)
		if got := strings.Join(w.record(job).Output, " "); got != why {
			t.Errorf("its user reads %q, want %q", got, why)
		}
		w.clean()
	})
}
