package oar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/oar/database"
	"accordion/oar/pass"
)

// record is one job as OAR and Accordion's tables have it. What the sidecar is shown of it, stand makes of several.
type record struct {
	adapter.Job
	state    string // OAR's
	queue    string
	project  string
	message  string
	advance  bool  // an advance reservation
	moldable int64 // the configuration that it runs in; 0: none
	types    []string
	holds    []string // hosts assigned to it, in the order of OAR: its script runs on the first
	places   []string // hosts that it is to have, in natural order

	known    bool // it is in Accordion's table
	released bool
	base     int64     // the job that it makes larger; 0: it is no companion
	mark     string    // of a companion: "" until its nodes are the job's, then one of the two below
	with     string    // of a companion without mark: those that were made with it have the same
	group    string    // of a companion: the reservation in which it was made
	joined   []*record // the companions of an evolving job, as far as they count
}

// Marks of companions whose nodes are the job's.
const (
	atStart = "first" // made with it
	grown   = "grown"
)

// coming begins the mark of companions whose nodes are not yet the job's, before the number of the first of those made together: others of
// the same growth may still be there, which has failed, and must not become the job's with them.
const coming = "coming "

// Conditions on a job's state.
const (
	isWaiting = "j.state IN ('Waiting', 'Hold', 'toAckReservation')"
	isHolding = "j.state IN ('toLaunch', 'Launching', 'Running', 'Suspended', 'Resuming', 'Finishing', 'toError')"
	isLive    = "j.state IN ('Waiting', 'Hold', 'toAckReservation', 'toLaunch', 'Launching', 'Running', 'Suspended', 'Resuming', 'Finishing', 'toError')"
)

// stand is OAR's state in the sidecar's words. A job that is being launched holds nodes and runs, but for one of ours,
// which has its nodes together only when it really runs.
func (r *record) stand() adapter.State {
	switch r.state {
	case database.StateWaiting, database.StateHold, "toAckReservation":
		return adapter.Pending
	case "toLaunch", "Launching":
		if r.evolving() || r.base != 0 {
			return adapter.Pending
		}
		return adapter.Running
	case "Running", "Suspended", "Resuming":
		return adapter.Running
	case "Finishing", "toError":
		return adapter.Ending
	}
	return adapter.Done
}

// over says whether nothing of the job is left.
func (r *record) over() bool { return r.State == adapter.Done }

// evolving says whether the job has a profile, or is ours.
func (r *record) evolving() bool { return r.base == 0 && (r.known || r.Comment != "") }

// besteffort says whether OAR ends the job where another wants its nodes.
func (r *record) besteffort() bool {
	return r.queue == "besteffort" || slices.ContainsFunc(r.types, func(t string) bool { return typeName(t) == "besteffort" })
}

func typeName(t string) string {
	name, _, _ := strings.Cut(t, "=")
	return strings.TrimSpace(name)
}

// ends is the second of its walltime, of a job that holds nodes.
func (r *record) ends() core.Time { return r.Started + r.Limit }

// companionsOf gives the numbers of a job's companions, over or not.
func companionsOf(ctx context.Context, from database.Querier, base int64) ([]int64, error) {
	return database.Numbers(ctx, from, "SELECT job_id FROM accordion_jobs WHERE base", []int64{base})
}

