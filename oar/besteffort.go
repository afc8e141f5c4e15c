package oar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/oar/database"
	"accordion/oar/observe"
	"accordion/oar/server"
)

// word is the action for a besteffort job that is in the way of our reservations and for whose
// checkpoint OAR waits.
type word int

const (
	stay       word = iota
	checkpoint      // send it the checkpoint signal
	end             // its time for the checkpoint has ended
)

// wordFor returns the action. A job receives the signal so early that it is gone when the
// reservation begins. It is ended when its time has ended and the reservation has begun.
func wordFor(y observe.Yielding, reservations []adapter.Reservation, now core.Time) word {
	said := stay
	for _, r := range reservations {
		if !r.Ours() || r.End <= now || !slices.ContainsFunc(r.Nodes, func(host string) bool { return slices.Contains(y.Nodes, host) }) {
			continue
		}
		switch {
		case y.Asked == 0 && r.Start <= now+y.Patience:
			said = max(said, checkpoint)
		case y.Asked != 0 && r.Start <= now && y.Ends(now) <= now:
			said = end
		}
	}
	return said
}

// makeWay removes besteffort jobs from the nodes of our reservations, as OAR does where a job is to
// begin at once. It has OAR send them a signal, and ends them when their time has ended.
func (s *System) makeWay(ctx context.Context, yielding []observe.Yielding, reservations []adapter.Reservation) error {
	if len(yielding) == 0 || !slices.ContainsFunc(reservations, adapter.Reservation.Ours) {
		return nil
	}
	now, err := s.db.Second(ctx, s.db.Sql)
	if err != nil {
		return err
	}
	for _, y := range yielding {
		switch wordFor(y, reservations, now) {
		case checkpoint:
			err = s.askForCheckpoint(ctx, y, now)
		case end:
			s.log.Info("a besteffort job is ended for a reservation", "job", y.Job, "user", y.User, "nodes", hostlist.Compact(y.Nodes), "patience", y.Patience)
			err = s.db.Change(ctx, func(tx *sql.Tx) error {
				if err := event(ctx, tx, "BESTEFFORT_KILL", y.Job, now, "Accordion ends the besteffort job, which has had the time for its checkpoint"); err != nil {
					return err
				}
				return s.db.Frag(ctx, tx, now, y.Job)
			})
			s.server.Notify(server.Ends)
		}
		if err != nil {
			return fmt.Errorf("besteffort job %d: %w", y.Job, err)
		}
	}
	return nil
}

// event writes an event of a job into OAR's log.
func event(ctx context.Context, tx *sql.Tx, kind string, job int64, now core.Time, text string) error {
	return database.Run(ctx, tx, "writing an event of job "+strconv.FormatInt(job, 10),
		fmt.Sprintf("INSERT INTO event_logs (type, job_id, date, description, to_check) VALUES ('%s', %d, %d, '%s', 'NO')", kind, job, now, text))
}

// askForCheckpoint records that a job was asked, which starts its time, and has OAR send the
// signal. That takes as long as the node takes to answer, and no caller waits for it.
func (s *System) askForCheckpoint(ctx context.Context, y observe.Yielding, now core.Time) error {
	s.log.Info("a besteffort job is asked for its checkpoint: a reservation is to have its nodes", "job", y.Job, "user", y.User,
		"nodes", hostlist.Compact(y.Nodes), "patience", y.Patience)
	text := "Accordion requested a checkpoint: a job is to have its nodes"
	if err := s.db.Change(ctx, func(tx *sql.Tx) error { return event(ctx, tx, "CHECKPOINT", y.Job, now, text) }); err != nil {
		return err
	}
	s.asking.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		if out, err := server.Program(ctx, s.oardel(), "-c", strconv.FormatInt(y.Job, 10)).CombinedOutput(); err != nil {
			s.log.Warn("a besteffort job is not asked for its checkpoint by the sidecar, but by OAR's next pass", "job", y.Job, "error", err, "says", database.Short(string(out)))
		}
	})
	return nil
}
