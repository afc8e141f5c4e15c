package scheduler

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/tables"
)

// state is what a pass read: the waiting jobs of its queue, and everything that occupies resources.
type state struct {
	queue     string
	resources []resource // in the order in which jobs get them; without Dead resources
	levels    []string   // the columns that requests name, except resource_id

	conditions map[string]condition  // the parsed SQL of users, if it is a condition
	kinds      map[string]columnKind // kinds of the columns of resources
	waiting    []*waiting            // by ID
	claims     []claim
	running    map[int64]*runs // requests of the jobs that have resources
	orders     *tables.Orders  // nil if Accordion's tables are not installed
	sidecar    sidecar
}

type resource struct {
	id     int64
	alive  bool
	kind   string
	values []string // one value for each of state.levels; "" if the resource has none
}

// waiting is a job in the queue.
type waiting struct {
	id         int64
	submitted  core.Time
	user       string
	properties string // SQL
	message    string
	types      []string
	choices    []*choice
	after      []dependency
}

// runs is the request of a job that has resources.
type runs struct {
	types   []string
	choices []*choice
}

// choice is one configuration of a request.
type choice struct {
	id       int64 // moldable_id
	walltime core.Time
	groups   []*group
}

// group is a part of a configuration, with a count for each level.
type group struct {
	id         int64
	properties string // SQL
	levels     []level
}

type level struct {
	column string
	count  int
}

type dependency struct {
	job   int64
	state string
}

// claim is a job that already has resources: it runs, or another queue has planned it, or it is an advance reservation.
type claim struct {
	job       int64
	moldable  int64 // its configuration
	state     string
	from      core.Time
	walltime  core.Time
	suspended core.Time // total time for which the job was suspended so far
	resources []int64
}

