package database

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Querier is a database or a transaction that executes queries.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Rows runs a query and calls `scan` for each row. `what` names the rows in errors.
func Rows(ctx context.Context, from Querier, what, query string, args []any, scan func(*sql.Rows) error) error {
	found, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	defer found.Close()
	for found.Next() {
		if err := scan(found); err != nil {
			return fmt.Errorf("reading %s: %w", what, err)
		}
	}
	if err := found.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	return nil
}

// All returns the rows of a query. `fields` returns the pointers to which the columns of a row are copied.
func All[T any](ctx context.Context, from Querier, what, query string, args []any, fields func(*T) []any) (all []T, err error) {
	err = Rows(ctx, from, what, query, args, func(r *sql.Rows) error {
		var one T
		err := r.Scan(fields(&one)...)
		all = append(all, one)
		return err
	})
	return all, err
}

// Column returns the values of a query with one column.
func Column[T any](ctx context.Context, from Querier, what, query string, args ...any) ([]T, error) {
	return All(ctx, from, what, query, args, func(v *T) []any { return []any{v} })
}

// Value returns the value of a query with one row and one column, or the zero value if the query finds no row.
func Value[T any](ctx context.Context, from Querier, what, query string, args ...any) (found T, err error) {
	err = Rows(ctx, from, what, query, args, func(r *sql.Rows) error { return r.Scan(&found) })
	return found, err
}

// Grouped returns, for each value of a query's first column, the values of its second column.
func Grouped[K comparable, V any](ctx context.Context, from Querier, what, query string, args ...any) (map[K][]V, error) {
	groups := map[K][]V{}
	err := Rows(ctx, from, what, query, args, func(r *sql.Rows) error {
		var key K
		var value V
		err := r.Scan(&key, &value)
		groups[key] = append(groups[key], value)
		return err
	})
	return groups, err
}

// In returns the condition that a column is one of the texts. The texts must be the first arguments of the query.
func (d *DB) In(column string, texts []string) (condition string, args []any) {
	if len(texts) == 0 {
		return "1 = 0", nil
	}
	places := make([]string, len(texts))
	for i, text := range texts {
		places[i], args = d.Arg(i+1), append(args, text)
	}
	return column + " IN (" + strings.Join(places, ", ") + ")", args
}

// List formats numbers for an IN condition: 1, 2, 3.
func List(ids []int64) string {
	if len(ids) == 0 {
		return "-1" // no row has this number
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ids)), ", "), "[]")
}

// Numbers runs a query for each ID, with "= ID" appended, and returns the numbers that all these queries find.
func Numbers(ctx context.Context, from Querier, query string, ids []int64) ([]int64, error) {
	var found []int64
	for _, id := range ids {
		its, err := Column[int64](ctx, from, "its rows", fmt.Sprintf("%s = %d", query, id))
		if err != nil {
			return nil, err
		}
		found = append(found, its...)
	}
	return found, nil
}
