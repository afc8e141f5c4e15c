package embedded

import (
	"testing"

	"accordion/adapter"
)

func TestMadeJobIsHeldAndRunsUntilItsLimit(t *testing.T) {
	inWorld(t, Options{Nodes: 4}, func(w *world) {
		key, err := w.Make(w.ctx, 7, "ada", 2, 30)
		w.must(err)
		again, err := w.Make(w.ctx, 7, "ada", 2, 30)
		w.must(err)
		other, err := w.Make(w.ctx, 8, "ada", 2, 30)
		w.must(err)
		if again != key || other == key {
			t.Errorf("made are %v, again %v, and for another application %v", key, again, other)
		}
		w.at(5)
		j, err := w.Inspect(w.ctx, key)
		w.must(err)
		if application, ok := adapter.LaunchOf(j); !ok || application != 7 || !adapter.MadeByBatchSystem(j) || !j.Held || j.HeldByUser || j.Want != 2 || j.Limit != 30 || j.User != "ada" {
			t.Errorf("it is %+v", j)
		}
		w.must(w.Release(w.ctx, key))
		w.at(34)
		if j, err = w.Inspect(w.ctx, key); err != nil || j.State != adapter.Running {
			t.Errorf("at second 34 it is %+v, %v", j, err)
		}
		w.at(36)
		if j, err = w.Inspect(w.ctx, key); err != nil || j.State != adapter.Done || j.Why != "TIMEOUT" {
			t.Errorf("at second 36 it is %+v, %v", j, err)
		}
		if _, err := w.Make(w.ctx, 9, "ada", 5, 30); err == nil {
			t.Error("a job of 5 nodes was made on a machine of 4")
		}
	})
}
