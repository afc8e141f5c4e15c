package sidecar_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/core/hostlist"
)

// wrongScriptNode is a batch system that assumes that a job's script runs on the job's first node
// by name, and refuses to release that node, as slurmctld does after a restart.
type wrongScriptNode struct{ adapter.BatchSystem }

func (m wrongScriptNode) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := m.BatchSystem.Observe(ctx)
	if err == nil {
		for i := range s.Jobs {
			s.Jobs[i].Nodes = slices.Clone(s.Jobs[i].Nodes)
			hostlist.Sort(s.Jobs[i].Nodes)
		}
	}
	return s, err
}

func (m wrongScriptNode) Shrink(ctx context.Context, job adapter.Key, keep []string) error {
	j, err := m.Inspect(ctx, job)
	if err != nil {
		return err
	}
	all := slices.Clone(j.Nodes)
	hostlist.Sort(all)
	if !slices.Contains(keep, all[0]) {
		return fmt.Errorf("%s must be kept", all[0])
	}
	return m.BatchSystem.Shrink(ctx, job, keep) // the inner batch system refuses to release the node on which the script really runs
}

func TestTheNodeOfTheScriptIsKeptThoughTheBatchSystemTakesAnotherForIt(t *testing.T) {
	for profile, want := range map[string]struct {
		sizes string
		last  string
	}{
		"1x30s,4x20s,2x20s": {"1 4 2", "n[1,16]"},
		"1x30s,4x20s,1x20s": {"1 4 2", "n[1,16]"}, // one node too many: the node of the script must not be released, and the batch system refuses to release the other node
		"1x30s,4x20s,3x20s": {"1 4 3", "n[1-2,16]"},
	} {
		t.Run(profile, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				w.halt()
				w.killing.BatchSystem = wrongScriptNode{BatchSystem: w.System}
				w.serve()
				w.evolving("15x20s")
				job := w.evolving(profile) // the job starts on n16, and grows by nodes with lower numbers
				w.at(60)
				w.quiet(200)
				if got := w.steps(job); got != want.sizes {
					t.Errorf("it ran on %s nodes, want %s\n%s", got, want.sizes, w.journalled())
				}
				if got := w.nodesAt(job, 65); got != want.last {
					t.Errorf("at the end it had %s, want %s", got, want.last)
				}
				w.clean()
			})
		})
	}
}