// records reads the jobs for which a condition holds, by number. Text stands in the condition as arguments. Of a job that is over
// OAR has put away (LOG) all but its own row: those of a history of years are not looked through.
func (s *System) records(ctx context.Context, from database.Querier, where string, args ...any) ([]*record, error) {
	var all []*record
	byID := map[int64]*record{}
	query := `SELECT j.job_id, j.submission_time, COALESCE(j.job_name, ''), j.job_user, j.project, j.queue_name, j.state, j.reservation, j.start_time,
		COALESCE(j.assigned_moldable_job, 0), j.message, COALESCE(m.moldable_walltime, 0), COALESCE(a.base, -1), COALESCE(a.mark, ''), COALESCE(a.released, 0),
		COALESCE(a.reservation, '')
		FROM jobs j LEFT JOIN accordion_jobs a ON a.job_id = j.job_id AND a.submitted = j.submission_time
		LEFT JOIN moldable_job_descriptions m ON m.moldable_id = j.assigned_moldable_job AND m.moldable_index = 'CURRENT' WHERE ` + where + " ORDER BY j.job_id"
	err := database.Rows(ctx, from, "the jobs", query, args, func(row *sql.Rows) error {
		r := &record{}
		var reservation, tied string
		var base int64
		err := row.Scan(&r.ID, &r.Submitted, &r.Name, &r.User, &r.project, &r.queue, &r.state, &reservation, &r.Started,
			&r.moldable, &r.message, &r.Limit, &base, &r.mark, &r.released, &tied)
		r.advance = reservation != "None"
		if r.known = base >= 0; r.known {
			r.base = base
		}
		if r.base == 0 {
			r.Reservation, r.Mark, r.mark = tied, r.mark, ""
		} else {
			r.group = tied
			if strings.HasPrefix(r.mark, coming) {
				r.mark, r.with = "", r.mark
			}
		}
		r.Partition = r.queue
		byID[int64(r.ID)] = r
		all = append(all, r)
		return err
	})
	if err != nil || len(all) == 0 {
		return all, err
	}
	for _, part := range []func() error{
		func() error { return s.readKinds(ctx, from, byID, where, args) },
		func() error { return s.readHolds(ctx, from, byID, where, args) },
		func() error { return s.readPlaces(ctx, from, byID, where, args) },
		func() error { return s.readWishes(ctx, from, byID, where, args) },
		func() error { return s.readWaitsFor(ctx, from, byID, where, args) },
	} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	for _, r := range all {
		r.State = r.stand()
	}
	return all, nil
}

// readKinds reads the jobs' types, and the profiles among them.
func (s *System) readKinds(ctx context.Context, from database.Querier, byID map[int64]*record, where string, args []any) error {
	query := "SELECT t.job_id, t.type FROM jobs j JOIN job_types t ON t.job_id = j.job_id WHERE t.types_index = 'CURRENT' AND (" + where + ") ORDER BY t.job_type_id"
	err := database.Rows(ctx, from, "the jobs' types", query, args, func(row *sql.Rows) error {
		var id int64
		var kind string
		err := row.Scan(&id, &kind)
		if r := byID[id]; r != nil {
			r.types = append(r.types, strings.TrimSpace(kind))
		}
		return err
	})
	for _, r := range byID {
		r.Comment = wishes(r.types)
		if r.Comment != "" {
			r.Unfit = unfit(r)
		}
	}
	return err
}

// wishes is what the types of a job ask of the sidecar: ep=…, or the profiles ep1=…, ep2=… as alternatives of each other.
func wishes(types []string) string {
	var alternatives []string
	for _, t := range types {
		name, profile, _ := strings.Cut(t, "=")
		if number, ok := strings.CutPrefix(strings.TrimSpace(name), "ep"); ok && strings.Trim(number, "0123456789") == "" && profile != "" {
			alternatives = append(alternatives, strings.TrimSpace(profile))
		}
	}
	if len(alternatives) == 0 {
		return ""
	}
	return "ep=" + strings.Join(alternatives, "|")
}

// unfit says why an evolving job cannot be resized soundly.
func unfit(r *record) string {
	if r.advance {
		return "an advance reservation cannot grow or shrink: submit it without -r"
	}
	for _, t := range r.types {
		switch name := typeName(t); name {
		case "besteffort", "container", "inner", "timesharing", "placeholder", "allowed", "deploy", "cosystem", "noop":
			return fmt.Sprintf("a job of type %s cannot grow or shrink: submit it without -t %s", name, name)
		}
	}
	return ""
}

// readHolds reads the hosts that jobs hold.
func (s *System) readHolds(ctx context.Context, from database.Querier, byID map[int64]*record, where string, args []any) error {
	query := `SELECT j.job_id, r.network_address FROM jobs j JOIN assigned_resources a ON a.moldable_job_id = j.assigned_moldable_job
		JOIN resources r ON r.resource_id = a.resource_id WHERE a.assigned_resource_index = 'CURRENT' AND ` + database.OnHost + " AND " + isHolding +
		" AND (" + where + ") GROUP BY j.job_id, r.network_address ORDER BY j.job_id, r.network_address"
	return database.Rows(ctx, from, "the jobs' hosts", query, args, func(row *sql.Rows) error {
		var id int64
		var host string
		err := row.Scan(&id, &host)
		if r := byID[id]; r != nil {
			r.holds = append(r.holds, host)
		}
		return err
	})
}

