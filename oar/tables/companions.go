package tables

import (
	"context"
	"database/sql"
	"fmt"

	"accordion/oar/database"
)

// Companions returns the IDs of a job's companions, including those that have ended.
func Companions(ctx context.Context, from database.Querier, base int64) ([]int64, error) {
	return database.Numbers(ctx, from, "SELECT job_id FROM accordion_jobs WHERE base", []int64{base})
}

// CompanionsAndBase returns a job's companions, including those that have ended. For a companion it returns the base.
// It reads only Accordion's own table, because OAR with MariaDB locks its own tables while it waits for the epilogue
// of a companion.
func (d Tables) CompanionsAndBase(ctx context.Context, job int64) (companions []int64, base int64, err error) {
	query := fmt.Sprintf("SELECT job_id, base FROM accordion_jobs WHERE base = %d OR job_id = %d AND base <> 0", job, job)
	err = database.Rows(ctx, d.Sql, "the companions", query, nil, func(r *sql.Rows) error {
		var id, of int64
		err := r.Scan(&id, &of)
		if id == job {
			base = of
		} else {
			companions = append(companions, id)
		}
		return err
	})
	return companions, base, err
}

// CompanionsToEnd returns the companions of a job that have not ended, and for which no end was requested yet.
func (d Tables) CompanionsToEnd(ctx context.Context, job int64) ([]int64, error) {
	query := fmt.Sprintf(`SELECT j.job_id FROM accordion_jobs c JOIN jobs j ON j.job_id = c.job_id
		WHERE c.base = %d AND j.state NOT IN ('Terminated', 'Error', 'Finishing')
		AND EXISTS (SELECT 1 FROM job_types t WHERE t.job_id = j.job_id AND t.type = 'noop')
		AND NOT EXISTS (SELECT 1 FROM frag_jobs f WHERE f.frag_id_job = j.job_id) ORDER BY j.job_id`, job)
	return database.Column[int64](ctx, d.Sql, "the companions", query)
}

// Mark sets the mark of companions.
func (d Tables) Mark(ctx context.Context, tx *sql.Tx, companions []int64, mark string) error {
	query := fmt.Sprintf("UPDATE accordion_jobs SET mark = %s WHERE job_id IN (%s)", d.Arg(1), database.List(companions))
	if _, err := tx.ExecContext(ctx, query, mark); err != nil {
		return fmt.Errorf("marking the companions: %w", err)
	}
	return nil
}

// ReplaceMark replaces a mark of a job's companions that were made in a reservation.
func (d Tables) ReplaceMark(ctx context.Context, tx *sql.Tx, base int64, reservation, mark, becomes string) error {
	query := fmt.Sprintf("UPDATE accordion_jobs SET mark = %s WHERE base = %d AND mark = %s AND reservation = %s", d.Arg(1), base, d.Arg(2), d.Arg(3))
	_, err := tx.ExecContext(ctx, query, becomes, mark, reservation)
	return err
}
