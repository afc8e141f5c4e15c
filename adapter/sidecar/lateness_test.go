package sidecar_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/shim/wire"
)

// unreadable is a batch system whose readings fail while a flag is set.
type unreadable struct {
	adapter.BatchSystem
	shut atomic.Bool
}

func (u *unreadable) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	if u.shut.Load() {
		return nil, errors.New("no answer")
	}
	return u.BatchSystem.Observe(ctx)
}

// An application counts as late only from the second at which it could have asked for its next
// step.
func TestAnApplicationIsNotLateForAStartThatWasSeenLate(t *testing.T) {
	for _, c := range []struct {
		name   string
		works  time.Duration // how long the application works in its step of 20 s; the step begins in second 2, and a reading shows that a minute later
		events string
	}{
		{"it is done a step's length after that", 75 * time.Second, "accepted starting started grew promise broken ended"},
		{"it is not done for long", 300 * time.Second, "accepted starting started warned ending ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				w.halt()
				slow := &unreadable{BatchSystem: w.System}
				w.killing.BatchSystem = slow
				w.serve()
				job := w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Comment: "ep=2x20s,5x20s", Script: stubborn(c.works, 19*time.Second)})
				w.at(1)
				time.Sleep(time.Second / 2) // the job is released, and has not started yet
				slow.shut.Store(true)
				w.at(60)
				slow.shut.Store(false)
				w.quiet(300)
				if got := w.events(job); got != c.events {
					t.Errorf("events are %q, want %q\n%s", got, c.events, w.journalled())
				}
				if strings.Contains(w.journalled(), "the application was") {
					t.Errorf("it counts as late, or early:\n%s", w.journalled())
				}
				w.clean()
			})
		})
	}
}

// The shim repeats its question until the next sidecar runs, which has seen the job before the
// question arrives.
func TestAnApplicationIsNotLateWhileNoSidecarReceivesItsQuestion(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x20s,3x20s")
		w.at(15)
		w.halt()
		w.at(70)
		w.serve()
		w.quiet(300)
		if got, want := w.events(job), "accepted starting started grew promise broken shrank ended"; got != want || w.steps(job) != "2 5 3" {
			t.Errorf("it ran on %s nodes, and events are %q, want %q\n%s", w.steps(job), got, want, w.journalled())
		}
		w.clean()
	})
}

// The sidecar begins the step and is killed before it answers. The next sidecar answers a minute
// later.
func TestAnApplicationIsNotLateForAnAnswerThatCameLate(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Comment: "ep=2x20s,5x70s,3x20s", Script: func(ctx context.Context, h *embedded.Handle) error {
			if err := h.Work(ctx, 19*time.Second); err != nil {
				return err
			}
			if _, err := h.Step(ctx, wire.Request{Step: 1}); err != nil { // the answer does not arrive
				return err
			}
			if err := h.Work(ctx, 65*time.Second); err != nil {
				return err
			}
			if _, err := h.Step(ctx, wire.Request{Step: 1}); err != nil {
				return err
			}
			if err := h.Work(ctx, 69*time.Second); err != nil {
				return err
			}
			_, err := h.Step(ctx, wire.Request{Step: 2})
			return err
		}})
		w.at(30)
		w.halt()
		w.at(80)
		w.serve()
		w.quiet(300)
		if got, want := w.events(job), "accepted starting started grew shrank promise broken ended"; got != want {
			t.Errorf("events are %q, want %q\n%s", got, want, w.journalled())
		}
		w.clean()
	})
}