// read reads everything in a few flat queries, which see the database as of one instant. So it sees either all changes
// of a transaction of the sidecar or none.
func (d store) read(ctx context.Context, queue string, now core.Time) (*state, error) {
	var s *state
	err := d.AtOneInstant(ctx, d.Sql, func(tx *sql.Tx) error {
		s = &state{queue: queue, running: map[int64]*runs{}}
		byID := map[int64]*waiting{}
		mustWait := func(id int64) (*[]string, *[]*choice) {
			if w := byID[id]; w != nil {
				return &w.types, &w.choices
			}
			return nil, nil
		}
		for _, part := range []func() error{
			func() error { return d.readJobs(ctx, tx, queue, s, byID) },
			func() error { return d.readRequests(ctx, tx, mustWait, inQueue+d.Arg(1), queue) },
			func() error { return d.readRequests(ctx, tx, s.runs, database.IsHolding) },
			func() error { return d.readDependencies(ctx, tx, queue, byID) },
			func() error { return d.readClaims(ctx, tx, queue, now, s) },
			func() (err error) { s.orders, err = d.ReadOrders(ctx, tx); return err },
			func() error { return d.readResources(ctx, tx, s) },
		} {
			if err := part(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the queue: %w", err)
	}
	return s, nil
}

// besteffort is the name of OAR's queue of besteffort jobs, which compete only with each other for resources.
const besteffort = "besteffort"

const inQueue = "j.state = 'Waiting' AND j.reservation = 'None' AND j.queue_name = "

func (d store) readJobs(ctx context.Context, tx database.Querier, queue string, s *state, byID map[int64]*waiting) error {
	query := "SELECT j.job_id, j.submission_time, j.job_user, COALESCE(j.properties, ''), j.message FROM jobs j WHERE " + inQueue + d.Arg(1) + " ORDER BY j.job_id"
	return database.Rows(ctx, tx, "the waiting jobs", query, []any{queue}, func(r *sql.Rows) error {
		w := &waiting{}
		s.waiting = append(s.waiting, w)
		err := r.Scan(&w.id, &w.submitted, &w.user, &w.properties, &w.message)
		byID[w.id] = w
		return err
	})
}

// runs returns pointers to the types and configurations of a job that has resources.
func (s *state) runs(id int64) (*[]string, *[]*choice) {
	if s.running[id] == nil {
		s.running[id] = &runs{}
	}
	return &s.running[id].types, &s.running[id].choices
}

// readRequests reads the types and configurations of all jobs that match a condition. The function `into` returns
// pointers to the variables for a job's types and configurations, or nil to ignore the job.
func (d store) readRequests(ctx context.Context, tx database.Querier, into func(job int64) (*[]string, *[]*choice), where string, args ...any) error {
	query := "SELECT t.job_id, t.type FROM jobs j JOIN job_types t ON t.job_id = j.job_id WHERE " + where + " ORDER BY t.job_type_id"
	err := database.Rows(ctx, tx, "the jobs' types", query, args, func(r *sql.Rows) error {
		var id int64
		var name string
		err := r.Scan(&id, &name)
		if types, _ := into(id); types != nil {
			*types = append(*types, strings.TrimSpace(name))
		}
		return err
	})
	if err != nil {
		return err
	}
	query = `SELECT m.moldable_job_id, m.moldable_id, m.moldable_walltime, g.res_group_id, COALESCE(g.res_group_property, ''),
		r.res_job_resource_type, r.res_job_value
		FROM jobs j JOIN moldable_job_descriptions m ON m.moldable_job_id = j.job_id
		JOIN job_resource_groups g ON g.res_group_moldable_id = m.moldable_id
		JOIN job_resource_descriptions r ON r.res_job_group_id = g.res_group_id
		WHERE ` + where + " ORDER BY m.moldable_id, g.res_group_id, r.res_job_order"
	return database.Rows(ctx, tx, "the jobs' configurations", query, args, func(r *sql.Rows) error {
		var job int64
		var c choice
		var g group
		var l level
		if err := r.Scan(&job, &c.id, &c.walltime, &g.id, &g.properties, &l.column, &l.count); err != nil {
			return err
		}
		_, choices := into(job)
		if choices == nil {
			return nil
		}
		if last := len(*choices) - 1; last < 0 || (*choices)[last].id != c.id {
			*choices = append(*choices, &c)
		}
		in := (*choices)[len(*choices)-1]
		if last := len(in.groups) - 1; last < 0 || in.groups[last].id != g.id {
			in.groups = append(in.groups, &g)
		}
		part := in.groups[len(in.groups)-1]
		part.levels = append(part.levels, l)
		return nil
	})
}

// readConditions parses the SQL of users, and stores the SQL that is a condition.
func (s *state) readConditions() {
	s.conditions = map[string]condition{}
	seen := map[string]bool{}
	for _, w := range s.waiting {
		for _, c := range w.choices {
			for _, g := range c.groups {
				text := wishOf(w, g).text
				if seen[text] {
					continue
				}
				seen[text] = true
				if means, is := parseCondition(text); is {
					s.conditions[text] = means
				}
			}
		}
	}
}

// named returns the columns, except resource_id, that waiting jobs name in their levels and conditions.
func (s *state) named() []string {
	seen := map[string]bool{"resource_id": true}
	var all []string
	for _, w := range s.waiting {
		for _, c := range w.choices {
			for _, g := range c.groups {
				for _, l := range g.levels {
					if !seen[l.column] && conf.Column.MatchString(l.column) {
						all = append(all, l.column)
					}
					seen[l.column] = true
				}
			}
		}
	}
	for _, means := range s.conditions {
		for _, column := range means.columns() {
			if !seen[column] && conf.Column.MatchString(column) {
				all = append(all, column)
			}
			seen[column] = true
		}
	}
	slices.Sort(all)
	return all
}

func (d store) readDependencies(ctx context.Context, tx database.Querier, queue string, byID map[int64]*waiting) error {
	query := `SELECT p.job_id, p.job_id_required, COALESCE(r.state, 'Terminated')
		FROM jobs j JOIN job_dependencies p ON p.job_id = j.job_id LEFT JOIN jobs r ON r.job_id = p.job_id_required
		WHERE p.job_dependency_index = 'CURRENT' AND ` + inQueue + d.Arg(1) + " ORDER BY p.job_id, p.job_id_required"
	return database.Rows(ctx, tx, "the jobs' dependencies", query, []any{queue}, func(r *sql.Rows) error {
		var id int64
		var on dependency
		err := r.Scan(&id, &on.job, &on.state)
		if w := byID[id]; w != nil {
			w.after = append(w.after, on)
		}
		return err
	})
}

// readClaims reads OAR's own plan: running jobs, validated advance reservations, and the plans of queues with a higher
// priority. Besteffort jobs only count for the besteffort queue.
func (d store) readClaims(ctx context.Context, tx database.Querier, queue string, now core.Time, s *state) error {
	others := ""
	if queue != besteffort {
		others = " AND NOT EXISTS (SELECT 1 FROM job_types t WHERE t.job_id = j.job_id AND t.type = 'besteffort')"
	}
	const from = ` FROM gantt_jobs_predictions p JOIN moldable_job_descriptions m ON m.moldable_id = p.moldable_job_id
		JOIN jobs j ON j.job_id = m.moldable_job_id `
	suspended := map[int64]core.Time{}
	query := fmt.Sprintf(`SELECT j.job_id, SUM(CASE WHEN l.date_stop = 0 THEN %d ELSE l.date_stop END - l.date_start)`, now) + from +
		`JOIN job_state_logs l ON l.job_id = j.job_id WHERE j.suspended = 'YES' AND l.job_state IN ('Suspended', 'Resuming') GROUP BY j.job_id`
	err := database.Rows(ctx, tx, "the suspended jobs", query, nil, func(r *sql.Rows) error {
		var id int64
		var sum core.Time
		err := r.Scan(&id, &sum)
		suspended[id] = max(sum, 0)
		return err
	})
	if err != nil {
		return err
	}
	query = "SELECT p.moldable_job_id, j.job_id, j.state, p.start_time, m.moldable_walltime, g.resource_id" + from +
		"JOIN gantt_jobs_resources g ON g.moldable_job_id = p.moldable_job_id WHERE 1 = 1" + others + " ORDER BY p.moldable_job_id"
	last := int64(-1)
	return database.Rows(ctx, tx, "OAR's plan", query, nil, func(r *sql.Rows) error {
		var c claim
		var resource int64
		if err := r.Scan(&c.moldable, &c.job, &c.state, &c.from, &c.walltime, &resource); err != nil {
			return err
		}
		if c.moldable != last {
			last, c.suspended = c.moldable, suspended[c.job]
			s.claims = append(s.claims, c)
		}
		c2 := &s.claims[len(s.claims)-1]
		c2.resources = append(c2.resources, resource)
		return nil
	})
}

// readResources reads the resources that are not dead, with the columns that requests name. It ignores names that are
// not columns of the table; the requests that use them are refused.
func (d store) readResources(ctx context.Context, tx database.Querier, s *state) error {
	known := map[string]bool{}
	table, err := tx.QueryContext(ctx, "SELECT * FROM resources WHERE 1 = 0")
	if err != nil {
		return fmt.Errorf("reading the resources: %w", err)
	}
	columns, err := table.ColumnTypes()
	table.Close()
	if err != nil {
		return fmt.Errorf("reading the resources: %w", err)
	}
	s.kinds = map[string]columnKind{}
	for _, c := range columns {
		known[c.Name()] = true
		s.kinds[c.Name()] = columnKindOf(c.DatabaseTypeName())
	}
	s.readConditions()
	s.levels = slices.DeleteFunc(s.named(), func(name string) bool { return !known[name] })
	more := ""
	for _, name := range s.levels {
		more += ", " + d.Quoted(name)
	}
	query := "SELECT resource_id, state, type" + more + " FROM resources WHERE state <> 'Dead' ORDER BY " + d.Conf.Order
	return database.Rows(ctx, tx, "the resources", query, nil, func(r *sql.Rows) error {
		one := resource{values: make([]string, len(s.levels))}
		values := make([]sql.NullString, len(s.levels))
		var state string
		into := []any{&one.id, &state, &one.kind}
		for i := range values {
			into = append(into, &values[i])
		}
		err := r.Scan(into...)
		one.alive = state == "Alive"
		for i, v := range values {
			one.values[i] = v.String
		}
		s.resources = append(s.resources, one)
		return err
	})
}
