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

// A checkpointAction is what to do about a besteffort job with a checkpoint. The job holds nodes of our reservations, and OAR waits for the
// checkpoint before it ends the job.
type checkpointAction int

const (
	stay       checkpointAction = iota
	checkpoint                  // send the job the checkpoint signal
	end                         // end the job, because its time for the checkpoint has passed
)

// actionFor returns the action for a job at second `now`. The job gets the signal early enough to have ended when the reservation begins.
// It is ended once its time for the checkpoint has passed and the reservation has begun.
func actionFor(y observe.BesteffortJob, reservations []adapter.Reservation, now core.Time) checkpointAction {
	action := stay
	for _, r := range reservations {
		if !r.Ours() || r.End <= now || !slices.ContainsFunc(r.Nodes, func(host string) bool { return slices.Contains(y.Nodes, host) }) {
			continue
		}
		switch {
		case y.Asked == 0 && r.Start <= now+y.Patience:
			action = max(action, checkpoint)
		case y.Asked != 0 && r.Start <= now && y.Ends(now) <= now:
			action = end
		}
	}
	return action
}

// makeWay removes besteffort jobs from the nodes of our reservations, as OAR does when another job starts on them. It has OAR send them the
// checkpoint signal, and ends them when their time for the checkpoint has passed.
func (s *System) makeWay(ctx context.Context, yielding []observe.BesteffortJob, reservations []adapter.Reservation) error {
	if len(yielding) == 0 || !slices.ContainsFunc(reservations, adapter.Reservation.Ours) {
		return nil
	}
	now, err := s.db.Second(ctx, s.db.Sql)
	if err != nil {
		return err
	}
	for _, y := range yielding {
		switch actionFor(y, reservations, now) {
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

// event adds an event of a job to OAR's log of events.
func event(ctx context.Context, tx *sql.Tx, kind string, job int64, now core.Time, text string) error {
	return database.Run(ctx, tx, "writing an event of job "+strconv.FormatInt(job, 10),
		fmt.Sprintf("INSERT INTO event_logs (type, job_id, date, description, to_check) VALUES ('%s', %d, %d, '%s', 'NO')", kind, job, now, text))
}

// askForCheckpoint records the request for the job's checkpoint. The time that the job has for the checkpoint starts
// then. It has OAR send the signal in the background, because sending waits until the node answers.
func (s *System) askForCheckpoint(ctx context.Context, y observe.BesteffortJob, now core.Time) error {
	s.log.Info("a besteffort job gets its checkpoint signal: a reservation needs its nodes", "job", y.Job, "user", y.User,
		"nodes", hostlist.Compact(y.Nodes), "patience", y.Patience)
	text := "Accordion requested a checkpoint: a job is to have its nodes"
	if err := s.db.Change(ctx, func(tx *sql.Tx) error { return event(ctx, tx, "CHECKPOINT", y.Job, now, text) }); err != nil {
		return err
	}
	s.asking.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		if out, err := server.Program(ctx, s.oardel(), "-c", strconv.FormatInt(y.Job, 10)).CombinedOutput(); err != nil {
			s.log.Warn("the sidecar could not send a besteffort job its checkpoint signal: OAR's next pass does", "job", y.Job, "error", err, "says", database.Short(string(out)))
		}
	})
	return nil
}
