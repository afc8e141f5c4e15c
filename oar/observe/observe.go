// Package observe reads OAR's jobs with their companions, OAR's nodes, and the plans of other queues. It changes nothing and decides
// nothing.
//
//	read := observe.New(tables, "evolve")
//	err := db.AtOneInstant(ctx, db.Sql, func(tx *sql.Tx) (err error) { snapshot, jobs, yielding, err = read.Snapshot(ctx, tx); return err })
//	snapshot.OwnSizing.Eligible = read.EligibleNodes(ctx)
package observe

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/oar/database"
	"accordion/oar/tables"
)

// Reader reads OAR's database for one queue.
type Reader struct {
	db     tables.Tables
	queue  string
	recent recentJobs
	reach
}

// New returns a reader for a queue.
func New(db tables.Tables, queue string) *Reader { return &Reader{db: db, queue: queue} }

// Snapshot reads the pool. It returns the snapshot, its jobs, and the besteffort jobs that release their nodes only after a checkpoint.
func (o *Reader) Snapshot(ctx context.Context, tx *sql.Tx) (*adapter.Snapshot, []*Job, []BesteffortJob, error) {
	snapshot := &adapter.Snapshot{At: time.Now(), OwnSizing: adapter.OwnSizing{Pause: o.db.Conf.SecurityTime}}
	if err := o.db.PrepareManyJobs(ctx, tx); err != nil {
		return nil, nil, nil, err
	}
	nodes, err := o.Nodes(ctx, tx)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := o.readStrengths(ctx, tx, nodes); err != nil {
		return nil, nil, nil, err
	}
	where := fmt.Sprintf("(%s OR j.queue_name = %s AND %s AND %s) AND %s",
		database.IsHolding, o.db.Arg(1), database.IsWaiting, database.IsWhole, tables.NoHolder)
	records, err := o.Jobs(ctx, tx, where, o.queue)
	if err != nil {
		return nil, nil, nil, err
	}
	snapshot.OwnSizing.Outside = o.plannedElsewhere(records)
	if err := o.readWanted(ctx, tx, records); err != nil {
		return nil, nil, nil, err
	}
	ours, err := o.Reservations(ctx, tx, "")
	if err != nil {
		return nil, nil, nil, err
	}
	others, err := o.Others(ctx, tx)
	if err != nil {
		return nil, nil, nil, err
	}
	yielding, err := o.BesteffortJob(ctx, tx, records)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(yielding) > 0 {
		now, err := o.db.Second(ctx, tx)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, y := range yielding {
			if r, keeps := y.Keeps(now); keeps {
				others = append(others, r)
			}
		}
	}
	for _, r := range records {
		for _, host := range r.Holds {
			if n := nodes[host]; n != nil && r.Besteffort() {
				n.Yielded = true
			}
		}
	}
	records = slices.DeleteFunc(records, func(r *Job) bool {
		return r.Besteffort() || r.queue != o.queue && len(r.Holds) == 0 || r.advance && r.State == adapter.Pending
	})
	if records, err = o.addEnded(ctx, tx, records); err != nil {
		return nil, nil, nil, err
	}
	for _, r := range records {
		for _, host := range r.Holds {
			if n := nodes[host]; n != nil {
				n.Idle = false
			}
		}
	}
	for _, n := range nodes {
		snapshot.Nodes = append(snapshot.Nodes, *n)
	}
	slices.SortFunc(snapshot.Nodes, func(a, b adapter.Node) int { return hostlist.Compare(a.Name, b.Name) })
	for _, r := range ours {
		snapshot.Reservations = append(snapshot.Reservations, r.Reservation)
	}
	snapshot.Reservations = append(snapshot.Reservations, others...)
	shown := assemble(records, nodes)
	for _, pending := range []bool{true, false} {
		for _, r := range shown {
			if (r.State == adapter.Pending) == pending {
				snapshot.Jobs = append(snapshot.Jobs, r.Job)
			}
		}
	}
	return snapshot, shown, yielding, nil
}

// Job reads a job with its companions. The error is ErrGone when OAR does not know the job.
func (o *Reader) Job(ctx context.Context, from database.Querier, job adapter.Key) (*Job, error) {
	ids, err := tables.Companions(ctx, from, int64(job.ID))
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job.ID, err)
	}
	records, err := o.Jobs(ctx, from, "j.job_id IN ("+database.List(append(ids, int64(job.ID)))+")")
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job.ID, err)
	}
	records = slices.DeleteFunc(records, func(r *Job) bool { return r.ID != job.ID && r.Over() })
	i := slices.IndexFunc(records, func(r *Job) bool { return r.ID == job.ID })
	if i < 0 {
		return nil, fmt.Errorf("job %d: OAR does not know it: %w", job.ID, adapter.ErrGone)
	}
	r := records[i]
	if r.Submitted != job.Submitted {
		return nil, fmt.Errorf("job %d: submitted at %d, not at %d: another job has its number: %w", job.ID, r.Submitted, job.Submitted, adapter.ErrGone)
	}
	nodes, err := o.Nodes(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job.ID, err)
	}
	if r.BaseJob != 0 {
		r.Expands, r.Nodes = core.JobID(r.BaseJob), r.Holds
		return r, nil
	}
	assemble(records, nodes)
	return r, nil
}
