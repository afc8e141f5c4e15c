package sim

import (
	"context"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
)

// saboteur is a batch system that reports success for what it does not do, so that the sidecar behaves
// wrongly. The checks must notice that.
type saboteur struct {
	adapter.BatchSystem
	unreserve, finish bool // the calls Unreserve and End are ignored, but reported as done
	blind             bool // readings do not show waiting ordinary jobs
	greedy            bool // readings show ordinary jobs as managed jobs
	liar              bool // a shrink is ignored, but readings show the job as shrunk
	hasty             bool // a part is released when it is prepared

	shrunk map[adapter.Key][]string
}

func (s *saboteur) Unreserve(ctx context.Context, name string) error {
	if s.unreserve {
		return nil
	}
	return s.BatchSystem.Unreserve(ctx, name)
}

func (s *saboteur) End(ctx context.Context, key adapter.Key, why string) error {
	if s.finish {
		return nil
	}
	return s.BatchSystem.End(ctx, key, why)
}

func (s *saboteur) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	snapshot, err := s.BatchSystem.Observe(ctx)
	if err != nil {
		return nil, err
	}
	if s.blind {
		snapshot.Jobs = slices.DeleteFunc(snapshot.Jobs, func(j adapter.Job) bool {
			return j.State == adapter.Pending && adapter.RequestOf(&j) == ""
		})
	}
	for i := range snapshot.Jobs {
		j := &snapshot.Jobs[i]
		if s.greedy && j.Mark == "" && j.Expands == 0 {
			j.Mark = adapter.MarkPrefix + "ep=1x1s"
		}
		if kept := s.shrunk[j.Key]; kept != nil {
			j.Nodes = kept
		}
	}
	return snapshot, nil
}

func (s *saboteur) Shrink(ctx context.Context, key adapter.Key, keep []string) error {
	if s.liar {
		s.shrunk[key] = keep
		return nil
	}
	return s.BatchSystem.Shrink(ctx, key, keep)
}

func (s *saboteur) Shape(ctx context.Context, key adapter.Key, shape adapter.Shape) error {
	err := s.BatchSystem.Shape(ctx, key, shape)
	if s.hasty && err == nil {
		return s.BatchSystem.Release(ctx, key)
	}
	return err
}

func (s *saboteur) Inspect(ctx context.Context, key adapter.Key) (*adapter.Job, error) {
	j, err := s.BatchSystem.Inspect(ctx, key)
	if err == nil && s.shrunk[key] != nil {
		j.Nodes = s.shrunk[key]
	}
	return j, err
}

func TestBrokenSidecarIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name string
		saboteur
		found string
	}{
		{"it forgets to delete reservations", saboteur{unreserve: true}, "left over: reservation accordion-"},
		{"it forgets to end late jobs", saboteur{finish: true}, "ended TIMEOUT"},
		{"it does not see who waits before its jobs", saboteur{blind: true}, "later than without managed jobs"},
		{"it takes ordinary jobs for its own", saboteur{greedy: true}, "of ordinary job"},
		{"it tells applications of nodes that they do not have", saboteur{liar: true}, "is told that it has"},
		{"its journal has a shrink that accounting has not", saboteur{liar: true}, "audit: books-size"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 200
			for seed := uint64(1); seed <= most; seed++ {
				s := generate(seed)
				s.rate, s.deaths, s.events = 0, 0, nil
				s.sabotage = func(b adapter.BatchSystem) adapter.BatchSystem {
					broken := c.saboteur
					broken.BatchSystem, broken.shrunk = b, map[adapter.Key][]string{}
					return &broken
				}
				if strings.Contains(strings.Join(tryScenario(t, s), "\n"), c.found) {
					return
				}
			}
			t.Errorf("not noticed in %d scenarios", most)
		})
	}
}
