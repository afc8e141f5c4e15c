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

// reach has the conditions on resources (properties) that waiting jobs request. A host belongs to the machine that a
// pass divides among moldable jobs if it meets at least one of these conditions.
type reach struct {
	budget scheduler.Budget   // evaluation time that each user has used since the sidecar started
	wanted []want             // conditions of the last snapshot, ordered by the number of jobs with that condition; nil if not needed
	meant  map[string]meaning // results of evaluation, by condition
}

// want is a condition in SQL that users wrote, the jobs that set it, and the user of one of them.
type want struct {
	text string
	jobs []core.JobID
	user string
}

// meaning is the result of evaluating a condition. It has the hosts that meet the condition, or no hosts if the evaluation took too long.
type meaning struct {
	hosts []string
	asked time.Time
}

// `meansFor` is how long a result is used. `patience` limits the time for evaluating one condition, as in a pass.
// `asking` limits the time for evaluating all conditions of one reading.
const (
	meansFor = time.Minute
	patience = time.Second
	asking   = time.Second
)

// plannedByPass reports whether a pass plans the job. The last pass must not have refused the job, and the next pass must not refuse the
// job's types.
func (o *Reader) plannedByPass(r *Job) bool {
	if r.queue != o.queue || r.OARState != database.StateWaiting || r.advance || r.evolving() || r.BaseJob != 0 || strings.Contains(r.message, scheduler.Said) {
		return false
	}
	_, err := scheduler.ReadTypes(r.types)
	return err == nil
}

// readWanted reads the conditions of the jobs that a pass plans, if at least one of these jobs is moldable.
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

// EligibleNodes returns the hosts that meet the conditions of the last snapshot's jobs. Its information is at most a minute old. It returns
// nil if the hosts are unknown. It uses the read-only account, so call it outside of transactions.
func (o *Reader) EligibleNodes(ctx context.Context) (all []adapter.EligibleNodes) {
	now, known, complete := time.Now(), map[string]meaning{}, true
	if o.budget == nil {
		o.budget = scheduler.Budget{}
	}
	for _, w := range o.wanted {
		m, is := o.meant[w.text]
		if !is || now.Sub(m.asked) >= meansFor || m.asked.After(now) {
			if o.budget.Spent(w.user, now.Unix()) {
				continue // treated as if the evaluation took too long
			}
			if complete = time.Since(now) < asking; !complete {
				break
			}
			begin := time.Now()
			hosts, err := database.Eligible[string](ctx, o.db.DB, "DISTINCT network_address", w.text, patience)
			o.budget.Charge(w.user, time.Since(begin), now.Unix())
			if err != nil && !errors.Is(err, database.ErrSlow) {
				continue // the condition is not valid SQL, so the pass refuses the job
			}
			m = meaning{hosts, now}
		}
		known[w.text] = m
		if len(m.hosts) > 0 {
			all = append(all, adapter.EligibleNodes{Nodes: m.hosts, Jobs: w.jobs})
		}
	}
	o.meant = known
	if !complete { // the next reading continues the evaluation
		return nil
	}
	return all
}
