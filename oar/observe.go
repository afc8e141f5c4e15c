package oar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/oar/database"
	"accordion/oar/pass"
	"accordion/oar/server"
)

// Observe reads the pool at one instant: the hosts with resources of type default, the jobs on them, and the jobs that
// wait in our queue. Besteffort jobs are left out, for OAR ends them where others want their nodes; jobs of any other
// queue are holders. What queues of a higher priority have planned, and advance reservations, are the reservations of others.
func (s *System) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	var snapshot *adapter.Snapshot
	var shown []*record
	err := s.db.AtOneInstant(ctx, func(tx *sql.Tx) (err error) {
		if snapshot, shown, err = s.observe(ctx, tx); err != nil {
			return err
		}
		return s.keeper.Look(ctx, tx)
	})
	s.hasten(shown...)
	if err == nil {
		err = s.lengthen(ctx, shown)
	}
	if err == nil {
		snapshot.Soft, err = s.soft(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("observing OAR: %w", err)
	}
	for i := range snapshot.Jobs {
		s.users.Name(ctx, &snapshot.Jobs[i])
	}
	return snapshot, nil
}

func (s *System) observe(ctx context.Context, tx *sql.Tx) (*adapter.Snapshot, []*record, error) {
	snapshot := &adapter.Snapshot{At: time.Now()}
	if err := s.db.Many(ctx, tx); err != nil {
		return nil, nil, err
	}
	nodes, err := s.nodes(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	where := fmt.Sprintf("(%s OR j.queue_name = %s AND %s) AND j.job_id NOT IN (SELECT v.holder FROM accordion_reservations v)",
		isHolding, s.db.Arg(1), isWaiting)
	records, err := s.records(ctx, tx, where, s.queue)
	if err != nil {
		return nil, nil, err
	}
	ours, err := s.reservations(ctx, tx, "")
	if err != nil {
		return nil, nil, err
	}
	others, err := s.closures(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	records = slices.DeleteFunc(records, func(r *record) bool {
		return r.besteffort() || r.queue != s.queue && len(r.holds) == 0 || r.advance && r.State == adapter.Pending
	})
	if records, err = s.tellEnds(ctx, tx, records); err != nil {
		return nil, nil, err
	}
	for _, r := range records {
		for _, host := range r.holds {
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
	return snapshot, shown, nil
}

// nodes reads the hosts. One is usable when all that belongs to it is; a dead one is none any more.
func (s *System) nodes(ctx context.Context, from database.Querier) (map[string]*adapter.Node, error) {
	nodes := map[string]*adapter.Node{}
	query := "SELECT r.network_address, r.state, r.drain FROM resources r WHERE " + database.OnHost + " AND r.state <> 'Dead' GROUP BY r.network_address, r.state, r.drain"
	err := database.Rows(ctx, from, "the nodes", query, nil, func(row *sql.Rows) error {
		var host, state, drain string
		err := row.Scan(&host, &state, &drain)
		n := nodes[host]
		if n == nil {
			n = &adapter.Node{Name: host, Usable: true, Idle: true, Why: state}
			nodes[host] = n
		}
		if state != "Alive" {
			n.Usable, n.Why = false, state
		} else if drain == "YES" {
			n.Usable, n.Why = false, "drained"
		}
		return err
	})
	return nodes, err
}

// assemble joins the evolving jobs with their companions. A companion that counts for no job is shown as a job of its own,
// an expander of its base.
func assemble(records []*record, nodes map[string]*adapter.Node) []*record {
	byID := map[int64]*record{}
	for _, r := range records {
		byID[int64(r.ID)] = r
	}
	shown := make([]*record, 0, len(records))
	for _, r := range records {
		if r.base == 0 {
			shown = append(shown, r)
			continue
		}
		base := byID[r.base]
		if base != nil && r.counts(base, nodes) {
			base.joined = append(base.joined, r)
			continue
		}
		r.stray(base)
		shown = append(shown, r)
	}
	for _, r := range shown {
		if r.base == 0 {
			r.complete()
		}
	}
	return shown
}

// counts says whether a companion's nodes are its base's. Where one of them is away for good they are not: a noop job
// outlives its node, while OAR ends every other job with its.
func (r *record) counts(base *record, nodes map[string]*adapter.Node) bool {
	if r.mark == "" || base.State != adapter.Pending && base.State != adapter.Running {
		return false
	}
	return nodes == nil || !slices.ContainsFunc(r.holds, func(host string) bool {
		n := nodes[host]
		return n == nil || n.Why == "Absent"
	})
}

// stray makes a companion the expander that the sidecar ends, once it runs, or once its base is over: for then it would
// wait for ever.
func (r *record) stray(base *record) {
	r.Expands, r.Nodes = core.JobID(r.base), r.holds
	if base == nil && r.State == adapter.Pending {
		r.State = adapter.Running
	}
}

// complete says how a job stands, now that its companions are known.
func (r *record) complete() {
	switch r.State {
	case adapter.Pending:
		r.wait()
	case adapter.Running:
		r.Nodes, r.Base = slices.Clone(r.holds), len(r.holds)
		for _, c := range r.joined {
			if c.mark == atStart && c.State == adapter.Pending {
				r.State, r.Nodes, r.Why = adapter.Pending, nil, "its nodes above the base begin"
				return
			}
			held := c.holds
			if c.State == adapter.Pending {
				held = c.places // the successor of one that was divided
			}
			for _, host := range held {
				if !slices.Contains(r.Nodes, host) {
					r.Nodes = append(r.Nodes, host)
				}
			}
		}
	case adapter.Ending:
		r.Nodes = r.holds
		fallthrough
	default:
		if r.Why == "" && r.state != "Finishing" && r.state != "Terminated" { // as every job ends
			r.Why = r.state
		}
	}
}

// wait says why a job waits. One that evolves waits for us; a hold of its user's is his, and ours stays with it.
func (r *record) wait() {
	userHolds := r.state == database.StateHold
	if userHolds && r.Why == "" {
		r.Why = "its user holds it (oarhold)"
	}
	if !r.evolving() {
		r.Held, r.HeldByUser = userHolds, userHolds
		if strings.Contains(r.message, pass.Said) {
			r.Blocked, r.Why = true, r.message
		}
		return
	}
	r.Held = !r.released
	if r.Mark == "" {
		r.HeldByUser = userHolds
	} else if userHolds {
		r.Blocked = true
	}
}

// Inspect reads one job as it is now, whatever has become of it.
func (s *System) Inspect(ctx context.Context, job adapter.Key) (*adapter.Job, error) {
	r, err := s.lookup(ctx, s.db.Sql, job)
	if err != nil {
		return nil, err
	}
	s.hasten(r)
	s.users.Name(ctx, &r.Job)
	return &r.Job, nil
}

// hasten has OAR plan where a job runs and its first companions wait still: OAR 2.5 does not begin them before their job runs, and does not
// look again when it does.
func (s *System) hasten(shown ...*record) {
	for _, r := range shown {
		if r.state == "Running" && slices.ContainsFunc(r.joined, func(c *record) bool { return c.mark == atStart && c.state == database.StateWaiting }) {
			s.server.Poke(server.Starts)
		}
	}
}

// lookup reads one job with its companions. ErrGone when OAR knows no such job.
func (s *System) lookup(ctx context.Context, from database.Querier, job adapter.Key) (*record, error) {
	ids, err := companionsOf(ctx, from, int64(job.ID))
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job.ID, err)
	}
	records, err := s.records(ctx, from, "j.job_id IN ("+database.List(append(ids, int64(job.ID)))+")")
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job.ID, err)
	}
	records = slices.DeleteFunc(records, func(r *record) bool { return r.ID != job.ID && r.over() })
	i := slices.IndexFunc(records, func(r *record) bool { return r.ID == job.ID })
	if i < 0 {
		return nil, fmt.Errorf("job %d: OAR does not know it: %w", job.ID, adapter.ErrGone)
	}
	r := records[i]
	if r.Submitted != job.Submitted {
		return nil, fmt.Errorf("job %d: submitted at %d, not at %d: another job has its number: %w", job.ID, r.Submitted, job.Submitted, adapter.ErrGone)
	}
	nodes, err := s.nodes(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job.ID, err)
	}
	if r.base != 0 {
		r.Expands, r.Nodes = core.JobID(r.base), r.holds
		return r, nil
	}
	assemble(records, nodes)
	return r, nil
}

