package sidecar

import (
	"context"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
)

// gateRetry is the pause after a call that failed.
const gateRetry = 5 * time.Second

// A gateKeeper opens and closes the gate of a batch system that lets the sidecar decide when
// ordinary jobs start (adapter.Gatekeeper). The gate is open while no job waits, so that new jobs
// then start as if there were no sidecar. Only the sidecar's loop calls its methods.
type gateKeeper struct {
	caller     *actions.Caller
	system     adapter.Gatekeeper // nil if there is no gate
	clock      adapter.Clock
	background func(calls func() error, over func(error))

	known, open bool // `known` tells whether the state of the gate is known, and `open` is that state
	busy        bool // a call is under way
	retry       time.Time
}

// newGateKeeper returns a keeper that runs its calls with `background`. The keeper does nothing
// unless the sidecar schedules all jobs of the partition.
func newGateKeeper(caller *actions.Caller, all bool, clock adapter.Clock, background func(func() error, func(error))) *gateKeeper {
	k := &gateKeeper{caller: caller, clock: clock, background: background}
	if all {
		k.system, _ = caller.System.(adapter.Gatekeeper)
	}
	return k
}

// `set` opens or closes the gate, unless the gate is known to be in that state.
func (k *gateKeeper) set(ctx context.Context, open bool) {
	if k.system == nil || k.busy || k.known && k.open == open || k.clock.Now().Before(k.retry) {
		return
	}
	k.busy = true
	k.background(func() error { return k.caller.Open(ctx, k.system, open) }, func(err error) {
		k.busy = false
		if err != nil {
			k.known, k.retry = false, k.clock.Now().Add(gateRetry)
			return
		}
		k.known, k.open = true, open
	})
}
