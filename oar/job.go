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

// alter runs `do` in a transaction that locks the job's row, so that nothing else changes the job's state meanwhile. It returns ErrGone if
// OAR does not know the job.
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

// pending returns an error unless the job still waits, without having been launched.
func pending(r *observe.Job) error {
	if r.OARState != database.StateWaiting && r.OARState != database.StateHold {
		return fmt.Errorf("job %d is %s and no longer waiting: %w", r.ID, r.OARState, adapter.ErrGone)
	}
	return nil
}

// running returns an error unless the job runs and is not a companion.
func running(r *observe.Job) error {
	if r.State != adapter.Running || r.BaseJob != 0 {
		return fmt.Errorf("job %d is %s, not running: %w", r.ID, r.OARState, adapter.ErrGone)
	}
	return nil
}

// unknown reports whether OAR does not know the job.
func (s *System) unknown(ctx context.Context, job adapter.Key) bool {
	_, err := s.read.Job(ctx, s.db.Sql, job)
	return errors.Is(err, adapter.ErrGone)
}

// profiles parses the profiles with which a job was adopted.
func profiles(r *observe.Job) ([]core.EP, error) {
	return adapter.ParseRequest(adapter.RequestOf(&r.Job))
}

// baseOf returns the size of the base of a job that starts on `first` nodes. It is the smallest step of the profiles whose first step has
// that size. For a part of a delegated application it is `first`.
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
		return 0, fmt.Errorf("none of its profiles begins on %d nodes", first)
	}
	return base, nil
}

// numbersOf returns the IDs of the jobs.
func numbersOf(jobs []adapter.Key) []int64 {
	ids := make([]int64, len(jobs))
	for i, j := range jobs {
		ids[i] = int64(j.ID)
	}
	return ids
}
