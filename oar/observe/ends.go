package observe

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/oar/database"
)

// shownFor is how long readings show a job after its end, because the sidecar may be too busy to notice the end immediately.
const shownFor = 30 * time.Second

// recentJobs are the evolving jobs of the last readings.
type recentJobs struct {
	mu   sync.Mutex
	jobs map[adapter.Key]time.Time // time at which each job was last seen
}

func (l *recentJobs) are(jobs map[adapter.Key]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(l.jobs, func(_ adapter.Key, at time.Time) bool { return now.Sub(at) > shownFor })
	for key := range jobs {
		if l.jobs == nil {
			l.jobs = map[adapter.Key]time.Time{}
		}
		l.jobs[key] = now
	}
}

// without returns the recent jobs that are not in `others`.
func (l *recentJobs) without(others map[adapter.Key]bool) (missing []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.jobs {
		if !others[key] {
			missing = append(missing, int64(key.ID))
		}
	}
	return missing
}

// addEnded adds to a reading the evolving jobs that recent readings have shown and that have ended. For all jobs that are ending or have
// ended, it sets the reason, in OAR's words.
func (o *Reader) addEnded(ctx context.Context, tx *sql.Tx, records []*Job) ([]*Job, error) {
	now, ending := map[adapter.Key]bool{}, map[int64]*Job{}
	for _, r := range records {
		if r.evolving() {
			now[r.Key] = true
		}
	}
	if missing := o.recent.without(now); len(missing) > 0 {
		gone, err := o.Jobs(ctx, tx, "j.job_id IN ("+database.List(missing)+")")
		if err != nil {
			return nil, err
		}
		records = append(records, slices.DeleteFunc(gone, func(r *Job) bool { return !r.Over() || !r.evolving() })...)
	}
	for _, r := range records {
		if r.evolving() && (r.Over() || r.State == adapter.Ending) {
			ending[int64(r.ID)] = r
		}
	}
	if err := o.readEnds(ctx, tx, ending); err != nil {
		return nil, err
	}
	o.recent.are(now)
	return records, nil
}

// readEnds reads why the jobs ended: a user's oardel, the walltime, or a lost node. OAR records nothing if a job ended by itself. OAR also
// writes an event of type WALLTIME when a job's walltime is changed (change_walltime in OAR/IO.pm); that event is ignored.
func (o *Reader) readEnds(ctx context.Context, tx *sql.Tx, ending map[int64]*Job) error {
	if len(ending) == 0 {
		return nil
	}
	query := "SELECT e.job_id, e.description FROM event_logs e WHERE e.job_id IN (" + database.List(slices.Collect(maps.Keys(ending))) + `)
		AND e.type IN ('FRAG_JOB_REQUEST', 'WALLTIME', 'RESUBMIT_JOB_AUTOMATICALLY') AND e.description NOT LIKE '%walltime changed:%' ORDER BY e.event_id`
	return database.Rows(ctx, tx, "why jobs end", query, nil, func(row *sql.Rows) error {
		var id int64
		var said string
		err := row.Scan(&id, &said)
		if r := ending[id]; r != nil {
			r.Why = r.OARState + ": " + database.Short(said) // the last event counts, because OAR writes two events at the end of a walltime
		}
		return err
	})
}
