package tables

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"accordion/core"
	"accordion/oar/database"
)

// imminent is a number of seconds. Nodes may be used without a pass only if no waiting job is planned on them for that time. The second of
// a pass may be ahead of the clock, so a pass could start a job that is planned so soon.
const imminent core.Time = 5

// MayLaunch reports whether a job may be launched on nodes of its reservation without a pass. It returns false if a pass could give these
// nodes to another job before this transaction ends, or if a pass would first have to free them. The caller must check afterwards which
// jobs hold the nodes.
func (d Tables) MayLaunch(ctx context.Context, tx *sql.Tx, job int64, reservation string, nodes []string, now core.Time) (bool, error) {
	resources, err := d.Resources(ctx, tx, nodes)
	if err != nil {
		return false, err
	}
	free, err := d.free(ctx, tx, []int64{job}, resources, now)
	if err != nil || !free {
		return false, err
	}
	idle, err := d.idle(ctx, tx)
	if err != nil || idle {
		return idle, err
	}
	return d.kept(ctx, tx, reservation, resources, now)
}

// MayLaunchWaiting does what MayLaunch does, for jobs that passes know, on nodes that are planned for them. It returns
// false during a pass, because the pass could launch the jobs a second time. It also returns false if the end of one
// of the jobs was requested.
func (d Tables) MayLaunchWaiting(ctx context.Context, tx *sql.Tx, jobs []int64, nodes []string, now core.Time) (bool, error) {
	resources, err := d.Resources(ctx, tx, nodes)
	if err != nil {
		return false, err
	}
	free, err := d.free(ctx, tx, jobs, resources, now)
	if err != nil || !free {
		return false, err
	}
	query := "SELECT COUNT(*) FROM frag_jobs WHERE frag_id_job IN (" + database.List(jobs) + ")"
	if ending, err := database.Value[int](ctx, tx, "which jobs are to end", query); err != nil || ending > 0 {
		return false, err
	}
	return d.idle(ctx, tx)
}

// free reports whether OAR's plan cannot change before this transaction ends, and no job except the given ones has the resources.
func (d Tables) free(ctx context.Context, tx *sql.Tx, jobs, resources []int64, now core.Time) (bool, error) {
	if still, err := d.HoldPlan(ctx, tx); err != nil || !still {
		return false, err
	}
	return d.unclaimed(ctx, tx, jobs, resources, now)
}

// unclaimed reports whether no job holds the resources, and no waiting job except the given ones is planned on them soon. Besteffort jobs
// also count as holders, because a pass would have to end them. Waiting jobs on these resources belong to advance reservations, or were
// planned before the reservation existed.
func (d Tables) unclaimed(ctx context.Context, tx *sql.Tx, jobs, resources []int64, now core.Time) (bool, error) {
	query := fmt.Sprintf(`SELECT (SELECT COUNT(*) FROM assigned_resources a JOIN jobs j ON j.assigned_moldable_job = a.moldable_job_id
		WHERE a.assigned_resource_index = 'CURRENT' AND a.resource_id IN (%[1]s) AND %[2]s) + (SELECT COUNT(*) FROM gantt_jobs_predictions p
		JOIN gantt_jobs_resources g ON g.moldable_job_id = p.moldable_job_id JOIN moldable_job_descriptions m ON m.moldable_id = p.moldable_job_id
		JOIN jobs j ON j.job_id = m.moldable_job_id WHERE j.state IN ('Waiting', 'toAckReservation') AND p.start_time <= %[3]d AND g.resource_id IN (%[1]s)
		AND %[4]s AND j.job_id NOT IN (%[5]s))`,
		database.List(resources), database.IsHolding, now+imminent, NoHolder, database.List(jobs))
	others, err := database.Value[int](ctx, tx, "who has the nodes", query)
	return others == 0, err
}

