package database

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strconv"

	"accordion/core"
)

// Noop is a job that only occupies hosts: a companion, or the holder of a reservation.
type Noop struct {
	User, Project, properties string
	Name                      string
	Queue                     string
	Hosts                     int
	Walltime                  core.Time
	Base                      int64 // the base job of a companion; 0 if the job holds a reservation, and so never starts
	Message                   string
}

// types returns the job's types in OAR. A companion gets the type inner=BASE, so that OAR does not start it before its base, in the
// releases that check this. The holder of a reservation must never be launched, whatever OAR's plan contains.
//
// OAR 2.5 launches a job of type inner=N only while job N runs. OAR 2.6 with PostgreSQL is meant to do the same, but its query misreads the
// names of types (`misread`). It launches every job with any type other than a bare "inner", and never a job whose only type is a bare
// "inner".
func (j Noop) types(id int64, misread bool) []string {
	switch {
	case j.Base != 0:
		return []string{"noop", fmt.Sprintf("inner=%d", j.Base)}
	case misread:
		return []string{"inner"}
	}
	return []string{"noop", fmt.Sprintf("inner=%d", id)}
}

// ReadRelease reads what Submit needs to know about the release of OAR.
func (d *DB) ReadRelease(ctx context.Context) (err error) {
	d.misreads, err = d.misreadsTypes(ctx, d.Sql)
	return err
}

// Submit writes the job into OAR's tables as oarsub would, in the name of its user. It does not check limits on the number of a user's
// jobs.
func (d *DB) Submit(ctx context.Context, tx *sql.Tx, j Noop, now core.Time) (int64, error) {
	id, err := d.insert(ctx, tx, "jobs", "job_id",
		"initial_request, job_name, job_env, job_type, info_type, state, reservation, message, scheduler_info, job_user, project, job_group, command, "+
			"queue_name, properties, launching_directory, submission_time, start_time, stop_time, checkpoint_signal",
		"made by Accordion", j.Name, "", "PASSIVE", "localhost:0", StateWaiting, "None", j.Message, "", j.User, j.Project, "", "",
		j.Queue, j.properties, "/", now, 0, 0, 12)
	if err != nil {
		return 0, fmt.Errorf("making a noop job: %w", err)
	}
	moldable, err := d.insert(ctx, tx, "moldable_job_descriptions", "moldable_id", "moldable_job_id, moldable_walltime", id, j.Walltime)
	if err != nil {
		return 0, fmt.Errorf("making a noop job: %w", err)
	}
	group, err := d.insert(ctx, tx, "job_resource_groups", "res_group_id", "res_group_moldable_id, res_group_property", moldable, "type = 'default'")
	if err != nil {
		return 0, fmt.Errorf("making a noop job: %w", err)
	}
	statements := []string{
		fmt.Sprintf("UPDATE jobs SET array_id = %d WHERE job_id = %d", id, id),
		fmt.Sprintf("INSERT INTO challenges (job_id, challenge, ssh_private_key, ssh_public_key) VALUES (%d, '%d', '', '')", id, rand.Int64()),
		fmt.Sprintf("INSERT INTO job_resource_descriptions (res_job_group_id, res_job_resource_type, res_job_value, res_job_order) VALUES (%d, 'network_address', %d, 0)", group, j.Hosts),
		fmt.Sprintf("INSERT INTO job_state_logs (job_id, job_state, date_start) VALUES (%d, '%s', %d)", id, StateWaiting, now),
	}
	for _, kind := range j.types(id, d.misreads) {
		statements = append(statements, fmt.Sprintf("INSERT INTO job_types (job_id, type) VALUES (%d, '%s')", id, kind))
	}
	return id, Run(ctx, tx, fmt.Sprintf("making noop job %d", id), statements...)
}

// Reshape sets the number of hosts and the walltime of all configurations of a waiting job.
func (d *DB) Reshape(ctx context.Context, tx *sql.Tx, job int64, hosts int, walltime core.Time) error {
	choices, err := Numbers(ctx, tx, "SELECT moldable_id FROM moldable_job_descriptions WHERE moldable_job_id", []int64{job})
	if err != nil {
		return err
	}
	groups, err := Numbers(ctx, tx, "SELECT res_group_id FROM job_resource_groups WHERE res_group_moldable_id", choices)
	if err != nil {
		return err
	}
	return Run(ctx, tx, fmt.Sprintf("shaping job %d", job),
		fmt.Sprintf("UPDATE moldable_job_descriptions SET moldable_walltime = %d WHERE moldable_job_id = %d", walltime, job),
		fmt.Sprintf("UPDATE job_resource_descriptions SET res_job_value = %d WHERE res_job_resource_type = 'network_address' AND res_job_group_id IN (%s)", hosts, List(groups)))
}

// Frag asks OAR to end jobs, as oardel does. OAR's server ends the jobs at its next notification.
func (d *DB) Frag(ctx context.Context, tx *sql.Tx, now core.Time, jobs ...int64) error {
	for _, id := range jobs {
		err := Run(ctx, tx, "asking OAR to end job "+strconv.FormatInt(id, 10),
			d.InsertOnce(fmt.Sprintf("frag_jobs (frag_id_job, frag_date) VALUES (%d, %d)", id, now)),
			fmt.Sprintf("INSERT INTO event_logs (type, job_id, date, description, to_check) VALUES ('FRAG_JOB_REQUEST', %d, %d, 'Accordion requested to frag the job', 'NO')", id, now))
		if err != nil {
			return err
		}
	}
	return nil
}
