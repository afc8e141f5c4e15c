package sidecar_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/embedded"

	"github.com/hashicorp/go-hclog"
)

// remarking is a batch system whose readings have a remark about a job.
type remarking struct {
	adapter.BatchSystem
	of   func() adapter.Key
	what string
}

func (v *remarking) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := v.BatchSystem.Observe(ctx)
	if err == nil && v.what != "" {
		s.Remarks = []adapter.Remark{{Job: v.of(), Text: v.what}}
	}
	return s, err
}

// An unknown state is logged only once, even if it disappears and appears again, on the same node
// or on others.
func TestARemarkWithANameIsLoggedOnceForGood(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		var said strings.Builder
		v := &unknownStates{BatchSystem: w.killing.BatchSystem}
		w.killing.BatchSystem, w.log = v, hclog.New(&hclog.LoggerOptions{Output: &said, Level: hclog.Warn})
		w.serve()
		w.at(60)
		for _, word := range []string{"SLEEPWALKING", "HAUNTED"} {
			if n := strings.Count(said.String(), word); n != 1 {
				t.Errorf("%s was logged %d times, want once:\n%s", word, n, said.String())
			}
		}
	})
}

// unknownStates is a batch system whose nodes have unknown states in every second reading.
type unknownStates struct {
	adapter.BatchSystem
	readings int
}

func (u *unknownStates) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := u.BatchSystem.Observe(ctx)
	if u.readings++; err == nil && u.readings%2 == 0 {
		for _, word := range []string{"SLEEPWALKING", "HAUNTED"} {
			s.Remarks = append(s.Remarks, adapter.Remark{Text: fmt.Sprintf("node state %s, now %d nodes", word, u.readings), Once: word})
		}
	}
	return s, err
}

func TestWhatAReadingCannotTellIsLoggedOnce(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		var said strings.Builder
		v := &remarking{BatchSystem: w.killing.BatchSystem, what: "its size cannot be read", of: func() adapter.Key { return adapter.Key{ID: 4711, Submitted: 1} }}
		w.killing.BatchSystem, w.log = v, hclog.New(&hclog.LoggerOptions{Output: &said, Level: hclog.Warn})
		w.serve()
		w.submit(embedded.JobSpec{Nodes: 3, Managed: true, Comment: "ep=2x20s", Runs: 15})
		w.at(60)
		w.quiet(100)
		if n := strings.Count(said.String(), v.what); n != 1 {
			t.Errorf("it was logged %d times, want once:\n%s", n, said.String())
		}
	})
}