// Launch gives jobs their places and lets OAR start them without a pass of the meta-scheduler. It writes the rows that a pass would write.
// Waiting for a pass would take long: OAR leaves SCHEDULER_MIN_TIME_BETWEEN_2_CALLS between two passes, and often a pass has run just when
// the nodes became free.
func (d Tables) Launch(ctx context.Context, tx *sql.Tx, jobs []int64, now core.Time) error {
	// When passes follow each other quickly, the second of OAR's plan runs ahead of the clock. The previous job on
	// these nodes may have started, and so ended, in that second. So this job starts in the second of OAR's plan too.
	seconds, err := database.Numbers(ctx, tx, "SELECT start_time FROM gantt_jobs_predictions WHERE moldable_job_id", []int64{0})
	if err != nil {
		return err
	}
	begins := slices.Max(append(seconds, now))
	for _, c := range jobs {
		choices, err := database.Numbers(ctx, tx, "SELECT moldable_id FROM moldable_job_descriptions WHERE moldable_job_id", []int64{c})
		if err != nil {
			return err
		}
		choice := choices[0]
		places := fmt.Sprintf("FROM accordion_places p WHERE p.job_id = %d", c)
		err = database.Run(ctx, tx, fmt.Sprintf("launching job %d", c),
			fmt.Sprintf("UPDATE jobs SET state = 'toLaunch', start_time = %d, assigned_moldable_job = %d WHERE job_id = %d", begins, choice, c),
			fmt.Sprintf("UPDATE job_state_logs SET date_stop = %d WHERE job_id = %d AND date_stop = 0", now, c),
			fmt.Sprintf("INSERT INTO job_state_logs (job_id, job_state, date_start) VALUES (%d, 'toLaunch', %d)", c, now),
			fmt.Sprintf("INSERT INTO assigned_resources (moldable_job_id, resource_id) SELECT %d, p.resource_id %s", choice, places),
			// These rows are for the schedulers that a pass under way has not called yet.
			fmt.Sprintf("DELETE FROM gantt_jobs_resources WHERE moldable_job_id = %d", choice),
			fmt.Sprintf("DELETE FROM gantt_jobs_predictions WHERE moldable_job_id = %d", choice),
			fmt.Sprintf("INSERT INTO gantt_jobs_predictions (moldable_job_id, start_time) VALUES (%d, %d)", choice, now),
			fmt.Sprintf("INSERT INTO gantt_jobs_resources (moldable_job_id, resource_id) SELECT %d, p.resource_id %s", choice, places))
		if err != nil {
			return err
		}
	}
	return nil
}

// idle reports whether no pass is under way. A pass begins by deleting OAR's plan, including the row with the plan's second. It launches
// the jobs that are due, and ends by copying the new plan and its second into the tables for display.
func (d Tables) idle(ctx context.Context, tx *sql.Tx) (bool, error) {
	const what, query = "the second of OAR's plan", "SELECT start_time FROM %s WHERE moldable_job_id = 0"
	planned, err := database.Value[core.Time](ctx, tx, what, fmt.Sprintf(query, "gantt_jobs_predictions"))
	if err != nil {
		return false, err
	}
	copied, err := database.Value[core.Time](ctx, tx, what, fmt.Sprintf(query, "gantt_jobs_predictions_visu"))
	if err != nil {
		return false, err
	}
	return planned != 0 && planned == copied, nil
}

// kept reports whether the plan of a pass under way already contains the reservation on all of the resources. Then every scheduler that the
// pass still calls respects the reservation.
func (d Tables) kept(ctx context.Context, tx *sql.Tx, reservation string, resources []int64, now core.Time) (bool, error) {
	query := `SELECT COUNT(DISTINCT g.resource_id) FROM accordion_reservations v JOIN moldable_job_descriptions m ON m.moldable_job_id = v.holder
		JOIN gantt_jobs_predictions p ON p.moldable_job_id = m.moldable_id JOIN gantt_jobs_resources g ON g.moldable_job_id = m.moldable_id
		WHERE v.name = ` + d.Arg(1) + fmt.Sprintf(" AND v.start_time <= %d AND p.start_time <= %d AND g.resource_id IN (%s)", now, now+imminent, database.List(resources))
	kept, err := database.Value[int](ctx, tx, "the reservation in OAR's plan", query, reservation)
	return kept == len(resources), err
}
