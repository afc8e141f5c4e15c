// Package release deletes the reservations of a sidecar that has ended. A reservation for a waiting
// job keeps ordinary jobs off its nodes until the planned second, which may be a day ahead. While
// no sidecar runs, no job starts there.
//
//	deleted, err := release.All(ctx, system, release.Options{Now: now})
package release

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// System is a batch system whose reservations can be deleted while no sidecar runs.
type System interface {
	// Reserved reads all reservations, and all jobs that have not ended.
	Reserved(ctx context.Context) ([]adapter.Reservation, []adapter.Job, error)
	// Hold, Detach and Unreserve do what the methods of adapter.BatchSystem do.
	Hold(ctx context.Context, job adapter.Key) error
	Detach(ctx context.Context, job adapter.Key) error
	Unreserve(ctx context.Context, name string) error
}

// Options determine which reservations are deleted.
type Options struct {
	Now core.Time // Unix seconds
	// Removed means that the sidecar was uninstalled, so that the promises of running jobs do not
	// count.
	Removed bool
	// Dead reports whether there is still no sidecar. It is called before each deletion. A nil
	// function means that no sidecar will start.
	Dead func(context.Context) (bool, error)
}

// A Leftover is a reservation to be deleted.
type Leftover struct {
	Name string
	Hold []adapter.Key // waiting jobs that are attached to the reservation, and are held before it is deleted
}

// Leftovers returns the reservations of a sidecar that has ended, in their order, except those that
// protect a promise: reservations for a later step of a running job. A reservation in which a job
// runs stays, too, because it ends with the job.
func Leftovers(all []adapter.Reservation, jobs []adapter.Job, o Options) []Leftover {
	running := map[core.JobID]bool{} // managed jobs that run
	tied := map[string][]*adapter.Job{}
	for i := range jobs {
		j := &jobs[i]
		if j.State == adapter.Done {
			continue
		}
		if j.State == adapter.Running && adapter.RequestOf(j) != "" && !adapter.Delegated(j) {
			running[j.ID] = true
		}
		if j.Reservation != "" {
			tied[j.Reservation] = append(tied[j.Reservation], j)
		}
	}
	var left []Leftover
	for _, r := range all {
		job, step, ours := parse(r.Name)
		switch {
		case !ours:
		case !o.Removed && step > 0 && running[job] && r.End > o.Now:
		default:
			if held, free := waiting(tied[r.Name]); free {
				left = append(left, Leftover{r.Name, held})
			}
		}
	}
	return left
}

// `waiting` returns the managed jobs that wait in a reservation, and reports whether the
// reservation has no other jobs. A waiting expander counts as another job.
func waiting(tied []*adapter.Job) (held []adapter.Key, free bool) {
	for _, j := range tied {
		if j.State != adapter.Pending || adapter.RequestOf(j) == "" {
			return nil, false
		}
		held = append(held, j.Key)
	}
	return held, true
}

// parse parses the name of a reservation for a job's start (step 0) or a later step, or for a part
// of an application (job 0). A reservation that was made in order to change another one
// ("accordion-7-1-more") has step -1. `ours` is false for all other reservations, such as the lease
// and the reservations in which jobs wait.
func parse(name string) (job core.JobID, step int, ours bool) {
	rest, ours := strings.CutPrefix(name, adapter.Prefix)
	if !ours {
		return 0, 0, false
	}
	if part, is := strings.CutPrefix(rest, "app-"); is {
		_, err := strconv.ParseInt(strings.TrimSuffix(part, "-ghost"), 10, 64)
		return 0, -1, err == nil
	}
	number, after, _ := strings.Cut(rest, "-")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	if step, err = strconv.Atoi(after); err != nil {
		step = -1
	}
	return core.JobID(id), step, true
}

// Owner returns the job for which a reservation was made, and 0 for a part of an application.
// `ours` is false if the reservation was not made for a single job.
func Owner(name string) (job core.JobID, ours bool) {
	job, _, ours = parse(name)
	return job, ours
}

// All deletes the leftovers and returns the names of those that it deleted. Failures are collected
// in the error, and do not stop the other deletions.
func All(ctx context.Context, s System, o Options) (deleted []string, err error) {
	reservations, jobs, err := s.Reserved(ctx)
	if err != nil {
		return nil, fmt.Errorf("delete reservations: %w", err)
	}
	var failed []error
	for _, l := range Leftovers(reservations, jobs, o) {
		if o.Dead != nil {
			if dead, err := o.Dead(ctx); err != nil || !dead {
				return deleted, errors.Join(append(failed, err)...)
			}
		}
		switch err := remove(ctx, s, l); {
		case err == nil:
			deleted = append(deleted, l.Name)
		case !errors.Is(err, adapter.ErrBusy) && !errors.Is(err, adapter.ErrGone): // otherwise a job started in the reservation in the meantime
			failed = append(failed, fmt.Errorf("delete reservation %s: %w", l.Name, err))
		}
	}
	return deleted, errors.Join(failed...)
}

// remove holds the jobs that wait in a reservation, and deletes it.
func remove(ctx context.Context, s System, l Leftover) error {
	for _, job := range l.Hold {
		err := s.Hold(ctx, job)
		if errors.Is(err, adapter.ErrGone) { // the job started while it was being held, and must not end with the reservation
			err = errors.Join(adapter.ErrGone, s.Detach(ctx, job))
		}
		if err != nil {
			return err
		}
	}
	return s.Unreserve(ctx, l.Name)
}
