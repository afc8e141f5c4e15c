package slurm

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/slurm/client"
)

// A managed job waits parked: tied to a reservation in the far future instead of held. So it keeps the rank that the site
// gives it (fair share, QOS, partition, size), which a held job loses, and keeps no other job back. It starts when it is
// tied to a reservation that has begun.

// Park is the name of that reservation. It lies on one node, where no job can come near it, and stays when no job waits.
const Park = adapter.Prefix + "park"

// parkAhead is how far it lies ahead, in days. Slurm takes a job without a limit to last for a year.
const parkAhead = 3650

// parked says whether the job waits for that reservation.
func (r *record) parked() bool { return r.Reservation == Park }

// stopped says whether the job is held in Slurm's sense, by its owner or by root: parked or not, it does not start.
func (r *record) stopped() bool { return r.Priority == 0 || r.HeldByUser || r.Why == "JobHeldAdmin" }

// park ties a pending job to the reservation, which is made when it is not there, and takes away its hold.
func (s *System) park(ctx context.Context, r *record) error {
	if !r.parked() {
		err := s.update(ctx, r.Key, "ReservationName="+Park)
		if client.Says(err, "reservation is invalid") {
			if err = s.makePark(ctx); err == nil {
				err = s.update(ctx, r.Key, "ReservationName="+Park)
			}
		}
		if err != nil {
			return err
		}
	}
	if r.stopped() {
		return s.jobCommand(ctx, r.Key, "release")
	}
	return nil
}

// makePark makes the reservation, in which everybody's jobs may wait.
func (s *System) makePark(ctx context.Context) error {
	in, err := s.ground(ctx)
	if err != nil {
		return err
	}
	pool, err := poolNodes(in, s.config.Partitions)
	if err != nil {
		return err
	}
	for _, n := range in.nodes {
		if !pool[n.Name] {
			continue
		}
		err := s.run.Scontrol(ctx, "create", "reservation", "ReservationName="+Park, fmt.Sprintf("StartTime=now+%ddays", parkAhead),
			"Duration=1", "Nodes="+n.Name, "Users=-root", "Flags=OVERLAP,IGNORE_JOBS")
		if err == nil || client.Says(err, "duplicate", "already") { // another act made it just now
			return nil
		}
		return fmt.Errorf("reservation %s, in which managed jobs wait: %w", Park, err)
	}
	return fmt.Errorf("reservation %s: partition %s has no nodes", Park, strings.Join(s.config.Partitions, ", "))
}

// age is what the job's age would add to its priority, and does not while it is parked: Slurm takes it for one that could not
// start.
func (c configuration) age(r *record, now time.Time) int64 {
	weight, _ := c.number("PriorityWeightAge")
	most, err := limit(c["PriorityMaxAge"])
	if c["PriorityType"] != "priority/multifactor" || strings.Contains(c["PriorityFlags"], "ACCRUE_ALWAYS") || err != nil || most <= 0 {
		return 0
	}
	waited := max(0, now.Unix()-max(r.Submitted, r.Begin)) / 60 * 60 // by the minute: who looks need not see each point
	return int64(math.Round(float64(weight) * min(1, float64(waited)/float64(most))))
}

// rank writes into parked jobs the priority that they would have if they waited as others do.
func (s *System) rank(ctx context.Context, jobs []record) {
	c, err := s.recent(ctx)
	if err != nil {
		return // the next reading does it
	}
	now := time.Now()
	for i := range jobs {
		if r := &jobs[i]; r.State == adapter.Pending && r.parked() && r.Priority > 0 {
			r.Priority += c.age(r, now)
		}
	}
}
