package oar

import (
	"context"
	"database/sql"
	"slices"

	"accordion/core"
)

// orders is what the sidecar has decided, as it stands in Accordion's tables.
type orders struct {
	jobs         map[int64]order // evolving jobs and their companions that are not over
	reservations []reservation   // in the order of their names
	places       map[int64][]int64
}

// order is what is to become of an evolving job, or of a companion.
type order struct {
	base        int64 // of a companion: the job that it makes larger
	released    bool  // it is to start now, on its places
	reservation string
	state       string // OAR's
}

// begun says whether the job has its resources, and a companion may be started beside it.
func (o order) begun() bool {
	return o.state == "toLaunch" || o.state == "Launching" || o.state == "Running"
}

// reservation keeps resources, the places of its holder, for jobs that the sidecar starts.
type reservation struct {
	name     string
	from, to core.Time
	idle     core.Time // without a job of its own it ends so long after its begin; 0: it does not
	holder   int64
}

// whole is the job that a companion is a part of, or the job itself.
func (o *orders) whole(job int64) int64 {
	if base := o.jobs[job].base; base != 0 {
		return base
	}
	return job
}

// over says whether a reservation holds no more: it has ended, or nobody has come, as when the sidecar is dead.
func (o *orders) over(r reservation, now core.Time) bool {
	if r.to <= now {
		return true
	}
	if r.idle <= 0 || now <= r.from+r.idle {
		return false
	}
	for _, one := range o.jobs {
		if one.reservation == r.name && (one.released || one.state != "Waiting" && one.state != "Hold") {
			return false
		}
	}
	return true
}

// readOrders reads what the sidecar has decided; nothing, where Accordion's tables are not installed.
func (d *database) readOrders(ctx context.Context, from querier, s *state) error {
	there, err := d.installed(ctx, from)
	if err != nil || !there {
		return err
	}
	o := &orders{jobs: map[int64]order{}, places: map[int64][]int64{}}
	s.orders = o
	err = rows(ctx, from, "the evolving jobs", `SELECT a.job_id, a.base, a.released, a.reservation, j.state
		FROM accordion_jobs a JOIN jobs j ON j.job_id = a.job_id AND j.submission_time = a.submitted
		WHERE j.state NOT IN ('Terminated', 'Error')`, nil, func(r *sql.Rows) error {
		var id, released int64
		var one order
		err := r.Scan(&id, &one.base, &released, &one.reservation, &one.state)
		one.released = released != 0
		o.jobs[id] = one
		return err
	})
	if err != nil {
		return err
	}
	err = rows(ctx, from, "the reservations", "SELECT name, start_time, end_time, idle, holder FROM accordion_reservations ORDER BY name", nil, func(r *sql.Rows) error {
		var one reservation
		err := r.Scan(&one.name, &one.from, &one.to, &one.idle, &one.holder)
		o.reservations = append(o.reservations, one)
		return err
	})
	if err != nil {
		return err
	}
	return rows(ctx, from, "the places", "SELECT job_id, resource_id FROM accordion_places ORDER BY job_id, resource_id", nil, func(r *sql.Rows) error {
		var job, resource int64
		err := r.Scan(&job, &resource)
		o.places[job] = append(o.places[job], resource)
		return err
	})
}

// holders are the jobs that show reservations.
func (o *orders) holders() map[int64]bool {
	all := map[int64]bool{}
	if o == nil {
		return all
	}
	for _, r := range o.reservations {
		all[r.holder] = true
	}
	return all
}

// evolves says whether a waiting job is the sidecar's to plan.
func (o *orders) evolves(w *waiting) bool {
	if o == nil {
		return false
	}
	_, adopted := o.jobs[w.id]
	return adopted || slices.ContainsFunc(w.types, isProfile)
}
