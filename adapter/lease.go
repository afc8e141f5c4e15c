package adapter

import (
	"context"
	"fmt"
	"time"

	"accordion/core"
)

// Leaser is a BatchSystem that stores a lease, so that only one sidecar acts on the batch system at
// a time, even if sidecars run on several hosts. The lease expires by the batch system's clock, or
// by a clock that agrees with the batch system's. So a dead sidecar does not block its successor for
// long. If another sidecar has the lease, methods return a *LeaseHeldError and change nothing.
type Leaser interface {
	// TakeLease takes the lease if it is free or has expired. It also takes the lease from an earlier process of the same sidecar, because
	// that process must have ended. If c.Over is set, TakeLease takes the lease from any holder.
	TakeLease(ctx context.Context, c Claim) error
	// RenewLease extends the lease to its full length from now on. If the lease has expired and no
	// other sidecar has taken it, RenewLease takes it again.
	RenewLease(ctx context.Context, c Claim) error
	// LeaveLease releases the lease. It returns nil if another sidecar holds the lease, or no sidecar
	// does. The reservations of the sidecar h must stay for the duration `keep`, so that the sidecar
	// finds them when it is restarted. A program that deletes them must check KeptUntil first.
	LeaveLease(ctx context.Context, h Holder, keep time.Duration) error
}

// LeaseReader is a Leaser whose lease can be read without taking it.
type LeaseReader interface {
	// Holder returns the holder of the lease, even if the lease has expired; nil if there is none.
	Holder(ctx context.Context) (*Holder, error)
	// KeptUntil returns the Unix second until which the reservations of a sidecar that released its lease must stay. It returns 0 if no
	// sidecar released the lease recently.
	KeptUntil(ctx context.Context) (core.Time, error)
	// Now returns the current Unix second of the clock to which Holder.Until and KeptUntil refer. That
	// clock may differ from this host's clock by minutes.
	Now(ctx context.Context) (core.Time, error)
}

// Holder describes the sidecar that holds a lease.
type Holder struct {
	ID      string // identifies the host and the journal, so that it stays the same when the sidecar is restarted
	Host    string // host on which the sidecar runs
	PID     int    // the sidecar's process ID on the host; 0 if not known
	Journal string // path of the sidecar's journal on the host

	Since, Until core.Time // Unix seconds, as stored in the batch system
}

// String describes the holder.
func (h Holder) String() string {
	text := "the sidecar on host " + h.Host
	if h.PID != 0 {
		text += fmt.Sprintf(" (process %d)", h.PID)
	}
	if h.Journal != "" {
		text += ", journal " + h.Journal
	}
	return text
}

// Claim is a sidecar's request for the lease.
type Claim struct {
	Holder               // the sidecar itself; Since and Until are ignored
	Length time.Duration // length of the lease, in whole seconds
	Over   bool          // take the lease even if another sidecar holds it; the caller must know that the other sidecar is dead
}

// LeaseHeldError is returned if another sidecar has the lease.
type LeaseHeldError struct{ Holder }

func (l *LeaseHeldError) Error() string {
	since, until := Instant(l.Since).Format(time.DateTime), Instant(l.Until).Format(time.DateTime)
	return fmt.Sprintf("another sidecar serves this cluster: %v has the lease since %s and until %s; stop it, wait until %s, "+
		"or, where it is known to be dead, start with `accordion serve --take-over`", l.Holder, since, until, until)
}

// Ended reports whether the lease has expired by the caller's clock. It can be taken only when it has
// also expired by the batch system's clock.
func (l *LeaseHeldError) Ended(now time.Time) bool { return now.After(Instant(l.Until)) }
