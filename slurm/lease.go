package slurm

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

const leaseName = output.Lease

// A leaseKeeper keeps the lease of the one sidecar that serves a Slurm. The lease is a reservation without nodes,
// which names its holder. The lease ends when the reservation ends. Only operators may make, change or delete a
// reservation. A sidecar that ends normally deletes its lease. It then creates another reservation, `Left`. The
// sidecar's reservations on nodes stay until `Left` ends.
//
// Slurm refuses to create a reservation whose name exists, and deletes ended ones every 30 s. So a sidecar gets the
// lease only by creating the reservation, and two sidecars cannot both succeed. If the lease has ended, a sidecar
// waits until Slurm has deleted it. A renewal changes only the end of the reservation, and then reads the
// reservation again. If another sidecar has taken the lease meanwhile, the renewal has only extended that sidecar's
// lease. A sidecar changes the holder of an existing lease in two cases: it takes its own lease back, or an
// administrator declared the other holder dead.
//
// Its methods may be called from several goroutines.
type leaseKeeper struct{ run *client.Runner }

var (
	_ adapter.Leaser      = (*leaseKeeper)(nil)
	_ adapter.LeaseReader = (*leaseKeeper)(nil)
)

// newLease returns a keeper that uses run.
func newLease(run *client.Runner) *leaseKeeper { return &leaseKeeper{run} }

// leaseSettleTime is the pause between taking a lease over and reading it again. If two administrators on two hosts
// take over the lease at the same time, the later one wins.
const leaseSettleTime = 2 * time.Second

// TakeLease implements adapter.Leaser.
func (k *leaseKeeper) TakeLease(ctx context.Context, c adapter.Claim) error {
	for {
		err := k.create(ctx, leaseName, c)
		if !nameExists(err) {
			return err
		}
		h, err := k.read(ctx, leaseName)
		switch {
		case err != nil:
			return err
		case h == nil: // Slurm deleted the old lease after it had refused the new one
			continue
		case h.ID == c.ID:
			return k.write(ctx, c)
		case !c.Over:
			return &adapter.LeaseHeldError{Holder: *h}
		}
		if err := k.write(ctx, c); err != nil {
			return err
		}
		select {
		case <-time.After(leaseSettleTime):
			return k.verify(ctx, c, 0)
		case <-ctx.Done():
			return fmt.Errorf("taking the lease over: %w", ctx.Err())
		}
	}
}

// RenewLease implements adapter.Leaser.
func (k *leaseKeeper) RenewLease(ctx context.Context, c adapter.Claim) error {
	until := end(c)
	err := k.run.Scontrol(ctx, "update", "reservation", "ReservationName="+leaseName, fmt.Sprintf("EndTime=uts%d", until))
	switch {
	case err == nil:
		return k.verify(ctx, c, until)
	case !client.Refused(err, client.ReservationInvalid):
		return fmt.Errorf("renewing the lease, reservation %s: %w", leaseName, err)
	}
	// The lease has expired, or a crash of slurmctld lost the last seconds and the lease with them.
	if err = k.create(ctx, leaseName, c); !nameExists(err) {
		return err
	}
	return k.verify(ctx, c, 0)
}

// LeaveLease implements adapter.Leaser.
func (k *leaseKeeper) LeaveLease(ctx context.Context, h adapter.Holder, keep time.Duration) error {
	now, err := k.read(ctx, leaseName)
	if err != nil || now == nil || now.ID != h.ID {
		return err
	}
	if keep > 0 {
		if err := k.keep(ctx, adapter.Claim{Holder: h, Length: keep}); err != nil {
			return err
		}
	}
	err = k.run.Scontrol(ctx, "delete", "ReservationName="+leaseName)
	if err == nil || client.Refused(err, client.ReservationInvalid) {
		return nil
	}
	return fmt.Errorf("giving the lease up, reservation %s: %w", leaseName, err)
}

// keep records until when the reservations stay of a sidecar that has released its lease.
func (k *leaseKeeper) keep(ctx context.Context, c adapter.Claim) error {
	err := k.create(ctx, output.Left, c)
	if nameExists(err) { // an earlier sidecar left this reservation
		err = k.run.Scontrol(ctx, "update", "reservation", "ReservationName="+output.Left, fmt.Sprintf("EndTime=uts%d", end(c)))
	}
	if err != nil {
		return fmt.Errorf("noting until when reservations stay: %w", err)
	}
	return nil
}

// Holder implements adapter.LeaseReader.
func (k *leaseKeeper) Holder(ctx context.Context) (*adapter.Holder, error) {
	return k.read(ctx, leaseName)
}

// KeptUntil implements adapter.LeaseReader.
func (k *leaseKeeper) KeptUntil(ctx context.Context) (core.Time, error) {
	h, err := k.read(ctx, output.Left)
	if err != nil || h == nil {
		return 0, err
	}
	return h.Until, nil
}

