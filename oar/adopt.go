package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/observe"
	"accordion/oar/tables"
)

// Adopt makes a waiting job a managed job. It adds a row for the job to Accordion's table, which only OAR's own account can write. From
// then on the scheduler plans the job only when that row allows it. A hold that the user has set (oarhold) stays in place.
func (s *System) Adopt(ctx context.Context, job adapter.Key) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *observe.Job, now core.Time) error {
		switch {
		case pending(r) != nil:
			return pending(r)
		case r.Unfit != "":
			return errors.New(r.Unfit)
		case r.Mark != "":
			return nil
		case r.Comment == "":
			return errors.New("the job has no type ep=… or launch=…")
		}
		if err := checkRequest(r); err != nil {
			return err
		}
		return s.db.Adopt(ctx, tx, tables.Row{Job: int64(job.ID), Submitted: job.Submitted, Mark: adapter.MarkPrefix + r.Comment}, now)
	})
	if err != nil {
		return fmt.Errorf("adopting job %d: %w", job.ID, err)
	}
	return nil
}

// checkRequest returns an error if the job's request is wrong.
func checkRequest(r *observe.Job) error {
	var err error
	if adapter.Delegated(&r.Job) {
		_, err = adapter.ParseLaunch(r.Comment)
	} else {
		_, err = adapter.ParseRequest(r.Comment)
	}
	return err
}

// Refuse ends a waiting job. The reason becomes the job's message, which oarstat prints, because a job that never ran
// has no output file.
func (s *System) Refuse(ctx context.Context, job adapter.Key, why string) error {
	refused := false
	err := s.alter(ctx, job, func(tx *sql.Tx, r *observe.Job, now core.Time) error {
		if refused = !r.Over() && r.State != adapter.Ending; !refused {
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
		if err = s.await(ctx, s.ended(job)); err == nil { // wait, because OAR writes its own message when it ends the job
			_, err = s.db.Sql.ExecContext(ctx, fmt.Sprintf("UPDATE jobs SET message = %s WHERE job_id = %d", s.db.Arg(1), job.ID), "Accordion refused this job: "+database.Short(why))
		}
	}
	if err != nil {
		return fmt.Errorf("refusing job %d: %w", job.ID, err)
	}
	return nil
}

// Shape sets a waiting job's walltime and the size of its base. It considers the profiles whose first step has
// shape.Nodes nodes. The base gets as many nodes as the smallest step of these profiles.
func (s *System) Shape(ctx context.Context, job adapter.Key, shape adapter.Shape) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *observe.Job, _ core.Time) error {
		if err := pending(r); err != nil {
			return err
		}
		if shape.Nodes < 1 || shape.Limit < 1 || shape.Limit > core.MaxTotal {
			return fmt.Errorf("%d nodes for %d s: both must be positive and finite", shape.Nodes, shape.Limit)
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
