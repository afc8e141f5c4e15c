package tables

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"accordion/core"
	"accordion/oar/database"
)

// Orders has the decisions of the sidecar, read from Accordion's tables.
type Orders struct {
	Jobs         map[int64]Order // evolving jobs and companions that have not ended
	Reservations []Reservation   // by name
	Places       map[int64][]int64
}

// Order is a decision about an evolving job or a companion.
type Order struct {
	Base        int64 // base job of a companion; 0 for other jobs
	Released    bool  // the job is to start now, on its places
	Reservation string
	State       string // in OAR's words
}

// Begun reports whether the job has its resources, so that its companions may start.
func (o Order) Begun() bool {
	return o.State == "toLaunch" || o.State == "Launching" || o.State == "Running"
}

// BaseOf returns the base of a companion. For any other job it returns the job itself.
func (o *Orders) BaseOf(job int64) int64 {
	if base := o.Jobs[job].Base; base != 0 {
		return base
	}
	return job
}

// Over reports whether a reservation is no longer in force. It has ended, or no job has used it in time, for example because the sidecar is
// dead.
func (o *Orders) Over(r Reservation, now core.Time) bool {
	if r.To <= now {
		return true
	}
	if r.Idle <= 0 || now <= r.From+r.Idle {
		return false
	}
	for _, one := range o.Jobs {
		if one.Reservation == r.Name && (one.Released || one.State != "Waiting" && one.State != "Hold") {
			return false
		}
	}
	return true
}

// ReadOrders reads what the sidecar has decided. It returns nil if Accordion's tables are not installed.
func (d Tables) ReadOrders(ctx context.Context, from database.Querier) (o *Orders, err error) {
	there, err := d.Installed(ctx, from)
	if err != nil || !there {
		return nil, err
	}
	o = &Orders{Jobs: map[int64]Order{}}
	err = database.Rows(ctx, from, "the evolving jobs", `SELECT a.job_id, a.base, a.released, a.reservation, j.state
		FROM accordion_jobs a JOIN jobs j ON j.job_id = a.job_id AND j.submission_time = a.submitted
		WHERE j.state NOT IN ('Terminated', 'Error')`, nil, func(r *sql.Rows) error {
		var id, released int64
		var one Order
		err := r.Scan(&id, &one.Base, &released, &one.Reservation, &one.State)
		one.Released = released != 0
		o.Jobs[id] = one
		return err
	})
	if err != nil {
		return nil, err
	}
	if o.Reservations, err = d.Reservations(ctx, from, ""); err != nil {
		return nil, err
	}
	o.Places, err = database.Grouped[int64, int64](ctx, from, "the places", "SELECT job_id, resource_id FROM accordion_places ORDER BY job_id, resource_id")
	return o, err
}

// Holders returns the jobs that hold reservations.
func (o *Orders) Holders() map[int64]bool {
	all := map[int64]bool{}
	if o == nil {
		return all
	}
	for _, r := range o.Reservations {
		all[r.Holder] = true
	}
	return all
}

// Place sets the resources that a job is to have.
func (d Tables) Place(ctx context.Context, tx *sql.Tx, job int64, resources []int64) error {
	if err := database.Run(ctx, tx, fmt.Sprintf("placing job %d", job), fmt.Sprintf("DELETE FROM accordion_places WHERE job_id = %d", job)); err != nil {
		return err
	}
	for part := range slices.Chunk(resources, database.RowsAtOnce) {
		rows := database.PairInsert{Into: "accordion_places (job_id, resource_id)"}
		for _, r := range part {
			rows.Add(job, r)
		}
		if err := database.Run(ctx, tx, fmt.Sprintf("placing job %d", job), string(rows.Text)); err != nil {
			return err
		}
	}
	return nil
}
