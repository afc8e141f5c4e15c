package database

import (
	"context"
	"database/sql"
	"fmt"
)

// Queue is a queue of OAR.
type Queue struct {
	Policy, State string
	Priority      int
}

// Queue reads a queue. `there` is false if OAR has no queue of this name.
func (d *DB) Queue(ctx context.Context, name string) (q Queue, there bool, err error) {
	query := "SELECT scheduler_policy, state, priority FROM queues WHERE queue_name = " + d.Arg(1)
	err = Rows(ctx, d.Sql, "the queues", query, []any{name}, func(r *sql.Rows) error {
		there = true
		return r.Scan(&q.Policy, &q.State, &q.Priority)
	})
	return q, there, err
}

// Above returns the other active queues that OAR plans before, or together with, a queue of the given priority. Each is returned with its
// priority.
func (d *DB) Above(ctx context.Context, name string, priority int) (names []string, err error) {
	query := fmt.Sprintf("SELECT queue_name, priority FROM queues WHERE state = 'Active' AND priority >= %d AND queue_name <> %s ORDER BY priority DESC, queue_name", priority, d.Arg(1))
	err = Rows(ctx, d.Sql, "the queues", query, []any{name}, func(r *sql.Rows) error {
		var other string
		var its int
		err := r.Scan(&other, &its)
		names = append(names, fmt.Sprintf("%s (%d)", other, its))
		return err
	})
	return names, err
}
