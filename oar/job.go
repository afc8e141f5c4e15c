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
)

// alter does something to one job in a transaction, which keeps others from changing its state meanwhile. ErrGone when OAR
// does not know the job.
func (s *System) alter(ctx context.Context, job adapter.Key, do func(tx *sql.Tx, r *observe.Job, now core.Time) error) error {
	return s.db.Change(ctx, func(tx *sql.Tx) error {
		lock := fmt.Sprintf("SELECT job_id FROM jobs WHERE job_id = %d FOR UPDATE", job.ID)
		if err := database.Rows(ctx, tx, "the job", lock, nil, func(*sql.Rows) error { return nil }); err != nil {
			return err
		}
		r, err := s.read.Job(ctx, tx, job)
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
func pending(r *observe.Job) error {
	if r.OARState != database.StateWaiting && r.OARState != database.StateHold {
		return fmt.Errorf("job %d is %s, not waiting any more: %w", r.ID, r.OARState, adapter.ErrGone)
	}
	return nil
}

// running says what is wrong with a job that should run.
func running(r *observe.Job) error {
	if r.State != adapter.Running || r.Whole != 0 {
		return fmt.Errorf("job %d is %s, not running: %w", r.ID, r.OARState, adapter.ErrGone)
	}
	return nil
}

// unknown says whether OAR does not know the job.
func (s *System) unknown(ctx context.Context, job adapter.Key) bool {
	_, err := s.read.Job(ctx, s.db.Sql, job)
	return errors.Is(err, adapter.ErrGone)
}

// profiles are those that a job was adopted with.
func profiles(r *observe.Job) ([]core.EP, error) {
	return adapter.ParseRequest(adapter.RequestOf(&r.Job))
}

// baseOf is how many nodes the base of a job has that begins on so many: all, of a part of an application.
func baseOf(r *observe.Job, first int) (int, error) {
	if _, delegated := adapter.LaunchOf(&r.Job); delegated {
		return first, nil
	}
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

// numbersOf are the numbers of jobs.
func numbersOf(jobs []adapter.Key) []int64 {
	ids := make([]int64, len(jobs))
	for i, j := range jobs {
		ids[i] = int64(j.ID)
	}
	return ids
}
