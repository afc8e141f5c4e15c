package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"accordion/adapter"
	"accordion/core"
)

// imminent is for how many seconds to come no waiting job may be planned on nodes that are taken past the meta-scheduler: a
// pass under way may start it.
const imminent core.Time = 5

// mayLaunch says whether no pass of the meta-scheduler can give nodes of a reservation to another job before this transaction is
// over. Who holds them has to be looked at after it.
func (s *System) mayLaunch(ctx context.Context, tx *sql.Tx, reservation string, nodes []string, now core.Time) (bool, error) {
	idle, err := s.idle(ctx, tx)
	if err != nil || idle {
		return idle, err
	}
	resources, err := s.resources(ctx, tx, nodes)
	if err != nil {
		return false, err
	}
	return s.kept(ctx, tx, reservation, resources, now)
}

// launch gives companions their places and leaves them to OAR to begin, without a pass of the meta-scheduler, as that
// would do it: a pass comes up to three seconds late when others came just before it.
func (s *System) launch(ctx context.Context, tx *sql.Tx, companions []adapter.Key, now core.Time) error {
	for _, c := range companions {
		choices, err := numbers(ctx, tx, "SELECT moldable_id FROM moldable_job_descriptions WHERE moldable_job_id", []int64{int64(c.ID)})
		if err != nil {
			return err
		}
		choice := choices[0]
		places := fmt.Sprintf("FROM accordion_places p WHERE p.job_id = %d", c.ID)
		err = run(ctx, tx, fmt.Sprintf("launching companion %d", c.ID),
			fmt.Sprintf("UPDATE jobs SET state = 'toLaunch', start_time = %d, assigned_moldable_job = %d WHERE job_id = %d", now, choice, c.ID),
			fmt.Sprintf("UPDATE job_state_logs SET date_stop = %d WHERE job_id = %d AND date_stop = 0", now, c.ID),
			fmt.Sprintf("INSERT INTO job_state_logs (job_id, job_state, date_start) VALUES (%d, 'toLaunch', %d)", c.ID, now),
			fmt.Sprintf("INSERT INTO assigned_resources (moldable_job_id, resource_id) SELECT %d, p.resource_id %s", choice, places),
			// For the schedulers that a pass under way has still to ask.
			fmt.Sprintf("INSERT INTO gantt_jobs_predictions (moldable_job_id, start_time) VALUES (%d, %d)", choice, now),
			fmt.Sprintf("INSERT INTO gantt_jobs_resources (moldable_job_id, resource_id) SELECT %d, p.resource_id %s", choice, places))
		if err != nil {
			return err
		}
	}
	return nil
}

// idle says whether the meta-scheduler plans nothing now, and keeps it from beginning until the transaction is over: then it
// finds what that has written. A pass begins by throwing OAR's plan away, with the row that has its second, and ends by
// copying the new plan, with its second, for those who look at it. The row is not waited for: who has it, has begun.
func (s *System) idle(ctx context.Context, tx *sql.Tx) (bool, error) {
	var planned, copied core.Time
	err := rows(ctx, tx, "the second of OAR's plan", "SELECT start_time FROM gantt_jobs_predictions WHERE moldable_job_id = 0 FOR UPDATE SKIP LOCKED", nil,
		func(r *sql.Rows) error { return r.Scan(&planned) })
	if my := (*mysql.MySQLError)(nil); errors.As(err, &my) && my.Number == 1064 {
		return false, nil // before MariaDB 10.6 there is no SKIP LOCKED: a pass does it
	}
	if err == nil {
		err = rows(ctx, tx, "the second of OAR's plan", "SELECT start_time FROM gantt_jobs_predictions_visu WHERE moldable_job_id = 0", nil,
			func(r *sql.Rows) error { return r.Scan(&copied) })
	}
	return planned != 0 && planned == copied, err
}

// kept says whether the plan of a pass under way keeps the resources free, so that every scheduler which may still be
// asked respects it: the reservation is in it, on all of them, and no waiting job soon.
func (s *System) kept(ctx context.Context, tx *sql.Tx, reservation string, resources []int64, now core.Time) (bool, error) {
	kept, others := 0, 0
	query := `SELECT COUNT(DISTINCT g.resource_id) FROM accordion_reservations v JOIN moldable_job_descriptions m ON m.moldable_job_id = v.holder
		JOIN gantt_jobs_predictions p ON p.moldable_job_id = m.moldable_id JOIN gantt_jobs_resources g ON g.moldable_job_id = m.moldable_id
		WHERE v.name = ` + s.db.arg(1) + fmt.Sprintf(" AND v.start_time <= %d AND p.start_time <= %d AND g.resource_id IN (%s)", now, now+imminent, list(resources))
	err := rows(ctx, tx, "the reservation in OAR's plan", query, []any{reservation}, func(r *sql.Rows) error { return r.Scan(&kept) })
	if err != nil || kept < len(resources) {
		return false, err
	}
	query = fmt.Sprintf(`SELECT COUNT(*) FROM gantt_jobs_predictions p JOIN gantt_jobs_resources g ON g.moldable_job_id = p.moldable_job_id
		JOIN moldable_job_descriptions m ON m.moldable_id = p.moldable_job_id JOIN jobs j ON j.job_id = m.moldable_job_id
		WHERE j.state = 'Waiting' AND p.start_time <= %d AND g.resource_id IN (%s) AND j.job_id NOT IN (SELECT v.holder FROM accordion_reservations v)`,
		now+imminent, list(resources))
	err = rows(ctx, tx, "OAR's plan", query, nil, func(r *sql.Rows) error { return r.Scan(&others) })
	return others == 0, err
}
