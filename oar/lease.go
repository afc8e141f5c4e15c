package oar

import (
	"context"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/tables"
)

var (
	_ adapter.Leaser      = (*System)(nil)
	_ adapter.LeaseReader = (*System)(nil)
)

// TakeLease implements adapter.Leaser. The lease is a row for the queue in OAR's database, with times of the database's clock.
func (s *System) TakeLease(ctx context.Context, c adapter.Claim) error {
	take := s.db.TakeLease
	if c.Over {
		take = s.db.SeizeLease
	}
	now, err := take(ctx, s.rowOf(c.Holder), c.Length)
	return granted(c, now, err)
}

// RenewLease implements adapter.Leaser. It does the same as TakeLease, so it also renews an expired lease that no other sidecar has taken.
func (s *System) RenewLease(ctx context.Context, c adapter.Claim) error {
	now, err := s.db.TakeLease(ctx, s.rowOf(c.Holder), c.Length)
	return granted(c, now, err)
}

// LeaveLease implements adapter.Leaser.
func (s *System) LeaveLease(ctx context.Context, h adapter.Holder, keep time.Duration) error {
	if err := s.db.LeaveLease(ctx, s.queue, h.ID, keep); err != nil {
		return fmt.Errorf("giving up the lease of queue %s: %w", s.queue, err)
	}
	return nil
}

// Holder implements adapter.LeaseReader.
func (s *System) Holder(ctx context.Context) (*adapter.Holder, error) {
	l, err := s.db.LeaseOf(ctx, s.queue)
	if err != nil || l.Holder == "" {
		return nil, err
	}
	h := holderOf(l)
	return &h, nil
}

// KeptUntil implements adapter.LeaseReader.
func (s *System) KeptUntil(ctx context.Context) (core.Time, error) {
	l, err := s.db.LeaseOf(ctx, s.queue)
	if err != nil || l.Holder != "" {
		return 0, err
	}
	return l.Ends, nil
}

// Now implements adapter.LeaseReader. It returns the time of the database's clock, which the leases use.
func (s *System) Now(ctx context.Context) (core.Time, error) { return s.db.Second(ctx, s.db.Sql) }

func holderOf(l tables.Lease) adapter.Holder {
	return adapter.Holder{ID: l.Holder, Host: l.Host, PID: l.PID, Journal: l.Journal, Since: l.Began, Until: l.Ends}
}

func (s *System) rowOf(h adapter.Holder) tables.Lease {
	return tables.Lease{Queue: s.queue, Holder: h.ID, Host: h.Host, PID: h.PID, Journal: h.Journal}
}

// granted returns an error unless the lease after the attempt, `now`, belongs to the claimant.
func granted(c adapter.Claim, now tables.Lease, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("the lease in OAR's database: %w", err)
	case now.Holder != c.ID:
		return &adapter.LeaseHeldError{Holder: holderOf(now)}
	}
	return nil
}
