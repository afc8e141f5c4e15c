package sidecar_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"accordion/adapter"
)

// closedPartition is a batch system whose partition takes no new allocations, and that shows one
// node as out of service.
type closedPartition struct {
	adapter.BatchSystem
	refusal error
	away    string
	repairs atomic.Int64
}

func (c *closedPartition) Expand(ctx context.Context, job *adapter.Job, nodes []string, reservation string) (adapter.Key, error) {
	if c.refusal != nil {
		return adapter.Key{}, fmt.Errorf("salloc: %w", c.refusal)
	}
	return c.BatchSystem.Expand(ctx, job, nodes, reservation)
}

func (c *closedPartition) Repair(context.Context, []string) error { c.repairs.Add(1); return nil }

func (c *closedPartition) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := c.BatchSystem.Observe(ctx)
	if err == nil {
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Name == c.away {
				n.Usable, n.Away, n.Why = false, true, "IDLE+DRAIN: fan"
			}
		}
	}
	return s, err
}

// If the partition is drained, no node is repaired.
func TestNoNodeIsRepairedBecauseThePartitionTakesNoJobs(t *testing.T) {
	for refusal, repaired := range map[error]bool{adapter.ErrShut: false, adapter.ErrReserved: false, adapter.ErrBusy: true} {
		inWorld(t, slurmish, func(w *world) {
			w.halt()
			shut := &closedPartition{BatchSystem: w.System, refusal: refusal}
			w.killing.BatchSystem = shut
			w.serve()
			w.evolving("2x20s,4x20s")
			w.at(60)
			if got := shut.repairs.Load() > 0; got != repaired {
				t.Errorf("after %q nodes were repaired: %v, want %v", refusal, got, repaired)
			}
			w.halt()
			w.killing.BatchSystem = w.System
			w.serve()
			w.quiet(120)
		})
	}
}

func TestAJobThatNeedsTheWholePoolWaitsForTheNodeThatIsAway(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		w.killing.BatchSystem = &closedPartition{BatchSystem: w.System, away: "n5"}
		w.serve()
		job := w.evolving("16x20s")
		w.at(10)
		shown := w.entry(job)
		if want := "no place in the plan: 16 nodes are needed, and 15 in service; it waits for n5 (IDLE+DRAIN: fan) to come back"; shown.Why != want || shown.Start != 0 {
			t.Errorf("it is planned for %d, and waits for %q, want %q", shown.Start, shown.Why, want)
		}
		w.halt()
		w.killing.BatchSystem = w.System
		w.serve()
		w.quiet(120)
		if got := w.steps(job); !strings.Contains(got, "16") {
			t.Errorf("once the node is back it runs on %q", got)
		}
		w.clean()
	})
}
