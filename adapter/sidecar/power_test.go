package sidecar_test

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// poweredDown is a batch system that powers down all nodes but one, and boots nodes on request.
type poweredDown struct {
	adapter.BatchSystem
	boot core.Time
	up   string // the node that is powered on; "" means n1

	lock  sync.Mutex
	woken map[string]time.Time
	early []string // expanders that started on nodes that were down
}

func (s *poweredDown) BootTime() core.Time { return s.boot }

func (s *poweredDown) Wake(_ context.Context, nodes []string) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, n := range nodes {
		if s.woken[n].IsZero() {
			s.woken[n] = time.Now()
		}
	}
	return nil
}

func (s *poweredDown) asleep(node string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	at := s.woken[node]
	return node != cmp.Or(s.up, "n1") && (at.IsZero() || time.Since(at) < time.Duration(s.boot)*time.Second)
}

func (s *poweredDown) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	snapshot, err := s.BatchSystem.Observe(ctx)
	if err == nil {
		for i := range snapshot.Nodes {
			if n := &snapshot.Nodes[i]; s.asleep(n.Name) {
				n.Asleep, n.Why = true, "IDLE+POWERED_DOWN"
			}
		}
	}
	return snapshot, err
}

func (s *poweredDown) Expand(ctx context.Context, job *adapter.Job, nodes []string, reservation string) (adapter.Key, error) {
	for _, n := range nodes {
		if s.asleep(n) {
			s.early = append(s.early, n)
		}
	}
	return s.BatchSystem.Expand(ctx, job, nodes, reservation)
}

func TestPoweredDownNodesAreWokenAheadOfTheStepThatNeedsThem(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		system := &poweredDown{BatchSystem: w.System, boot: 40, woken: map[string]time.Time{}}
		w.outer = system
		w.serve()
		job := w.evolving("1x90s,3x20s")
		w.quiet(200)
		if got := w.steps(job); got != "1 3" {
			t.Errorf("it ran on %q nodes, want 1, then 3", got)
		}
		if len(system.early) > 0 {
			t.Errorf("it was expanded by %v before they had booted", system.early)
		}
		grew := time.Time{}
		for _, span := range w.record(job).Spans {
			if span.Node != "n1" {
				grew = span.From
			}
		}
		if late := grew.Sub(w.begin); late > 100*time.Second {
			t.Errorf("it grew %v after its submission, and was to be one node for 90s", late)
		}
		if len(system.woken) != 2 {
			t.Errorf("woken: %v, want the two nodes of the growth", system.woken)
		}
		for n, at := range system.woken {
			if ahead := grew.Sub(at); ahead < 40*time.Second || ahead > 60*time.Second {
				t.Errorf("%s was woken %v ahead of the growth, and boots for 40s", n, ahead)
			}
		}
		w.clean()
	})
}

func TestExplainNamesTheNodesForWhichAStartWaits(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		w.outer = &poweredDown{BatchSystem: w.System, boot: 40, woken: map[string]time.Time{}}
		w.serve()
		job := w.evolving("3x20s")
		w.at(20)
		w.says(job, "It is started when they have booted.",
			"It waits for nodes that boot: n[2-3] (IDLE+POWERED_DOWN).")
		w.quiet(200)
		if got := w.steps(job); got != "3" {
			t.Errorf("it ran on %q nodes, want 3", got)
		}
		w.clean()
	})
}
