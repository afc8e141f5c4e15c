package tables

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"accordion/core"
	"accordion/oar/database"
)

// Reservation keeps resources free for jobs that the sidecar starts. The resources are the places of its holder.
type Reservation struct {
	Name, Owner string
	From, To    core.Time
	OverManaged bool      // it may overlap managed jobs
	Idle        core.Time // if no job uses the reservation, it ends this long after its start; 0 means that it does not end early
	Holder      int64     // the noop job that represents the reservation in OAR's plan
}

// StartReservation returns the name of the reservation with which the sidecar keeps nodes for a job's start.
func StartReservation(job int64) string { return fmt.Sprintf("accordion-%d-0", job) }

// IsReservationOf reports whether the name is that of a reservation for the job: for its start or for a later step.
func IsReservationOf(name string, job int64) bool {
	return strings.HasPrefix(name, strings.TrimSuffix(StartReservation(job), "0"))
}

// NoHolder is the condition that a job is not the holder of a reservation.
const NoHolder = "j.job_id NOT IN (SELECT v.holder FROM accordion_reservations v)"

// named returns the condition that selects the reservation with a name, or all reservations if the name is "".
func (d Tables) named(name string) (where string, args []any) {
	if name == "" {
		return "1 = 1", nil
	}
	return "v.name = " + d.Arg(1), []any{name}
}

// Reservations reads the reservation with the name, or all reservations, ordered by name, if the name is "".
func (d Tables) Reservations(ctx context.Context, from database.Querier, name string) ([]Reservation, error) {
	where, args := d.named(name)
	query := "SELECT v.name, v.owner, v.start_time, v.end_time, v.over_managed, v.idle, v.holder FROM accordion_reservations v WHERE " + where + " ORDER BY v.name"
	return database.All(ctx, from, "the reservations", query, args, func(r *Reservation) []any {
		return []any{&r.Name, &r.Owner, &r.From, &r.To, &r.OverManaged, &r.Idle, &r.Holder}
	})
}

// ReservedHosts reads, by holder, the hosts of the reservation with the name, or of all reservations if the name is "".
func (d Tables) ReservedHosts(ctx context.Context, from database.Querier, name string) (map[int64][]string, error) {
	where, args := d.named(name)
	query := `SELECT v.holder, r.network_address FROM accordion_reservations v JOIN accordion_places p ON p.job_id = v.holder
		JOIN resources r ON r.resource_id = p.resource_id WHERE ` + database.OnHost + " AND " + where + " GROUP BY v.holder, r.network_address"
	return database.Grouped[int64, string](ctx, from, "the reservations' nodes", query, args...)
}

// AddReservation adds a reservation.
func (d Tables) AddReservation(ctx context.Context, tx *sql.Tx, r Reservation) error {
	query := fmt.Sprintf("INSERT INTO accordion_reservations (name, owner, start_time, end_time, over_managed, idle, holder) VALUES (%s, %s, %d, %d, %d, %d, %d)",
		d.Arg(1), d.Arg(2), r.From, r.To, number(r.OverManaged), r.Idle, r.Holder)
	_, err := tx.ExecContext(ctx, query, r.Name, r.Owner)
	return err
}

// ChangeReservation changes the reservation with r's name. Its holder stays.
func (d Tables) ChangeReservation(ctx context.Context, tx *sql.Tx, r Reservation) error {
	query := fmt.Sprintf("UPDATE accordion_reservations SET owner = %s, start_time = %d, end_time = %d, over_managed = %d, idle = %d WHERE name = %s",
		d.Arg(1), r.From, r.To, number(r.OverManaged), r.Idle, d.Arg(2))
	_, err := tx.ExecContext(ctx, query, r.Owner, r.Name)
	return err
}

// RemoveReservation removes a reservation and its holder.
func (d Tables) RemoveReservation(ctx context.Context, tx *sql.Tx, r Reservation) error {
	if err := removeJob(ctx, tx, r.Holder); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM accordion_reservations WHERE name = "+d.Arg(1), r.Name)
	return err
}

// removeHolders removes the holders of all reservations.
func (d Tables) removeHolders(ctx context.Context) error {
	err := d.Change(ctx, func(tx *sql.Tx) error {
		all, err := d.Reservations(ctx, tx, "")
		if err != nil {
			return err
		}
		for _, r := range all {
			if err := removeJob(ctx, tx, r.Holder); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("removing the reservations: %w", err)
	}
	return nil
}

// removeJob deletes a job that never ran, with every row that refers to it. It is used for holders, which must not appear in accounting.
func removeJob(ctx context.Context, tx *sql.Tx, job int64) error {
	choices, err := database.Numbers(ctx, tx, "SELECT moldable_id FROM moldable_job_descriptions WHERE moldable_job_id", []int64{job})
	if err != nil {
		return fmt.Errorf("removing job %d: %w", job, err)
	}
	groups, err := database.Numbers(ctx, tx, "SELECT res_group_id FROM job_resource_groups WHERE res_group_moldable_id", choices)
	if err != nil {
		return fmt.Errorf("removing job %d: %w", job, err)
	}
	for _, of := range []struct {
		ids  []int64
		rows []string
	}{
		{groups, []string{"job_resource_descriptions WHERE res_job_group_id"}},
		{choices, []string{"job_resource_groups WHERE res_group_moldable_id", "moldable_job_descriptions WHERE moldable_id",
			"gantt_jobs_predictions WHERE moldable_job_id", "gantt_jobs_resources WHERE moldable_job_id",
			"gantt_jobs_predictions_visu WHERE moldable_job_id", "gantt_jobs_resources_visu WHERE moldable_job_id"}},
		{[]int64{job}, []string{"job_types WHERE job_id", "job_dependencies WHERE job_id", "job_state_logs WHERE job_id",
			"challenges WHERE job_id", "frag_jobs WHERE frag_id_job", "event_logs WHERE job_id", "accordion_places WHERE job_id",
			"jobs WHERE job_id"}},
	} {
		for _, rows := range of.rows {
			for _, id := range of.ids {
				if _, err := tx.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s = %d", rows, id)); err != nil {
					return fmt.Errorf("removing job %d: %w", job, err)
				}
			}
		}
	}
	return nil
}
