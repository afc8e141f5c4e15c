package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core/hostlist"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

// Reserve creates or changes a reservation. Slurm refuses the reservation if a job holds one of the nodes and the
// job's limit ends after the reservation's start. This refusal prevents conflicts between Slurm's own backfill
// scheduler and the sidecar. With OverManaged, Slurm does not check which jobs hold the nodes (IGNORE_JOBS),
// because the caller has checked them.
//
// The sidecar's reservations may overlap each other (OVERLAP). A job can start in its own reservation although
// another reservation begins on the same nodes before the job's limit, because the plan ends the job before that.
// Without the flag Slurm would not allocate those nodes to the job. The flag would also permit reservations that
// overlap those of other users, so Reserve itself refuses these.
//
// If the start is in the past, the reservation starts now.
func (s *System) Reserve(ctx context.Context, r adapter.Reservation) error {
	if err := checkReservation(r); err != nil {
		return err
	}
	all, err := s.reservations(ctx)
	if err != nil {
		return fmt.Errorf("reserving: %w", err)
	}
	if other := conflicting(all, r); other != nil {
		return fmt.Errorf("reservation %s over %s: %s has some of them: %w", r.Name, hostlist.Compact(r.Nodes), other.Name, adapter.ErrReserved)
	}
	r.OverManaged = r.OverManaged || s.Yields(r.Nodes)
	now := time.Now()
	i := slices.IndexFunc(all, func(o adapter.Reservation) bool { return o.Name == r.Name })
	if i < 0 {
		return s.reserve(ctx, "create", r, reservationChanges(nil, r, now))
	}
	changes := reservationChanges(&all[i], r, now)
	lacksPurge := r.Idle > 0 && all[i].Idle == 0
	if len(changes) == 0 && !lacksPurge {
		return nil
	}
	needed := probes(all[i], r, now)
	for _, p := range needed {
		if err = s.reserve(ctx, "create", p, reservationChanges(nil, p, now)); err != nil {
			break
		}
	}
	if err == nil && len(changes) > 0 {
		err = s.reserve(ctx, "update", r, changes)
	}
	if err == nil && lacksPurge {
		err = s.reserve(ctx, "update", r, []string{"Flags+=" + purge(r)})
	}
	for _, p := range needed {
		err = errors.Join(err, s.Unreserve(ctx, p.Name))
	}
	return err
}

// conflicting returns a reservation that does not belong to the sidecar, is on one of r's nodes, and overlaps r's
// time. It returns nil if there is none.
func conflicting(all []adapter.Reservation, r adapter.Reservation) *adapter.Reservation {
	wanted := hostlist.Set(r.Nodes)
	for i, o := range all {
		meets := func(s adapter.Span) bool { return s.Start < r.End && r.Start < s.End }
		if !o.Ours() && slices.ContainsFunc(o.Spans(), meets) && len(hostlist.Within(o.Nodes, wanted)) > 0 {
			return &all[i]
		}
	}
	return nil
}

// probes returns temporary reservations that must be created before `old` is changed to `r`. Slurm checks which
// jobs hold the nodes only when it creates a reservation. It does not refuse an update that adds nodes or moves the
// start to an earlier time. Therefore the added part is created first, under another name, and deleted after the
// update. Until then both reservations keep the nodes.
func probes(old, r adapter.Reservation, now time.Time) []adapter.Reservation {
	if r.OverManaged {
		return nil // jobs that hold the nodes do not matter
	}
	var needed []adapter.Reservation
	probe := r
	has := hostlist.Set(old.Nodes)
	if old.OverManaged {
		has = nil // Slurm never checked which jobs hold the nodes of the old reservation
	}
	isNew := func(n string) bool { return !has[n] }
	probe.Name = r.Name + "-more"
	if probe.Nodes = slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return !isNew(n) }); len(probe.Nodes) > 0 {
		needed = append(needed, probe)
	}
	if probe.Nodes = slices.DeleteFunc(slices.Clone(r.Nodes), isNew); len(probe.Nodes) > 0 && max(r.Start, now.Unix()) < old.Start {
		probe.Name, probe.End = r.Name+"-sooner", old.Start
		needed = append(needed, probe)
	}
	return needed
}

// reserve runs `scontrol create reservation` or `scontrol update reservation`.
func (s *System) reserve(ctx context.Context, verb string, r adapter.Reservation, settings []string) error {
	err := s.Run.Scontrol(ctx, append([]string{verb, "reservation", "ReservationName=" + r.Name}, settings...)...)
	switch {
	case err == nil:
		return nil
	case client.Refused(err, client.NodesBusy, client.ReservationOverlaps, client.NodesUnfit):
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
		return fmt.Errorf("reservation %s: no user may use it", r.Name)
	case r.End <= r.Start:
		return fmt.Errorf("reservation %s: it ends before it begins (%d, %d)", r.Name, r.Start, r.End)
	}
	return nil
}

// purge returns a flag for a reservation. With this flag Slurm deletes the active reservation after it had no
// running or pending job for the time `r.Idle`, rounded up to a minute. Slurm checks this every 30 s. The flag
// cannot be set in an update that removes another flag.
func purge(r adapter.Reservation) string {
	return "PURGE_COMP=" + output.Minutes(r.Idle)
}

// reservationChanges returns scontrol's arguments that change `old` into `r`, or create `r` if `old` is nil. It
// does not add the purge flag to an existing reservation. The start of an active reservation cannot be changed.
func reservationChanges(old *adapter.Reservation, r adapter.Reservation, now time.Time) []string {
	var changes []string
	if old == nil {
		flags := "Flags=OVERLAP"
		if r.OverManaged {
			flags += ",IGNORE_JOBS"
		}
		if r.Idle > 0 {
			flags += "," + purge(r)
		}
		changes = append(changes, flags)
		old = &adapter.Reservation{Start: -1, OverManaged: r.OverManaged}
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
		changes = append(changes, "Flags+=IGNORE_JOBS")
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

// reservations reads all reservations.
func (s *System) reservations(ctx context.Context) ([]adapter.Reservation, error) {
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "reservation"}, Kind: client.Listing})
	if err != nil {
		return nil, err
	}
	var all []adapter.Reservation
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if strings.HasPrefix(line, "ReservationName=") {
			r, err := output.ParseReservation(line)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// Reserved implements release.System.
func (s *System) Reserved(ctx context.Context) ([]adapter.Reservation, []adapter.Job, error) {
	records, err := s.Jobs.List(ctx) // jobs are read before reservations; so if a job starts in between, its reservation still counts as used
	if err != nil {
		return nil, nil, err
	}
	all, err := s.reservations(ctx)
	jobs := make([]adapter.Job, len(records))
	for i := range records {
		jobs[i] = records[i].Job
	}
	return all, jobs, err
}

// Unreserve deletes one of the sidecar's reservations. It returns ErrBusy while a job is attached to the
// reservation. The caller must detach the job first.
func (s *System) Unreserve(ctx context.Context, name string) error {
	if !(adapter.Reservation{Name: name}).Ours() {
		return fmt.Errorf("reservation %q is not ours: not deleted", name)
	}
	err := s.Run.Scontrol(ctx, "delete", "ReservationName="+name)
	switch {
	case err == nil, client.Refused(err, client.ReservationInvalid):
		return nil
	case client.Refused(err, client.ReservationInUse):
		return fmt.Errorf("deleting reservation %s: %w (%w)", name, adapter.ErrBusy, err)
	}
	return fmt.Errorf("deleting reservation %s: %w", name, err)
}
