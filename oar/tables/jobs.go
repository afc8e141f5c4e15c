package tables

import (
	"context"
	"database/sql"
	"fmt"

	"accordion/core"
	"accordion/oar/database"
)

// Row is a row of accordion_jobs: an evolving job, or a companion.
type Row struct {
	Job         int64
	Submitted   core.Time
	Mark        string
	Base        int64 // base job of a companion; 0 for other jobs
	Released    bool
	Reservation string
}

// executor is a database, or a transaction in it.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Add adds a row.
func (d Tables) Add(ctx context.Context, tx *sql.Tx, r Row) error {
	query := fmt.Sprintf("INSERT INTO accordion_jobs (job_id, submitted, mark, base, released, reservation) VALUES (%d, %d, %s, %d, %d, %s)",
		r.Job, r.Submitted, d.Arg(1), r.Base, number(r.Released), d.Arg(2))
	_, err := tx.ExecContext(ctx, query, r.Mark, r.Reservation)
	return err
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Adopt adds the row of an evolving job, and removes the rows of an earlier job with the same ID.
func (d Tables) Adopt(ctx context.Context, tx *sql.Tx, r Row, now core.Time) error {
	err := database.Run(ctx, tx, "adopting", fmt.Sprintf("DELETE FROM accordion_jobs WHERE job_id = %d OR base = %d", r.Job, r.Job))
	if err == nil {
		err = deleteEnded(ctx, tx, now)
	}
	if err == nil {
		err = d.Add(ctx, tx, r)
	}
	return err
}

// remembered is how many seconds Accordion's tables keep the rows of a job after its end.
const remembered core.Time = 24 * 3600

// deleteEnded removes the rows of jobs that have ended. A job keeps its places until its companions have ended.
func deleteEnded(ctx context.Context, tx *sql.Tx, now core.Time) error {
	const over = "SELECT 1 FROM jobs j WHERE j.state IN ('Terminated', 'Error') AND j.job_id = "
	const companions = "SELECT 1 FROM accordion_jobs c JOIN jobs j ON j.job_id = c.job_id WHERE j.state NOT IN ('Terminated', 'Error') AND c.base = "
	return database.Run(ctx, tx, "forgetting jobs that are over",
		"DELETE FROM accordion_places WHERE EXISTS ("+over+"accordion_places.job_id) AND NOT EXISTS ("+companions+"accordion_places.job_id)",
		fmt.Sprintf("DELETE FROM accordion_jobs WHERE EXISTS (%saccordion_jobs.job_id AND j.stop_time < %d AND j.submission_time < %d)", over, now-remembered, now-remembered))
}

// SetReservation ties a job to a reservation. If `reservation` is "", it removes the tie.
func (d Tables) SetReservation(ctx context.Context, to executor, job int64, reservation string) error {
	query := fmt.Sprintf("UPDATE accordion_jobs SET reservation = %s WHERE job_id = %d", d.Arg(1), job)
	_, err := to.ExecContext(ctx, query, reservation)
	return err
}

// Release lets a job start on its places.
func (d Tables) Release(ctx context.Context, tx *sql.Tx, job int64) error {
	return database.Run(ctx, tx, "releasing", fmt.Sprintf("UPDATE accordion_jobs SET released = 1 WHERE job_id = %d", job))
}

// Withdraw takes back the release of a job, and of its companions, that have not started. It removes their ties to reservations, their
// places, and their entries in OAR's plan.
func (d Tables) Withdraw(ctx context.Context, tx *sql.Tx, job int64, companions []int64) error {
	withdrawn := append([]int64{job}, companions...)
	choices, err := database.Numbers(ctx, tx, "SELECT moldable_id FROM moldable_job_descriptions WHERE moldable_job_id", withdrawn)
	if err != nil {
		return err
	}
	return database.Run(ctx, tx, "holding",
		fmt.Sprintf("UPDATE accordion_jobs SET released = 0, reservation = '' WHERE job_id = %d", job),
		fmt.Sprintf("UPDATE accordion_jobs SET released = 0 WHERE job_id IN (%s)", database.List(companions)),
		fmt.Sprintf("DELETE FROM accordion_places WHERE job_id IN (%s)", database.List(withdrawn)),
		fmt.Sprintf("DELETE FROM gantt_jobs_resources WHERE moldable_job_id IN (%s)", database.List(choices)),
		fmt.Sprintf("DELETE FROM gantt_jobs_predictions WHERE moldable_job_id IN (%s)", database.List(choices)))
}
