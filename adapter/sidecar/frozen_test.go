package sidecar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/view"
)

// unchangeable refuses to change one job, as Slurm does if it has lost the job's number in its
// database.
type unchangeable struct {
	adapter.BatchSystem
	job adapter.Key
}

func (s *unchangeable) Shape(ctx context.Context, job adapter.Key, shape adapter.Shape) error {
	if job == s.job {
		return fmt.Errorf("shaping job %d: %w", job.ID, adapter.ErrFrozen)
	}
	return s.BatchSystem.Shape(ctx, job, shape)
}

func TestAJobThatCannotBeChangedDelaysNoOtherForLong(t *testing.T) {
	o := slurmish
	o.Nodes = 6
	inWorld(t, o, func(w *world) {
		w.halt()
		frozen := &unchangeable{BatchSystem: w.System}
		w.killing.BatchSystem = frozen
		frozen.job = w.evolving("6x20s,2x20s")
		w.serve()
		other := w.evolving("4x20s,6x20s")
		ordinary := w.submit(embedded.JobSpec{Nodes: 6, Limit: 60, Script: embedded.Phases()})
		w.at(100)
		if got := w.steps(other); got != "4 6" {
			t.Errorf("a job behind it held %q nodes, want 4 6\n%s", got, w.journalled())
		}
		w.at(200)
		if got := w.record(ordinary).State; got != adapter.Done {
			t.Errorf("an ordinary job behind it is %s after 200 s", got)
		}
		if why := w.why(frozen.job); !strings.Contains(why, "cancel it and submit it again") {
			t.Errorf("its user reads %q", why)
		}
		if err := w.Cancel(frozen.job); err != nil {
			t.Fatal(err)
		}
		w.at(210)
		w.clean()
	})
}

// `why` returns why a job waits, as `accordion status` shows it.
func (w *world) why(key adapter.Key) string {
	w.t.Helper()
	data, err := w.journal.View()
	if err != nil {
		w.t.Fatal(err)
	}
	var view view.Status
	if err := json.Unmarshal(data, &view); err != nil {
		w.t.Fatal(err)
	}
	for _, j := range view.Jobs {
		if j.ID == key.ID {
			return j.Why
		}
	}
	return ""
}
