package embedded

import (
	"context"
	"time"

	"accordion/adapter"
)

var _ adapter.Leaser = (*System)(nil)

// lease is the holder of the lease, and the end of the lease by the batch system's clock. The zero value means that no sidecar holds the
// lease.
type lease struct {
	adapter.Holder
	until time.Time
}

// TakeLease implements adapter.Leaser.
func (s *System) TakeLease(ctx context.Context, c adapter.Claim) error {
	return s.do(ctx, Call{Verb: "TakeLease"}, func() error {
		if s.lease.ID != c.ID && s.now.Before(s.lease.until) && !c.Over {
			return s.leased()
		}
		s.lease = lease{c.Holder, s.now.Add(c.Length)}
		s.lease.Since = s.now.Unix()
		return nil
	})
}

// RenewLease implements adapter.Leaser.
func (s *System) RenewLease(ctx context.Context, c adapter.Claim) error {
	return s.do(ctx, Call{Verb: "RenewLease"}, func() error {
		if s.lease.ID != c.ID && s.now.Before(s.lease.until) {
			return s.leased()
		}
		if s.lease.ID != c.ID { // another sidecar has taken and released the lease meanwhile
			s.lease.Since = s.now.Unix()
		}
		since := s.lease.Since
		s.lease = lease{c.Holder, s.now.Add(c.Length)}
		s.lease.Since = since
		return nil
	})
}

// LeaveLease implements adapter.Leaser.
func (s *System) LeaveLease(ctx context.Context, h adapter.Holder, _ time.Duration) error {
	return s.do(ctx, Call{Verb: "LeaveLease"}, func() error {
		if s.lease.ID == h.ID {
			s.lease = lease{}
		}
		return nil
	})
}

// LeaseOf returns the ID of the sidecar that has the lease now, or "".
func (s *System) LeaseOf() string {
	s.enter()
	defer s.leave()
	if !s.now.Before(s.lease.until) {
		return ""
	}
	return s.lease.ID
}

func (s *System) leased() error {
	holder := s.lease.Holder
	holder.Until = s.lease.until.Unix()
	return &adapter.LeaseHeldError{Holder: holder}
}
