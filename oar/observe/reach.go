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

// reach is what the jobs that a pass plans want of resources by their properties: the machine that it divides is these together.
type reach struct {
	budget scheduler.Budget   // of each user, for as long as the sidecar runs
	wanted []want             // of the last snapshot, what most jobs want first; nil: nobody is to be told
	meant  map[string]meaning // by texts
}

// want is SQL of users, the jobs that want this, and the user of one of them.
type want struct {
	text string
	jobs []core.JobID
	user string
}

// meaning is the hosts that a text means; none where it takes too long.
type meaning struct {
	hosts []string
	asked time.Time
}

// How long a text is believed to mean the same, how long one may take, as in a pass, and all of a reading together.
const (
	meansFor = time.Minute
	patience = time.Second
	asking   = time.Second
)

// passed says whether a pass plans a job: the last one did not refuse it, nor will the next one by its types.
func (o *Reader) passed(r *Job) bool {
	if r.queue != o.queue || r.OARState != database.StateWaiting || r.advance || r.evolving() || r.Whole != 0 || strings.Contains(r.message, scheduler.Said) {
		return false
	}
	_, err := scheduler.ReadTypes(r.types)
	return err == nil
}

// readWanted reads what the jobs that a pass plans want of resources, where one of them waits that it molds.
func (o *Reader) readWanted(ctx context.Context, from database.Querier, records []*Job) error {
	o.wanted = nil
	planned, molds := map[int64]bool{}, false
	for _, r := range records {
		if o.passed(r) {
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

// Reach is the hosts that the jobs of the last snapshot may have by their properties, as these were a minute ago at most; nil: that is not
// known. It asks the account that may only read: outside of any transaction.
func (o *Reader) Reach(ctx context.Context) (all []adapter.Reach) {
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
				continue // it is no SQL, and the pass refuses the job
			}
			m = meaning{hosts, now}
		}
		known[w.text] = m
		if len(m.hosts) > 0 {
			all = append(all, adapter.Reach{Nodes: m.hosts, Jobs: w.jobs})
		}
	}
	o.meant = known
	if !complete { // some more in the next reading
		return nil
	}
	return all
}
