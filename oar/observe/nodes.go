package observe

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
)

// Nodes reads the hosts. A host is usable if all of its resources are usable. Dead hosts are left out.
func (o *Reader) Nodes(ctx context.Context, from database.Querier) (map[string]*adapter.Node, error) {
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
			n.Usable, n.Lost, n.Why = false, true, state
		} else if drain == "YES" {
			n.Usable, n.Away, n.Why = false, true, "drained"
		}
		return err
	})
	return nodes, err
}

// Others reads the plans of others that exclude managed jobs from nodes for a time. These are advance reservations,
// and the plans of queues with a higher priority.
func (o *Reader) Others(ctx context.Context, from database.Querier) ([]adapter.Reservation, error) {
	query := `SELECT j.job_id, j.job_user, p.start_time, m.moldable_walltime, r.network_address
		FROM jobs j JOIN moldable_job_descriptions m ON m.moldable_job_id = j.job_id
		JOIN gantt_jobs_predictions_visu p ON p.moldable_job_id = m.moldable_id
		JOIN gantt_jobs_resources_visu g ON g.moldable_job_id = m.moldable_id JOIN resources r ON r.resource_id = g.resource_id
		WHERE j.state IN ('Waiting', 'toAckReservation') AND ` + database.OnHost + ` AND (j.reservation = 'Scheduled' OR j.queue_name IN (SELECT q.queue_name FROM queues q
		WHERE q.priority > (SELECT o.priority FROM queues o WHERE o.queue_name = ` + o.db.Arg(1) + `)))
		GROUP BY j.job_id, j.job_user, p.start_time, m.moldable_walltime, r.network_address ORDER BY j.job_id, r.network_address`
	var all []adapter.Reservation
	last := int64(0)
	err := database.Rows(ctx, from, "the plans of others", query, []any{o.queue}, func(row *sql.Rows) error {
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

// QueuesBefore returns a warning that names the queues that OAR plans before our queue. Their jobs may take nodes that are promised to a
// running job for its growth. It returns "" if there is no such queue.
func (o *Reader) QueuesBefore(ctx context.Context) (string, error) {
	ours, there, err := o.db.Queue(ctx, o.queue)
	if err != nil || !there {
		return "", err
	}
	above, err := o.db.Above(ctx, o.queue, ours.Priority)
	if err != nil || len(above) == 0 {
		return "", err
	}
	return fmt.Sprintf("OAR plans the jobs of %s not after those of %s (priority %d), and may give them nodes that were promised",
		strings.Join(above, ", "), o.queue, ours.Priority), nil
}