// closures reads what keeps us off nodes for a time: advance reservations, and what queues of a higher priority have planned.
func (s *System) closures(ctx context.Context, from database.Querier) ([]adapter.Reservation, error) {
	query := `SELECT j.job_id, j.job_user, p.start_time, m.moldable_walltime, r.network_address
		FROM jobs j JOIN moldable_job_descriptions m ON m.moldable_job_id = j.job_id
		JOIN gantt_jobs_predictions_visu p ON p.moldable_job_id = m.moldable_id
		JOIN gantt_jobs_resources_visu g ON g.moldable_job_id = m.moldable_id JOIN resources r ON r.resource_id = g.resource_id
		WHERE j.state IN ('Waiting', 'toAckReservation') AND ` + database.OnHost + ` AND (j.reservation = 'Scheduled' OR j.queue_name IN (SELECT q.queue_name FROM queues q
		WHERE q.priority > (SELECT o.priority FROM queues o WHERE o.queue_name = ` + s.db.Arg(1) + `)))
		GROUP BY j.job_id, j.job_user, p.start_time, m.moldable_walltime, r.network_address ORDER BY j.job_id, r.network_address`
	var all []adapter.Reservation
	last := int64(0)
	err := database.Rows(ctx, from, "the plans of others", query, []any{s.queue}, func(row *sql.Rows) error {
		var id int64
		var who, host string
		var start, lasts core.Time
		err := row.Scan(&id, &who, &start, &lasts, &host)
		if id != last {
			last = id
			all = append(all, adapter.Reservation{Name: fmt.Sprintf("oar-%d", id), User: who, Start: start, End: start + lasts})
		}
		r := &all[len(all)-1]
		r.Nodes = append(r.Nodes, host)
		return err
	})
	return all, err
}
