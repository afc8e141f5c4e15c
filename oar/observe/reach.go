package observe

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/scheduler"
)

// reach holds the conditions that waiting jobs set on resources by their properties. The union of the hosts that meet
// them is the machine that a pass divides among moldable jobs.
type reach struct {
	budget scheduler.Budget   // of each user, while the sidecar runs
	wanted []want             // of the last snapshot, those of most jobs first; nil if not needed
	meant  map[string]meaning // by condition
}

// want is a condition in SQL that users wrote, the jobs that set it, and the user of one of them.
type want struct {
	text string
	jobs []core.JobID
	user string
}

// meaning is the result of evaluating a condition: its hosts, none where that took too long.
type meaning struct {
	hosts []string
	asked time.Time
}

// For how long a result is used, how long one condition may take (as in a pass), and how long all conditions of one
// reading may take together.
const (
	meansFor = time.Minute
	patience = time.Second
	asking   = time.Second
)

// plannedByPass reports whether a pass plans the job: the last pass did not refuse it, and the next will not refuse its
// types.
func (o *Reader) plannedByPass(r *Job) bool {
	if r.queue != o.queue || r.OARState != database.StateWaiting || r.advance || r.evolving() || r.BaseJob != 0 || strings.Contains(r.message, scheduler.Said) {
		return false
	}
	_, err := scheduler.ReadTypes(r.types)
	return err == nil
}

// readWanted reads the conditions of the jobs that a pass plans, where one of these is moldable.
func (o *Reader) readWanted(ctx context.Context, from database.Querier, records []*Job) error {
	o.wanted = nil
	planned, molds := map[int64]bool{}, false
	for _, r := range records {
		if o.plannedByPass(r) {
			planned[int64(r.ID)] = true
			molds = molds || len(r.Choices) > 1 && !r.Besteffort()
		}
	}
	if !molds {
		return nil
	}
	jobs, users := map[string][]core.JobID{}, map[string]string{}
	query := `SELECT DISTINCT j.job_id, j.job_user, COALESCE(j.properties, ''), COALESCE(g.res_group_property, '')
		FROM jobs j JOIN moldable_job_descriptions m ON m.moldable_job_id = j.job_id
		JOIN job_resource_groups g ON g.res_group_moldable_id = m.moldable_id
		WHERE m.moldable_index = 'CURRENT' AND g.res_group_index = 'CURRENT' AND ` + database.IsWaiting + " AND j.queue_name = " + o.db.Arg(1)
	err := database.Rows(ctx, from, "the jobs' properties", query, []any{o.queue}, func(row *sql.Rows) error {
		var id int64
		var user, job, part string
		err := row.Scan(&id, &user, &job, &part)
		if planned[id] {
			text := database.ResourceCondition(job, part)
			jobs[text], users[text] = append(jobs[text], core.JobID(id)), user
		}
		return err
	})
	for text, all := range jobs {
		o.wanted = append(o.wanted, want{text, all, users[text]})
	}
	slices.SortFunc(o.wanted, func(a, b want) int { return cmp.Or(len(b.jobs)-len(a.jobs), strings.Compare(a.text, b.text)) })
	return err
}

// EligibleNodes returns the hosts that the jobs of the last snapshot may have by their properties, as of a minute ago or less.
// It returns nil where that is not known. It asks with the account that may only read, so call it outside of
// transactions.
func (o *Reader) EligibleNodes(ctx context.Context) (all []adapter.EligibleNodes) {
	now, known, complete := time.Now(), map[string]meaning{}, true
	if o.budget == nil {
		o.budget = scheduler.Budget{}
	}
	for _, w := range o.wanted {
		m, is := o.meant[w.text]
		if !is || now.Sub(m.asked) >= meansFor || m.asked.After(now) {
			if o.budget.Spent(w.user, now.Unix()) {
				continue // as if it took too long
			}
			if complete = time.Since(now) < asking; !complete {
				break
			}
			begin := time.Now()
			hosts, err := database.Eligible[string](ctx, o.db.DB, "DISTINCT network_address", w.text, patience)
			o.budget.Charge(w.user, time.Since(begin), now.Unix())
			if err != nil && !errors.Is(err, database.ErrSlow) {
				continue // it is not valid SQL, and the pass refuses the job
			}
			m = meaning{hosts, now}
		}
		known[w.text] = m
		if len(m.hosts) > 0 {
			all = append(all, adapter.EligibleNodes{Nodes: m.hosts, Jobs: w.jobs})
		}
	}
	o.meant = known
	if !complete { // the next reading continues
		return nil
	}
	return all
}
