// Package history reads finished jobs from OAR's database, as the runs on which `accordion advise` bases its advice. It changes nothing,
// because it uses the read-only account.
//
//	runs, left, err := history.Read(ctx, db, history.Span{From: now - 30*86400, Until: now})
//
// OAR records on which nodes a job ran and for how long, but not which processes it started. So these runs do not show how much of the
// nodes was used.
package history

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"accordion/core"
	"accordion/oar/database"
	"accordion/traces/advise"
)

// patience limits the time of one query. A month of a large site takes seconds on a busy database.
const patience = 2 * time.Minute

// Span is a period, in Unix seconds. It selects the jobs that ran at least partly within it.
type Span struct{ From, Until core.Time }

// Left counts the jobs that are left out, by reason.
type Left struct {
	Changing   int // jobs whose number of nodes changed: evolving jobs, and their companions
	NoNodes    int // jobs whose nodes OAR no longer knows
	Unfinished int // jobs that still run
	Backwards  int // jobs whose end is before their start, because the clock was set back
}

// String describes the jobs that are left out, or returns "" if there are none.
func (l Left) String() string {
	var parts []string
	for _, p := range []struct {
		count int
		what  string
	}{{l.Unfinished, "jobs that run"}, {l.Changing, "jobs with a profile, and their companions"}, {l.NoNodes, "jobs of which OAR no longer knows the nodes"},
		{l.Backwards, "jobs that ended before they began"}} {
		if p.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.count, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// job is a row of the query.
type job struct {
	id                                int64
	name, user, project, queue, state string
	command                           string
	submit, start, stop, limit        core.Time
	exit                              int64
}

// Read returns the jobs that ran in the span and have ended. A job without a name gets its command as name.
func Read(ctx context.Context, db *database.DB, span Span) ([]advise.Run, Left, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*patience)
	defer cancel()
	var k kept
	err := db.AtOneInstant(ctx, db.Users, func(tx *sql.Tx) (err error) {
		k, err = read(ctx, db, tx, span)
		return err
	})
	if err != nil {
		return nil, Left{}, fmt.Errorf("as the account that may only read: %w", err)
	}
	var left Left
	runs := runsOf(k.jobs, k.hosts, k.changing, &left)
	return runs, left, nil
}

// kept has the rows of OAR's tables for the jobs. `hosts` has the number of nodes of each job. `changing` has, for
// each job, how many of its types let the number of nodes change.
type kept struct {
	jobs            []job
	hosts, changing map[int64]int
}

func read(ctx context.Context, db *database.DB, tx *sql.Tx, span Span) (k kept, err error) {
	if _, err = tx.ExecContext(ctx, db.StatementLimit(patience)); err != nil {
		return k, fmt.Errorf("limiting the time of a query of OAR's database: %w", err)
	}
	where := fmt.Sprintf("j.start_time > 0 AND j.start_time < %d AND (j.stop_time >= %d OR j.stop_time = 0)", span.Until, span.From)
	k.jobs, err = database.All(ctx, tx, "jobs that are over", `SELECT j.job_id, COALESCE(j.job_name, ''), COALESCE(j.job_user, ''), COALESCE(j.project, ''), COALESCE(j.queue_name, ''),
		j.state, COALESCE(j.command, ''), j.submission_time, j.start_time, j.stop_time, COALESCE(m.moldable_walltime, 0), COALESCE(j.exit_code, -1)
		FROM jobs j LEFT JOIN moldable_job_descriptions m ON m.moldable_id = j.assigned_moldable_job WHERE `+where+` ORDER BY j.job_id`, nil, func(j *job) []any {
		return []any{&j.id, &j.name, &j.user, &j.project, &j.queue, &j.state, &j.command, &j.submit, &j.start, &j.stop, &j.limit, &j.exit}
	})
	if err != nil {
		return k, err
	}
	k.hosts, err = countsOf(ctx, tx, "the nodes of jobs that are over", `SELECT j.job_id, COUNT(DISTINCT r.network_address) FROM jobs j
		JOIN assigned_resources a ON a.moldable_job_id = j.assigned_moldable_job JOIN resources r ON r.resource_id = a.resource_id
		WHERE r.type = 'default' AND `+where+` GROUP BY j.job_id`)
	if err != nil {
		return k, err
	}
	k.changing, err = countsOf(ctx, tx, "the types of jobs that are over", `SELECT j.job_id, COUNT(*) FROM jobs j JOIN job_types t ON t.job_id = j.job_id
		WHERE (t.type = 'noop' OR t.type LIKE 'ep=%' OR t.type LIKE 'container%' OR t.type LIKE 'cosystem%') AND `+where+` GROUP BY j.job_id`)
	return k, err
}

// countsOf runs a query that returns a number for each job.
func countsOf(ctx context.Context, from database.Querier, what, query string) (map[int64]int, error) {
	all := map[int64]int{}
	err := database.Rows(ctx, from, what, query, nil, func(r *sql.Rows) error {
		var id int64
		var n int
		err := r.Scan(&id, &n)
		all[id] = n
		return err
	})
	return all, err
}

// runsOf converts the usable jobs to runs and counts the other jobs in `left`.
func runsOf(jobs []job, hosts, changing map[int64]int, left *Left) []advise.Run {
	var all []advise.Run
	for i := range jobs {
		j := &jobs[i]
		switch {
		case j.state != terminated && j.state != failed || j.stop == 0:
			left.Unfinished++
		case changing[j.id] > 0:
			left.Changing++
		case hosts[j.id] == 0:
			left.NoNodes++
		case j.stop < j.start:
			left.Backwards++
		default: // a job that fails immediately may end in the second in which it started
			all = append(all, j.run(hosts[j.id]))
		}
	}
	return all
}

// OAR's states of jobs that have ended.
const (
	terminated = "Terminated"
	failed     = "Error"
)

// run converts a job to a run of package advise.
func (j *job) run(hosts int) advise.Run {
	name := j.name
	if name == "" {
		name = named(j.command)
	}
	return advise.Run{ID: fmt.Sprint(j.id), User: core.Printable(j.user), Account: core.Printable(j.project), Partition: core.Printable(j.queue), Name: core.Printable(name), Submit: j.submit, Start: j.start, End: j.stop,
		Requested: hosts, Limit: j.limit, Held: hosts, Completed: j.state == terminated && j.exit == 0, Script: -1}
}

// named returns the name that a job without a name gets: its command, which is shortened if it is long.
func named(command string) string {
	const most = 100
	runes := []rune(strings.Join(strings.Fields(command), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}
