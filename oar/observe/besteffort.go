package observe

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/conf"
	"accordion/oar/database"
)

// A BesteffortJob is a besteffort job with a checkpoint. Before OAR ends the job for another one, it requests the checkpoint and waits. The
// wait begins at the first request. The job's user sets the length of the wait (oarsub --checkpoint).
type BesteffortJob struct {
	Job      int64
	User     string
	Nodes    []string
	Patience core.Time
	Asked    core.Time // second of the first request; 0 if there is none yet
	Limit    core.Time // the second at which the job's walltime ends
}

// Ends returns the second from which on OAR may end the job for another one. If the checkpoint has not been requested
// yet, the request counts as made at `now`.
func (y BesteffortJob) Ends(now core.Time) core.Time {
	asked := now
	if y.Asked != 0 {
		asked = y.Asked
	}
	return min(asked+y.Patience, y.Limit)
}

// Keeps returns a reservation that excludes other jobs from the nodes until the job has ended. `keeps` is false if OAR ends the job
// immediately.
func (y BesteffortJob) Keeps(now core.Time) (r adapter.Reservation, keeps bool) {
	ends := y.Ends(now)
	if ends <= now {
		return r, false
	}
	return adapter.Reservation{Name: fmt.Sprintf("oar-%d", y.Job), User: y.User, Nodes: y.Nodes, Start: now, End: ends + conf.LateKill}, true
}

// BesteffortJob returns the besteffort jobs that have a checkpoint and hold nodes.
func (o *Reader) BesteffortJob(ctx context.Context, from database.Querier, records []*Job) ([]BesteffortJob, error) {
	held := map[int64]*Job{}
	var ids []int64
	for _, r := range records {
		if r.Besteffort() && r.State == adapter.Running && len(r.Holds) > 0 {
			held[int64(r.ID)] = r
			ids = append(ids, int64(r.ID))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	var all []BesteffortJob
	query := `SELECT j.job_id, j.checkpoint, COALESCE(MIN(e.date), 0) FROM jobs j LEFT JOIN event_logs e ON e.job_id = j.job_id AND e.type = 'CHECKPOINT'
		WHERE j.checkpoint > 0 AND j.job_id IN (` + database.List(ids) + ") GROUP BY j.job_id, j.checkpoint ORDER BY j.job_id"
	err := database.Rows(ctx, from, "for whose checkpoints OAR waits", query, nil, func(row *sql.Rows) error {
		var y BesteffortJob
		err := row.Scan(&y.Job, &y.Patience, &y.Asked)
		if r := held[y.Job]; r != nil {
			y.User, y.Nodes, y.Limit = r.User, slices.Clone(r.Holds), r.Ends()
			all = append(all, y)
		}
		return err
	})
	return all, err
}
