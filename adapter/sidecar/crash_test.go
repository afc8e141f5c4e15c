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

// `asking` returns a script that works, asks for the next step with a choice of nodes, and then
// works for the same time again.
func asking(work time.Duration, keep, release string) embedded.Script {
	return func(ctx context.Context, h *embedded.Handle) error {
		if err := h.Work(ctx, work); err != nil {
			return err
		}
		reply, err := h.Step(ctx, wire.Request{Keep: keep, Release: release, Step: 1})
		if err != nil {
			return err
		}
		h.Print(string(reply.Status) + " " + reply.Why)
		return h.Work(ctx, work)
	}
}

func TestASidecarKilledBetweenAnyTwoActionsLosesNothing(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := range 40 {
			reached := true
			when := "before"
			if after {
				when = "after"
			}
			t.Run(fmt.Sprintf("%s action %d", when, at+1), func(t *testing.T) {
				inWorld(t, slurmish, func(w *world) {
					w.killing.killAt(at, after)
					job := w.evolving("2x20s,5x20s,3x20s")
					select {
					case <-w.killing.killed():
						time.Sleep(2 * time.Second) // no sidecar runs for a while
						w.restart()
					case <-time.After(100 * time.Second):
						reached = false
					}
					w.quiet(200)
					if got := w.steps(job); got != "2 5 3" {
						t.Errorf("it ran on %s nodes, want 2 5 3\n%s", got, w.history())
					}
					if strings.Contains(w.journalled(), "changed without us") {
						t.Errorf("a resize of its own is taken for one of others:\n%s", w.journalled())
					}
					w.clean()
				})
			})
			if !reached {
				if at < 8 {
					t.Errorf("only %d actions were seen in a start, a growth and a shrink", at)
				}
				break
			}
		}
	}
}

func TestACancelledJobLeavesNothingBehind(t *testing.T) {
	for _, second := range []int{1, 2, 3, 5, 20, 23, 24, 25, 30, 43, 44, 45, 50} {
		t.Run(fmt.Sprintf("at second %d", second), func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				job := w.evolving("2x20s,5x20s,3x20s")
				w.at(second)
				if err := w.Cancel(job); err != nil {
					t.Fatal(err)
				}
				w.quiet(100)
				w.clean()
			})
		})
	}
}

func TestALostNodeMovesAPromiseAndNothingElse(t *testing.T) {
	o := slurmish
	o.Nodes = 6
	inWorld(t, o, func(w *world) {
		a := w.evolving("2x20s,4x20s")
		b := w.evolving("2x40s,3x20s")
		w.at(10)
		if err := w.KillNode("n6"); err != nil {
			t.Fatal(err)
		}
		w.at(12)
		w.quiet(400)
		if got := w.steps(a); got != "2 4" && got != "2" {
			t.Errorf("job a ran on %s nodes\n%s", got, w.history())
		}
		if got := w.steps(b); got != "2 3" {
			t.Errorf("job b ran on %s nodes, want 2 3\n%s", got, w.history())
		}
		w.clean()
	})
}
