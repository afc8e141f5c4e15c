package sidecar

import (
	"context"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
)

// gateRetry is the pause after a failure.
const gateRetry = 5 * time.Second

// A gateKeeper opens and closes the gate of a batch system that lets the sidecar say when ordinary jobs start
// (adapter.Gatekeeper). The gate is open while nobody waits: then jobs start as if there were no sidecar. The sidecar's loop
// alone calls its methods.
type gateKeeper struct {
	acts   *actions.Acts
	system adapter.Gatekeeper // nil: there is no gate
	clock  adapter.Clock
	beside func(acts func() error, over func(error))

	known, open bool // how it stands, where that is known
	busy        bool // a call is under way
	retry       time.Time
}

// newGate returns a keeper that calls the batch system by acts, next to its caller. It does nothing unless all jobs are the sidecar's.
func newGate(acts *actions.Acts, all bool, clock adapter.Clock, beside func(func() error, func(error))) *gateKeeper {
	k := &gateKeeper{acts: acts, clock: clock, beside: beside}
	if all {
		k.system, _ = acts.System.(adapter.Gatekeeper)
	}
	return k
}

// Tend opens the gate, or closes it, where it is not so already.
func (k *gateKeeper) Tend(ctx context.Context, open bool) {
	if k.system == nil || k.busy || k.known && k.open == open || k.clock.Now().Before(k.retry) {
		return
	}
	k.busy = true
	k.beside(func() error { return k.acts.Open(ctx, k.system, open) }, func(err error) {
		k.busy = false
		if err != nil {
			k.known, k.retry = false, k.clock.Now().Add(gateRetry)
			return
		}
		k.known, k.open = true, open
	})
}
