package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core/hostlist"
)

// Reserve creates a reservation or changes it. Slurm refuses it when any node has a holder whose limit ends after its
// start, and that refusal is what keeps Slurm's own back-filling and us apart. With OverManaged, holders are not looked at
// (IGNORE_JOBS); the caller has. Our reservations overlap each other (OVERLAP): a job may be started in its own though
// another job's begins on the same nodes before its limit, because the plan ends it before then; without the flag Slurm
// would take those nodes from it.
//
// A start in the past means now.
func (s *System) Reserve(ctx context.Context, r adapter.Reservation) error {
	if err := checkReservation(r); err != nil {
		return err
	}
	old, err := s.reservation(ctx, r.Name)
	if err != nil {
		return fmt.Errorf("reserving: %w", err)
	}
	args := []string{"create", "reservation", "ReservationName=" + r.Name}
	if old != nil {
		args[0] = "update"
	}
	changes := reservationChanges(old, r, time.Now())
	if len(changes) == 0 {
		return nil
	}
	err = s.run.scontrol(ctx, append(args, changes...)...)
	switch {
	case err == nil:
		return nil
	case says(err, "busy", "overlaps", "not available"):
		return fmt.Errorf("reservation %s over %s: %w (%w)", r.Name, hostlist.Compact(r.Nodes), adapter.ErrBusy, err)
	}
	return fmt.Errorf("reservation %s over %s: %w", r.Name, hostlist.Compact(r.Nodes), err)
}

func checkReservation(r adapter.Reservation) error {
	switch {
	case !r.Ours():
		return fmt.Errorf("reservation %q: its name must begin with %s", r.Name, adapter.Prefix)
	case len(r.Nodes) == 0:
		return fmt.Errorf("reservation %s: no nodes", r.Name)
	case r.User == "":
		return fmt.Errorf("reservation %s: nobody may use it", r.Name)
	case r.End <= r.Start:
		return fmt.Errorf("reservation %s: it ends before it begins (%d, %d)", r.Name, r.Start, r.End)
	}
	return nil
}

// reservationChanges is what scontrol must be told to make old (nil: none) into r. The start of an active reservation
// cannot be changed.
func reservationChanges(old *adapter.Reservation, r adapter.Reservation, now time.Time) []string {
	var changes []string
	flags := "Flags+="
	if old == nil {
		old = &adapter.Reservation{Start: -1}
		flags = "Flags=OVERLAP,"
		if !r.OverManaged {
			changes = append(changes, "Flags=OVERLAP")
		}
	}
	active := old.Start >= 0 && old.Start <= now.Unix()
	if r.Start != old.Start && !active {
		start := "now"
		if r.Start > now.Unix() {
			start = fmt.Sprintf("uts%d", r.Start)
		}
		changes = append(changes, "StartTime="+start)
	}
	if r.End != old.End {
		changes = append(changes, fmt.Sprintf("EndTime=uts%d", r.End))
	}
	if r.User != old.User {
		changes = append(changes, "Users="+r.User)
	}
	switch {
	case r.OverManaged && !old.OverManaged:
		changes = append(changes, flags+"IGNORE_JOBS")
	case !r.OverManaged && old.OverManaged:
		changes = append(changes, "Flags-=IGNORE_JOBS")
	}
	nodes, before := slices.Clone(r.Nodes), slices.Clone(old.Nodes)
	hostlist.Sort(nodes)
	hostlist.Sort(before)
	if !slices.Equal(nodes, before) {
		changes = append(changes, "Nodes="+hostlist.Compact(nodes))
	}
	return changes
}

// reservation reads one reservation; nil when there is none of the name.
func (s *System) reservation(ctx context.Context, name string) (*adapter.Reservation, error) {
	out, err := s.run.run(ctx, call{program: "scontrol", args: []string{"--oneliner", "--all", "show", "reservation", name}})
	if says(err, "not found", "invalid") {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reservation %s: %w", name, err)
	}
	for line := range strings.SplitSeq(out.stdout, "\n") {
		if field(line, "ReservationName") == name {
			r, err := parseReservation(line)
			return &r, err
		}
	}
	return nil, nil
}

// Unreserve deletes a reservation of ours. ErrBusy while a job is still attached to it: detach that first.
func (s *System) Unreserve(ctx context.Context, name string) error {
	if !(adapter.Reservation{Name: name}).Ours() {
		return fmt.Errorf("reservation %q is not ours: not deleted", name)
	}
	err := s.run.scontrol(ctx, "delete", "ReservationName="+name)
	switch {
	case err == nil, says(err, "reservation is invalid"):
		return nil
	case says(err, "in use"):
		return fmt.Errorf("deleting reservation %s: %w (%w)", name, adapter.ErrBusy, err)
	}
	return fmt.Errorf("deleting reservation %s: %w", name, err)
}

// Nudge clears the drain flag of nodes that have none: the update makes slurmctld set the node's bits anew, which cures
// a node that it shows as idle and never allocates (Slurm 22.05, after shrinks by NodeList=).
func (s *System) Nudge(ctx context.Context, nodes []string) error {
	err := s.run.scontrol(ctx, "update", "NodeName="+hostlist.Compact(nodes), "State=UNDRAIN")
	if err != nil {
		return fmt.Errorf("nudging %s: %w", hostlist.Compact(nodes), err)
	}
	return nil
}
