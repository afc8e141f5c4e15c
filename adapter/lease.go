package adapter

import (
	"context"
	"fmt"
	"time"

	"accordion/core"
)

// Leaser is a BatchSystem that stores a lease. Only the sidecar that holds the lease acts on the
// batch system, whichever host the sidecar runs on. The lease expires by the batch system's clock,
// or by a clock that agrees with the batch system's. So a dead sidecar does not block its successor
// for long. If another sidecar has the lease, methods return a *LeaseHeldError and change nothing.
type Leaser interface {
	// TakeLease takes the lease if it is free, has expired, or was held by an earlier process of the same sidecar, which must be dead. With
	// c.Over it takes the lease from any holder.
	TakeLease(ctx context.Context, c Claim) error
	// RenewLease extends the lease to its full length from now on. If the lease has expired and no
	// other sidecar has taken it, RenewLease takes it again.
	RenewLease(ctx context.Context, c Claim) error
	// LeaveLease ends the lease. It returns nil if another sidecar holds the lease, or no sidecar
	// does. The reservations of the holder stay for the time keep, so that a restarted sidecar
	// finds what was promised. A program that deletes them must check KeptUntil first.
	LeaveLease(ctx context.Context, h Holder, keep time.Duration) error
}

// LeaseReader is a Leaser whose lease can be read without taking it.
type LeaseReader interface {
	// Holder returns the holder of the lease, even if the lease has expired; nil if there is none.
	Holder(ctx context.Context) (*Holder, error)
	// KeptUntil returns the Unix second until which the reservations of a sidecar that left the lease stay; 0 if no sidecar left it recently.
	KeptUntil(ctx context.Context) (core.Time, error)
	// Now returns the Unix second by the clock that wrote Until and KeptUntil. That clock may
	// differ from the clock of this host by minutes.
	Now(ctx context.Context) (core.Time, error)
}

// Holder is a sidecar that holds a lease.
type Holder struct {
	ID      string // the same for each process of a sidecar with the same journal on the same host, different for all other sidecars
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
	Over   bool          // take the lease even from another sidecar, which the caller knows to be dead
}

// LeaseHeldError is the error that another sidecar has the lease.
type LeaseHeldError struct{ Holder }

func (l *LeaseHeldError) Error() string {
	since, until := Instant(l.Since).Format(time.DateTime), Instant(l.Until).Format(time.DateTime)
	return fmt.Sprintf("another sidecar serves this cluster: %v has the lease since %s and until %s; stop it, wait until %s, "+
		"or, where it is known to be dead, start with `accordion serve --take-over`", l.Holder, since, until, until)
}

// Ended reports whether the lease has expired by the caller's clock. The lease can be taken as soon
// as it has also expired by the batch system's clock.
func (l *LeaseHeldError) Ended(now time.Time) bool { return now.After(Instant(l.Until)) }
