package adapter

import (
	"context"
	"fmt"
	"time"

	"accordion/core"
)

// Leaser is a BatchSystem that keeps a lease: who holds it is the one sidecar that acts there, whatever host it runs on. The
// lease ends by itself, by the batch system's clock or by one that agrees with it, so that nobody waits for the dead for long.
// A *Leased error says that another sidecar has it; then nothing was changed.
type Leaser interface {
	// TakeLease takes the lease where nobody has it, where it has run out, and where the same sidecar had it before: that one is
	// dead. With c.Over it takes it from whoever has it.
	TakeLease(ctx context.Context, c Claim) error
	// RenewLease has the lease last for its length from now on. One that ran out, and that nobody took, is taken again.
	RenewLease(ctx context.Context, c Claim) error
	// LeaveLease ends the lease. It returns nil when another holder has it, or none. Reservations
	// of the holder stay for keep, so that a sidecar that is started again finds what was promised.
	// A program that deletes them checks KeptUntil first.
	LeaveLease(ctx context.Context, h Holder, keep time.Duration) error
}

// LeaseReader is a Leaser whose lease a program can read without taking it.
type LeaseReader interface {
	// Holder returns the holder of the lease, even if the lease has run out; nil: it has none.
	Holder(ctx context.Context) (*Holder, error)
	// KeptUntil returns the Unix second until which the reservations of a sidecar that left the
	// lease stay; 0: no sidecar has left it lately.
	KeptUntil(ctx context.Context) (core.Time, error)
	// Now returns the Unix second by the clock that wrote Until and KeptUntil. The clock of this
	// host may differ by minutes.
	Now(ctx context.Context) (core.Time, error)
}

// Holder is a sidecar that holds a lease.
type Holder struct {
	ID      string // the same for a sidecar that is started again with the same journal on the same host, and for no other
	Host    string // where it runs
	PID     int    // there; 0: not known
	Journal string // its path there

	Since, Until core.Time // Unix seconds; as the batch system has them
}

// String names the holder for people.
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

// Claim is what a sidecar asks for.
type Claim struct {
	Holder               // itself; Since and Until count for nothing
	Length time.Duration // of the lease, from whole seconds on
	Over   bool          // the one that holds the lease is known to be dead
}

// Leased says that another sidecar has the lease.
type Leased struct{ Holder }

func (l *Leased) Error() string {
	since, until := Instant(l.Since).Format(time.DateTime), Instant(l.Until).Format(time.DateTime)
	return fmt.Sprintf("another sidecar serves this cluster: %v has the lease since %s and until %s; stop it, wait until %s, "+
		"or, where it is known to be dead, start with `accordion serve --take-over`", l.Holder, since, until, until)
}

// Ended says whether the lease has run out by the clock of whoever asks: it is taken as soon as the batch system agrees.
func (l *Leased) Ended(now time.Time) bool { return now.After(Instant(l.Until)) }
