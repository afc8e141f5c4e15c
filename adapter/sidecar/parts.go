package sidecar

import (
	"context"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/delegated/orders"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// parts carries out the orders for parts of applications. Without a mailbox it does nothing at all.
type parts struct {
	keeper  *orders.Keeper  // nil: nobody gives orders
	ordered <-chan struct{} // has a word soon after orders were given; nil: none come
}

// newParts has the orders of a mailbox carried out; nil: there are none.
func newParts(s *Sidecar, m *mailbox.Mailbox) *parts {
	if m == nil {
		return &parts{}
	}
	return &parts{ordered: m.Ordered(), keeper: orders.New(orders.Options{
		Mailbox: m, Acts: s.workers.acts, Clock: s.eventLog.clock, Settings: s.settings,
		Beside: s.workers.beside, Reserved: s.reservations.reserved, Tending: s.reservations.busy, Take: s.reservations.take, Refresh: s.readings.refresh,
		Epochs: func() (taken, begun managed.Epoch) { return s.readings.taken, s.readings.begun },
		Tell: func(job adapter.Key, kind, text string, fields map[string]any) error {
			s.eventLog.Info(text, "job", job.ID)
			return s.eventLog.journal.Event(journal.Event{
				At: s.eventLog.clock.Now(), Job: int64(job.ID), Submitted: job.Submitted, Kind: kind, Text: text, Fields: fields,
			})
		},
	})}
}

// look is the parts that the plan has to know of.
func (p *parts) look(now core.Time, snapshot *adapter.Snapshot) []*managed.Job {
	if p.keeper == nil {
		return nil
	}
	return p.keeper.Look(now, snapshot)
}

func (p *parts) carry(ctx context.Context, v *plan.World) error {
	if p.keeper == nil {
		return nil
	}
	return p.keeper.Carry(ctx, v)
}

// wanted adds what parts need to the reservations of the plan.
func (p *parts) wanted(now core.Time, ours []string, wants []adapter.Reservation, keep map[string]bool) []adapter.Reservation {
	if p.keeper == nil {
		return wants
	}
	return p.keeper.Wanted(now, ours, wants, keep)
}

func (p *parts) show(v *plan.World) {
	if p.keeper != nil {
		p.keeper.Show(v)
	}
}

// soon says whether one is on its way.
func (p *parts) soon() bool { return p.keeper != nil && p.keeper.Soon() }

// anew is for a clock that was set.
func (p *parts) anew() {
	if p.keeper != nil {
		p.keeper.Anew()
	}
}
