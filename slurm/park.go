package slurm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/slurm/client"
	"accordion/slurm/limits"
	"accordion/slurm/output"
)

// A managed job waits parked: tied to a reservation in the far future instead of held. So it keeps the rank that the site
// gives it (fair share, QOS, partition, size), which a held job loses, and keeps no other job back. It starts when it is
// tied to a reservation that has begun.

// parkAhead is how far it lies ahead, in days. Slurm takes a job without a limit to last for a year.
const parkAhead = 3650

// park ties a pending job to the reservation, which is made when it is not there, and takes away its hold.
func (s *System) park(ctx context.Context, r *output.Record) error {
	if !r.Parked() {
		err := s.Update(ctx, r.Key, "ReservationName="+output.Park)
		if client.Says(err, "reservation is invalid") {
			if err = s.makePark(ctx); err == nil {
				err = s.Update(ctx, r.Key, "ReservationName="+output.Park)
			}
		}
		if err != nil {
			return err
		}
	}
	if r.Stopped() {
		return s.Command(ctx, r.Key, "release")
	}
	return nil
}

// makePark makes the reservation, in which everybody's jobs may wait.
func (s *System) makePark(ctx context.Context) error {
	in, err := s.Ground(ctx)
	if err != nil {
		return err
	}
	pool, err := output.PoolNodes(in, s.Pool)
	if err != nil {
		return err
	}
	for _, n := range in.Nodes {
		if !pool[n.Name] {
			continue
		}
		err := s.Run.Scontrol(ctx, "create", "reservation", "ReservationName="+output.Park, fmt.Sprintf("StartTime=now+%ddays", parkAhead),
			"Duration=1", "Nodes="+n.Name, "Users=-root", "Flags=OVERLAP,IGNORE_JOBS")
		if err == nil || client.Says(err, "duplicate", "already") { // another act made it just now
			return nil
		}
		return fmt.Errorf("reservation %s, in which managed jobs wait: %w", output.Park, err)
	}
	return fmt.Errorf("reservation %s: partition %s has no nodes", output.Park, strings.Join(s.Pool, ", "))
}

// rank writes into parked jobs the priority that they would have if they waited as others do.
func (s *System) rank(ctx context.Context, jobs []output.Record) {
	c, err := s.Recent(ctx)
	if err != nil {
		return // the next reading does it
	}
	now := time.Now()
	for i := range jobs {
		if r := &jobs[i]; r.State == adapter.Pending && r.Parked() && r.Priority > 0 {
			r.Priority += limits.Age(c, r, now)
		}
	}
}
