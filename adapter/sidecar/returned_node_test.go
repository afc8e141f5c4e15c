package sidecar_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/adapter/embedded"
	"accordion/shim/wire"
)

// This was observed with a real Slurm. An owner shrank a job, and the job immediately asked for its
// next step and grew by the nodes that it had just released. On these nodes its srun failed with
// "Job credential revoked".
func TestANodeThatAJobGaveBackComesBackInALaterSecond(t *testing.T) {
	prompt := embedded.Options{Nodes: 6}
	grows := func(w *world, ep string, job embedded.Script) {
		w.halt()
		w.settings.Advance, w.settings.Interval = true, 100*time.Millisecond
		w.serve()
		key := w.submit(embedded.JobSpec{Nodes: 4, Comment: "ep=" + ep, Managed: true, Script: job})
		w.quiet(120)
		if got := w.steps(key); !strings.HasSuffix(got, " 6") {
			w.t.Errorf("it ran on %s nodes, want 6 at last:\n%s", got, w.history())
		}
		w.clean()
	}
	for part := range 10 { // tenths of a second at which the owner shrinks the job; the sidecar sees the shrink a tenth of a second later
		t.Run(fmt.Sprintf("its owner shrinks it at .%d s", part), func(t *testing.T) {
			inWorld(t, prompt, func(w *world) {
				grows(w, "4x20s,6x20s", func(ctx context.Context, h *embedded.Handle) error {
					second := time.Now().Truncate(time.Second).Add(9 * time.Second)
					if err := h.Work(ctx, time.Until(second.Add(time.Duration(part)*time.Second/10))); err != nil {
						return err
					}
					if err := w.Shrink(ctx, h.Job(), h.Nodes()[:2]); err != nil {
						return err
					}
					if err := h.Work(ctx, 150*time.Millisecond); err != nil {
						return err
					}
					if _, err := h.Step(ctx, wire.Request{Step: 1}); err != nil {
						return err
					}
					return h.Work(ctx, 10*time.Second)
				})
			})
		})
	}
	t.Run("it is late, and asks for its shrink and its growth in one second", func(t *testing.T) {
		inWorld(t, prompt, func(w *world) { grows(w, "4x5s,2x1s,6x5s", embedded.Phases(20*time.Second, 0, 4*time.Second)) })
	})
}