// Now implements adapter.LeaseReader. A sidecar writes the end of its lease by its own host's clock. With the
// package's systemd units that host is slurmctld's host. Elsewhere the clocks of the hosts must agree to a few
// seconds (docs/administrator.md).
func (k *leaseKeeper) Now(context.Context) (core.Time, error) { return time.Now().Unix(), nil }

// end returns the second at which a lease of the claim's length ends if it begins now.
func end(c adapter.Claim) core.Time { return time.Now().Add(c.Length).Unix() }

// create creates the reservation unless one with that name exists.
func (k *leaseKeeper) create(ctx context.Context, name string, c adapter.Claim) error {
	now := time.Now()
	err := k.run.Scontrol(ctx, "create", "reservation", "ReservationName="+name, fmt.Sprintf("StartTime=uts%d", now.Unix()),
		fmt.Sprintf("EndTime=uts%d", end(c)), "Users=root", "Flags=ANY_NODES", "BurstBuffer="+leaseText(c.Holder, now.Unix()))
	if err != nil && !nameExists(err) {
		return fmt.Errorf("taking the lease, reservation %s: %w", name, err)
	}
	return err
}

// nameExists reports whether Slurm refused a reservation because its name exists.
func nameExists(err error) bool { return client.Refused(err, client.ReservationExists) }

// write makes the claim's holder the holder of the existing lease.
func (k *leaseKeeper) write(ctx context.Context, c adapter.Claim) error {
	until := end(c)
	err := k.run.Scontrol(ctx, "update", "reservation", "ReservationName="+leaseName, fmt.Sprintf("EndTime=uts%d", until),
		"BurstBuffer="+leaseText(c.Holder, time.Now().Unix()))
	if err != nil {
		return fmt.Errorf("taking the lease over, reservation %s: %w", leaseName, err)
	}
	return k.verify(ctx, c, until)
}

// verify checks that the claim's holder has the lease, and that the lease lasts at least until `until`. If `until`
// is 0, verify accepts any end.
func (k *leaseKeeper) verify(ctx context.Context, c adapter.Claim, until core.Time) error {
	h, err := k.read(ctx, leaseName)
	switch {
	case err != nil:
		return err
	case h == nil:
		return fmt.Errorf("reservation %s, the lease, is gone again: another program deletes it", leaseName)
	case h.ID != c.ID:
		return &adapter.LeaseHeldError{Holder: *h}
	case h.Until < until:
		return fmt.Errorf("reservation %s, the lease, ends at %d, not at %d as requested", leaseName, h.Until, until)
	}
	return nil
}

// read returns the holder of the lease or, for `Left`, the sidecar that created it. It returns nil if there is no
// reservation with that name.
func (k *leaseKeeper) read(ctx context.Context, name string) (*adapter.Holder, error) {
	out, err := k.run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "show", "reservation", name}})
	if client.Refused(err, client.ReservationNotFound) || err == nil && !strings.Contains(out.Stdout, "ReservationName="+name+" ") {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the lease, reservation %s: %w", name, err)
	}
	return parseLease(name, out.Stdout)
}

// parseLease parses the holder of a lease from scontrol's output. If the text of the lease is unknown, the holder
// has the ID "?".
func parseLease(name, shown string) (*adapter.Holder, error) {
	_, line, found := strings.Cut(shown, "ReservationName="+name+" ")
	line, _, _ = strings.Cut(line, "\n")
	var e output.Reader
	begin, until := e.Instant("StartTime", output.Field(line, "StartTime")), e.Instant("EndTime", output.Field(line, "EndTime"))
	if !found || e.Err != nil {
		return nil, fmt.Errorf("reservation %s, the lease: %w", name, errors.Join(output.ErrForm, e.Err))
	}
	said := output.Text(output.Field(line, "BurstBuffer"))
	h := adapter.Holder{ID: "?", Host: said, Since: begin, Until: until}
	values, err := url.ParseQuery(strings.NewReplacer(",", "&", ":", "=").Replace(said))
	if err != nil || values.Get("id") == "" {
		return &h, nil
	}
	pid, _ := strconv.Atoi(values.Get("pid"))
	since, _ := strconv.ParseInt(values.Get("since"), 10, 64)
	return &adapter.Holder{ID: values.Get("id"), Host: values.Get("host"), PID: pid, Journal: values.Get("journal"), Since: max(since, begin), Until: until}, nil
}

// leaseText returns the text of a lease, as in host:n1,pid:7,id:…. It is written into BurstBuffer, the one field of a
// reservation that every release keeps unchanged.
func leaseText(h adapter.Holder, since core.Time) string {
	var parts []string
	for _, p := range [][2]string{{"id", h.ID}, {"host", h.Host}, {"pid", strconv.Itoa(h.PID)}, {"since", strconv.FormatInt(since, 10)}, {"journal", h.Journal}} {
		parts = append(parts, p[0]+":"+url.QueryEscape(p[1]))
	}
	return strings.Join(parts, ",")
}
