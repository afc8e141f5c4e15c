package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/pass"
	"accordion/oar/server"
)

// alter does something to one job in a transaction, which keeps others from changing its state meanwhile. ErrGone when OAR
// does not know the job.
func (s *System) alter(ctx context.Context, job adapter.Key, do func(tx *sql.Tx, r *record, now core.Time) error) error {
	return s.db.Change(ctx, func(tx *sql.Tx) error {
		lock := fmt.Sprintf("SELECT job_id FROM jobs WHERE job_id = %d FOR UPDATE", job.ID)
		if err := database.Rows(ctx, tx, "the job", lock, nil, func(*sql.Rows) error { return nil }); err != nil {
			return err
		}
		r, err := s.lookup(ctx, tx, job)
		if err != nil {
			return err
		}
		now, err := s.db.Second(ctx, tx)
		if err != nil {
			return err
		}
		return do(tx, r, now)
	})
}

// pending says what is wrong with a job that should wait and was not launched yet.
func pending(r *record) error {
	if r.state != database.StateWaiting && r.state != database.StateHold {
		return fmt.Errorf("job %d is %s, not waiting any more: %w", r.ID, r.state, adapter.ErrGone)
	}
	return nil
}

// Adopt makes a waiting job ours: it gets a row in Accordion's table, which only OAR's own account can write, and the
// scheduler plans it only when that says so. A hold of its user's (oarhold) stays his.
func (s *System) Adopt(ctx context.Context, job adapter.Key) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) error {
		switch {
		case pending(r) != nil:
			return pending(r)
		case r.Unfit != "":
			return errors.New(r.Unfit)
		case r.Mark != "":
			return nil
		case r.Comment == "":
			return errors.New("it has no type ep=…")
		}
		if _, err := adapter.ParseRequest(r.Comment); err != nil {
			return err
		}
		err := database.Run(ctx, tx, "adopting", fmt.Sprintf("DELETE FROM accordion_jobs WHERE job_id = %d OR base = %d", job.ID, job.ID))
		if err == nil {
			err = tidy(ctx, tx, now)
		}
		if err != nil {
			return err
		}
		query := fmt.Sprintf("INSERT INTO accordion_jobs (job_id, submitted, mark, base, released, reservation) VALUES (%d, %d, %s, 0, 0, '')",
			job.ID, job.Submitted, s.db.Arg(1))
		_, err = tx.ExecContext(ctx, query, adapter.MarkPrefix+r.Comment)
		return err
	})
	if err != nil {
		return fmt.Errorf("adopting job %d: %w", job.ID, err)
	}
	return nil
}

// remembered is for how many seconds Accordion's tables tell of a job that is over.
const remembered core.Time = 24 * 3600

// tidy forgets jobs that are over; their places not before their companions are.
func tidy(ctx context.Context, tx *sql.Tx, now core.Time) error {
	const over = "SELECT 1 FROM jobs j WHERE j.state IN ('Terminated', 'Error') AND j.job_id = "
	const companions = "SELECT 1 FROM accordion_jobs c JOIN jobs j ON j.job_id = c.job_id WHERE j.state NOT IN ('Terminated', 'Error') AND c.base = "
	return database.Run(ctx, tx, "forgetting jobs that are over",
		"DELETE FROM accordion_places WHERE EXISTS ("+over+"accordion_places.job_id) AND NOT EXISTS ("+companions+"accordion_places.job_id)",
		fmt.Sprintf("DELETE FROM accordion_jobs WHERE EXISTS (%saccordion_jobs.job_id AND j.stop_time < %d AND j.submission_time < %d)", over, now-remembered, now-remembered))
}

// Refuse ends a waiting job. The line for its user becomes the job's message, which oarstat prints: a job that never ran has
// no output.
func (s *System) Refuse(ctx context.Context, job adapter.Key, why string) error {
	refused := false
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) error {
		if refused = !r.over() && r.State != adapter.Ending; !refused {
			return nil
		}
		if err := pending(r); err != nil {
			return err
		}
		return s.db.Frag(ctx, tx, now, int64(job.ID))
	})
	switch {
	case errors.Is(err, adapter.ErrGone) && s.unknown(ctx, job), err == nil && !refused:
		return nil
	case err == nil:
		if err = s.await(ctx, s.over(job)); err == nil { // OAR writes a message of its own when it ends it
			_, err = s.db.Sql.ExecContext(ctx, fmt.Sprintf("UPDATE jobs SET message = %s WHERE job_id = %d", s.db.Arg(1), job.ID), "Accordion refused this job: "+short(why))
		}
	}
	if err != nil {
		return fmt.Errorf("refusing job %d: %w", job.ID, err)
	}
	return nil
}

// over awaits the end of a job that OAR was asked to end.
func (s *System) over(job adapter.Key) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		states, err := s.states(ctx, []adapter.Key{job})
		if state := states[job.ID]; err != nil || state == "Terminated" || state == "Error" || state == "" {
			return nil, err
		}
		return []string{server.Ends}, nil
	}
}

// unknown says whether OAR does not know the job.
func (s *System) unknown(ctx context.Context, job adapter.Key) bool {
	_, err := s.lookup(ctx, s.db.Sql, job)
	return errors.Is(err, adapter.ErrGone)
}

// short makes a text fit for jobs.message: on one line, of bounded length.
func short(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > pass.MostSaid/2 {
		runes = append(runes[:pass.MostSaid/2], '…')
	}
	return string(runes)
}

// Shape gives a waiting job its walltime, and the nodes of its base: the least that any step of a profile with that first
// step has.
func (s *System) Shape(ctx context.Context, job adapter.Key, shape adapter.Shape) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, _ core.Time) error {
		if err := pending(r); err != nil {
			return err
		}
		if shape.Nodes < 1 || shape.Limit < 1 || shape.Limit > core.MaxTotal {
			return fmt.Errorf("%d nodes for %d s: both must be positive and not endless", shape.Nodes, shape.Limit)
		}
		base, err := baseOf(r, shape.Nodes)
		if err != nil {
			return err
		}
		return s.db.Reshape(ctx, tx, int64(job.ID), base, shape.Limit)
	})
	if err != nil {
		return fmt.Errorf("shaping job %d: %w", job.ID, err)
	}
	return nil
}

// profiles are those that a job was adopted with.
func profiles(r *record) ([]core.EP, error) { return adapter.ParseRequest(adapter.RequestOf(&r.Job)) }

// baseOf is how many nodes the base of a job has that begins on so many.
func baseOf(r *record, first int) (int, error) {
	eps, err := profiles(r)
	if err != nil {
		return 0, err
	}
	base := 0
	for _, ep := range eps {
		if ep[0].Nodes != first {
			continue
		}
		for _, step := range ep {
			if base == 0 || step.Nodes < base {
				base = step.Nodes
			}
		}
	}
	if base == 0 {
		return 0, fmt.Errorf("no profile of its begins on %d nodes", first)
	}
	return base, nil
}
