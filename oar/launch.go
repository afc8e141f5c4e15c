package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
)

// imminent is for how many seconds to come no waiting job may be planned on nodes that are taken past the meta-scheduler: a
// pass, of which the second is ahead of the clock, may start it.
const imminent core.Time = 5

// mayLaunch says whether no pass of the meta-scheduler can give nodes of a reservation to another job before this transaction is
// over, and none has to take them from one first. Who holds them has to be looked at after it.
func (s *System) mayLaunch(ctx context.Context, tx *sql.Tx, reservation string, nodes []string, now core.Time) (bool, error) {
	resources, err := s.db.Resources(ctx, tx, nodes)
	if err != nil {
		return false, err
	}
	if still, err := s.holdPlan(ctx, tx); err != nil || !still {
		return false, err
	}
	free, err := s.nobodys(ctx, tx, resources, now)
	if err != nil || !free {
		return false, err
	}
	idle, err := s.idle(ctx, tx)
	if err != nil || idle {
		return idle, err
	}
	return s.kept(ctx, tx, reservation, resources, now)
}

// holdPlan keeps OAR's plan as it is until the transaction is over, or says that somebody is writing it: who does is not waited for.
// A pass begins by throwing the plan away, and would then not see rows that are written while it waits for ours; a
// table's lock, unlike a row's, is waited for before PostgreSQL looks at what there is to be thrown away. MariaDB's pass locks the
// table of jobs, of which this transaction has read a row, and so waits for it anyway.
func (s *System) holdPlan(ctx context.Context, tx *sql.Tx) (bool, error) {
	if s.db.Conf.Type == "mysql" {
		return true, nil
	}
	const doing = "holding OAR's plan"
	if err := database.Run(ctx, tx, doing, "SAVEPOINT before_the_plan"); err != nil {
		return false, err
	}
	err := database.Run(ctx, tx, doing, "LOCK TABLE gantt_jobs_predictions IN SHARE ROW EXCLUSIVE MODE NOWAIT")
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "55P03" {
		return false, database.Run(ctx, tx, doing, "ROLLBACK TO SAVEPOINT before_the_plan")
	}
	return err == nil, err
}

// nobodys says whether no job holds the resources, and none that waits is planned on them soon. Others than besteffort jobs, which
// a pass ends, are an advance reservation's or were planned before the reservation was there.
func (s *System) nobodys(ctx context.Context, tx *sql.Tx, resources []int64, now core.Time) (bool, error) {
	query := fmt.Sprintf(`SELECT (SELECT COUNT(*) FROM assigned_resources a JOIN jobs j ON j.assigned_moldable_job = a.moldable_job_id
		WHERE a.assigned_resource_index = 'CURRENT' AND a.resource_id IN (%[1]s) AND %[2]s) + (SELECT COUNT(*) FROM gantt_jobs_predictions p
		JOIN gantt_jobs_resources g ON g.moldable_job_id = p.moldable_job_id JOIN moldable_job_descriptions m ON m.moldable_id = p.moldable_job_id
		JOIN jobs j ON j.job_id = m.moldable_job_id WHERE j.state IN ('Waiting', 'toAckReservation') AND p.start_time <= %[3]d AND g.resource_id IN (%[1]s)
		AND j.job_id NOT IN (SELECT v.holder FROM accordion_reservations v))`, database.List(resources), isHolding, now+imminent)
	others := 0
	err := database.Rows(ctx, tx, "who has the nodes", query, nil, func(r *sql.Rows) error { return r.Scan(&others) })
	return others == 0, err
}

// launch gives companions their places and leaves them to OAR to begin, without a pass of the meta-scheduler, as that
// would do it: a pass comes up to three seconds late when others came just before it.
func (s *System) launch(ctx context.Context, tx *sql.Tx, companions []adapter.Key, now core.Time) error {
	// OAR's seconds run ahead of the clock when passes come quickly, and it lets no job end before the second in which it began:
	// on the same nodes the next one begins in OAR's second, too.
	seconds, err := database.Numbers(ctx, tx, "SELECT start_time FROM gantt_jobs_predictions WHERE moldable_job_id", []int64{0})
	if err != nil {
		return err
	}
	begins := slices.Max(append(seconds, now))
	for _, c := range companions {
		choices, err := database.Numbers(ctx, tx, "SELECT moldable_id FROM moldable_job_descriptions WHERE moldable_job_id", []int64{int64(c.ID)})
		if err != nil {
			return err
		}
		choice := choices[0]
		places := fmt.Sprintf("FROM accordion_places p WHERE p.job_id = %d", c.ID)
		err = database.Run(ctx, tx, fmt.Sprintf("launching companion %d", c.ID),
			fmt.Sprintf("UPDATE jobs SET state = 'toLaunch', start_time = %d, assigned_moldable_job = %d WHERE job_id = %d", begins, choice, c.ID),
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

// idle says whether the meta-scheduler plans nothing now: a pass begins by throwing OAR's plan away, with the row that has its
// second, and ends, when it has launched what is due, by copying the new plan, with its second, for those who look at it.
func (s *System) idle(ctx context.Context, tx *sql.Tx) (bool, error) {
	var planned, copied core.Time
	for table, into := range map[string]*core.Time{"gantt_jobs_predictions": &planned, "gantt_jobs_predictions_visu": &copied} {
		err := database.Rows(ctx, tx, "the second of OAR's plan", "SELECT start_time FROM "+table+" WHERE moldable_job_id = 0", nil,
			func(r *sql.Rows) error { return r.Scan(into) })
		if err != nil {
			return false, err
		}
	}
	return planned != 0 && planned == copied, nil
}

// kept says whether the plan of a pass under way keeps the resources free, so that every scheduler which may still be
// asked respects it: the reservation is in it, on all of them.
func (s *System) kept(ctx context.Context, tx *sql.Tx, reservation string, resources []int64, now core.Time) (bool, error) {
	kept := 0
	query := `SELECT COUNT(DISTINCT g.resource_id) FROM accordion_reservations v JOIN moldable_job_descriptions m ON m.moldable_job_id = v.holder
		JOIN gantt_jobs_predictions p ON p.moldable_job_id = m.moldable_id JOIN gantt_jobs_resources g ON g.moldable_job_id = m.moldable_id
		WHERE v.name = ` + s.db.Arg(1) + fmt.Sprintf(" AND v.start_time <= %d AND p.start_time <= %d AND g.resource_id IN (%s)", now, now+imminent, database.List(resources))
	err := database.Rows(ctx, tx, "the reservation in OAR's plan", query, []any{reservation}, func(r *sql.Rows) error { return r.Scan(&kept) })
	return kept == len(resources), err
}