// readPlaces reads the hosts that released jobs are to have.
func (s *System) readPlaces(ctx context.Context, from database.Querier, byID map[int64]*record, where string, args []any) error {
	query := `SELECT j.job_id, r.network_address FROM jobs j JOIN accordion_places p ON p.job_id = j.job_id
		JOIN resources r ON r.resource_id = p.resource_id WHERE ` + database.OnHost + " AND (" + where + ") GROUP BY j.job_id, r.network_address"
	err := database.Rows(ctx, from, "the jobs' places", query, args, func(row *sql.Rows) error {
		var id int64
		var host string
		err := row.Scan(&id, &host)
		if r := byID[id]; r != nil {
			r.places = append(r.places, host)
		}
		return err
	})
	for _, r := range byID {
		hostlist.Sort(r.places)
	}
	return err
}

// readWishes reads what waiting jobs ask for: in the configuration that is planned for them, else in the first.
func (s *System) readWishes(ctx context.Context, from database.Querier, byID map[int64]*record, where string, args []any) error {
	query := `SELECT j.job_id, m.moldable_id, m.moldable_walltime, COALESCE(MAX(CASE WHEN d.res_job_resource_type = 'network_address' THEN d.res_job_value END), 1)
		FROM jobs j JOIN moldable_job_descriptions m ON m.moldable_job_id = j.job_id
		JOIN job_resource_groups g ON g.res_group_moldable_id = m.moldable_id
		JOIN job_resource_descriptions d ON d.res_job_group_id = g.res_group_id
		WHERE m.moldable_index = 'CURRENT' AND g.res_group_index = 'CURRENT' AND d.res_job_index = 'CURRENT' AND ` + isWaiting +
		" AND (" + where + ") GROUP BY j.job_id, m.moldable_id, m.moldable_walltime ORDER BY j.job_id, m.moldable_id"
	err := database.Rows(ctx, from, "the jobs' configurations", query, args, func(row *sql.Rows) error {
		var id, moldable int64
		var walltime core.Time
		var nodes int
		err := row.Scan(&id, &moldable, &walltime, &nodes)
		if r := byID[id]; r != nil && r.Want == 0 {
			r.Want, r.Limit = max(nodes, 1), walltime
		}
		return err
	})
	if err != nil {
		return err
	}
	query = `SELECT j.job_id, m.moldable_walltime, COUNT(DISTINCT r.network_address)
		FROM jobs j JOIN moldable_job_descriptions m ON m.moldable_job_id = j.job_id
		JOIN gantt_jobs_resources_visu g ON g.moldable_job_id = m.moldable_id JOIN resources r ON r.resource_id = g.resource_id
		WHERE m.moldable_index = 'CURRENT' AND ` + database.OnHost + " AND " + isWaiting + " AND (" + where + ") GROUP BY j.job_id, m.moldable_id, m.moldable_walltime"
	return database.Rows(ctx, from, "OAR's plan", query, args, func(row *sql.Rows) error {
		var id int64
		var walltime core.Time
		var nodes int
		err := row.Scan(&id, &walltime, &nodes)
		if r := byID[id]; r != nil && nodes > 0 && !r.evolving() {
			r.Want, r.Limit = nodes, walltime
		}
		return err
	})
}

// readWaitsFor notes which jobs would not start on an empty machine.
func (s *System) readWaitsFor(ctx context.Context, from database.Querier, byID map[int64]*record, where string, args []any) error {
	query := `SELECT j.job_id, p.job_id_required FROM jobs j JOIN job_dependencies p ON p.job_id = j.job_id JOIN jobs o ON o.job_id = p.job_id_required
		WHERE p.job_dependency_index = 'CURRENT' AND ` + strings.ReplaceAll(isLive, "j.", "o.") + " AND " + isWaiting + " AND (" + where + ")"
	err := database.Rows(ctx, from, "the jobs' dependencies", query, args, func(row *sql.Rows) error {
		var id, on int64
		err := row.Scan(&id, &on)
		if r := byID[id]; r != nil {
			r.Blocked, r.Why = true, fmt.Sprintf("it waits for the end of job %d", on)
		}
		return err
	})
	for _, r := range byID {
		if k, err := readKindsOf(r); err == nil {
			r.Begin = k.Postpone
		}
	}
	return err
}

// readKindsOf reads those of a job's types that say when it may run; types that only other schedulers honour are no error.
func readKindsOf(r *record) (pass.Kinds, error) {
	return pass.ReadTypes(slices.DeleteFunc(slices.Clone(r.types), func(t string) bool {
		return slices.Contains(pass.NotHonoured, typeName(t)) || strings.HasPrefix(t, "ep")
	}))
}
