// Package gate opens and closes the gate of a batch system that leaves to the sidecar when jobs begin which ask nothing of it
// (adapter.Gatekeeper). While nobody waits it is open: jobs begin as if there was no sidecar. It is called by the sidecar's loop alone.
//
//	keeper := gate.New(acts, true, clock, crew.beside)
//	keeper.Tend(ctx, world.Passes())
package gate

import (
	"context"
	"time"

	"accordion/adapter"
	"accordion/adapter/act"
)

// again is the pause after a failure.
const again = 5 * time.Second

// Keeper keeps the gate. Its methods are for one goroutine.
type Keeper struct {
	acts   *act.Acts
	system adapter.Gatekeeper // nil: there is no gate
	clock  adapter.Clock
	beside func(acts func() error, over func(error))

	known, open bool // how it stands, where that is known
	busy        bool // a call is under way
	retry       time.Time
}

// New makes a keeper that calls the batch system by acts, beside its caller. Where not all jobs are the sidecar's it does nothing.
func New(acts *act.Acts, all bool, clock adapter.Clock, beside func(func() error, func(error))) *Keeper {
	k := &Keeper{acts: acts, clock: clock, beside: beside}
	if all {
		k.system, _ = acts.System.(adapter.Gatekeeper)
	}
	return k
}

// Tend opens the gate, or closes it, where it is not so already.
func (k *Keeper) Tend(ctx context.Context, open bool) {
	if k.system == nil || k.busy || k.known && k.open == open || k.clock.Now().Before(k.retry) {
		return
	}
	k.busy = true
	k.beside(func() error { return k.acts.Open(ctx, k.system, open) }, func(err error) {
		k.busy = false
		if err != nil {
			k.known, k.retry = false, k.clock.Now().Add(again)
			return
		}
		k.known, k.open = true, open
	})
}
