package sidecar_test

import (
	"context"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/embedded"

	"github.com/hashicorp/go-hclog"
)

// vague is a batch system that cannot tell something of a job.
type vague struct {
	adapter.BatchSystem
	of   func() adapter.Key
	what string
}

func (v *vague) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := v.BatchSystem.Observe(ctx)
	if err == nil && v.what != "" {
		s.Remarks = []adapter.Remark{{Job: v.of(), Text: v.what}}
	}
	return s, err
}

func TestWhatAReadingCannotTellIsLoggedOnce(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		var said strings.Builder
		v := &vague{BatchSystem: w.mortal.BatchSystem, what: "its size cannot be read", of: func() adapter.Key { return adapter.Key{ID: 4711, Submitted: 1} }}
		w.mortal.BatchSystem, w.log = v, hclog.New(&hclog.LoggerOptions{Output: &said, Level: hclog.Warn})
		w.serve()
		w.submit(embedded.JobSpec{Nodes: 3, Managed: true, Comment: "ep=2x20s", Runs: 15})
		w.at(60)
		w.quiet(100)
		if n := strings.Count(said.String(), v.what); n != 1 {
			t.Errorf("it was logged %d times, want once:\n%s", n, said.String())
		}
	})
}
