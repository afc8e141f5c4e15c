package sidecar

import (
	"context"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// Parts schedules the jobs of a cluster that are parts of applications over several clusters
// (delegated scheduling). It carries out orders that it receives from the loop of applications. The
// sidecar's loop calls all methods.
type Parts interface {
	// Ordered returns a channel that receives a value soon after new orders arrived.
	Ordered() <-chan struct{}
	// Look evaluates a reading, and returns the parts that the next plan has to contain.
	Look(now core.Time, snapshot *adapter.Snapshot) []*managed.Job
	// Carry starts the calls that are needed to carry out orders and whose results the batch system
	// does not show yet. v is the plan.
	Carry(ctx context.Context, v *plan.World) error
	// Wanted appends the reservations that parts need to `wants`, and returns the result. It sets
	// `keep` for each reservation that has to stay as it is. `ours` has the names of all
	// reservations of Accordion.
	Wanted(now core.Time, ours []string, wants []adapter.Reservation, keep map[string]bool) []adapter.Reservation
	// Show publishes the state of the cluster, and how far each order has been carried out.
	Show(v *plan.World)
	// Soon reports whether the batch system should be read again soon, because an order is being
	// carried out.
	Soon() bool
	// ClockSet adapts to a clock that was set.
	ClockSet()
}

// PartsHost is what the sidecar provides for Parts. Only the sidecar's loop may call the functions.
type PartsHost struct {
	Acts     *actions.Caller
	Clock    adapter.Clock
	Settings managed.Settings
	// Beside runs calls of the batch system in another goroutine. When the calls have ended, the
	// loop calls `over` with their error.
	Beside func(calls func() error, over func(error))
	// Reserved returns Accordion's reservation with the given name, as in the newest reading.
	Reserved func(name string) (adapter.Reservation, bool)
	// Tending reports whether a call for a reservation is under way. Two calls at the same time
	// could arrive in either order.
	Tending func(name string) bool
	// Take records a reservation that Parts writes itself.
	Take func(adapter.Reservation)
	// Epochs returns the epoch of the newest complete reading, and the epoch of the last reading
	// that has begun.
	Epochs func() (taken, begun managed.Epoch)
	// Refresh requests another reading soon, because the batch system was changed.
	Refresh func()
	// Tell writes an event of a job to the log and the journal.
	Tell func(job adapter.Key, kind, text string, fields map[string]any) error
}

// partsHost returns what the sidecar provides for Parts.
func (s *Sidecar) partsHost() PartsHost {
	return PartsHost{
		Acts: s.workers.caller, Clock: s.eventLog.clock, Settings: s.settings,
		Beside: s.workers.background, Reserved: s.reservations.reserved, Tending: s.reservations.busy, Take: s.reservations.take, Refresh: s.readings.refresh,
		Epochs: func() (taken, begun managed.Epoch) { return s.readings.taken, s.readings.begun },
		Tell: func(job adapter.Key, kind, text string, fields map[string]any) error {
			s.eventLog.Info(text, "job", job.ID)
			return s.eventLog.journal.Event(journal.Event{
				At: s.eventLog.clock.Now(), Job: int64(job.ID), Submitted: job.Submitted, Kind: kind, Text: text, Fields: fields,
			})
		},
	}
}

// noParts implements Parts for a sidecar that serves no launchers.
type noParts struct{}

func (noParts) Ordered() <-chan struct{}                         { return nil }
func (noParts) Look(core.Time, *adapter.Snapshot) []*managed.Job { return nil }
func (noParts) Carry(context.Context, *plan.World) error         { return nil }
func (noParts) Show(*plan.World)                                 {}
func (noParts) Soon() bool                                       { return false }
func (noParts) ClockSet()                                        {}
func (noParts) Wanted(_ core.Time, _ []string, wants []adapter.Reservation, _ map[string]bool) []adapter.Reservation {
	return wants
}
