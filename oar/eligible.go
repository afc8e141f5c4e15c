package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// eligibility finds the resources that a user's SQL means. Each text is asked once a pass, with the account that may only
// read, and ended when it takes long; who wrote such a text is not asked again in this pass.
type eligibility struct {
	db       *database
	patience time.Duration // of one text
	found    map[string]eligible
	slow     map[string]bool // users
}

type eligible struct {
	resources []int64
	why       error
}

var errSlow = errors.New("it takes too long")

func newEligibility(db *database, patience time.Duration) *eligibility {
	return &eligibility{db: db, patience: patience, found: map[string]eligible{}, slow: map[string]bool{}}
}

// of gives the numbers of the resources that have a job's properties and those of a part of its request.
func (e *eligibility) of(ctx context.Context, user, job, part string) ([]int64, error) {
	text := condition(job) + " AND " + condition(part)
	if known, asked := e.found[text]; asked {
		return known.resources, known.why
	}
	if e.slow[user] {
		return nil, errSlow
	}
	ids, err := e.db.eligible(ctx, text, e.patience)
	if errors.Is(err, errSlow) {
		e.slow[user] = true
	}
	e.found[text] = eligible{ids, err}
	return ids, err
}

// condition is a user's text as a part of a condition.
func condition(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(1 = 1)"
	}
	return "(" + text + ")"
}

// eligible asks the database, in a transaction that can change nothing and ends in time.
func (d *database) eligible(ctx context.Context, text string, patience time.Duration) ([]int64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSlow)
	defer cancel()
	tx, err := d.users.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("asking as the account that may only read: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	limit := fmt.Sprintf("SET LOCAL statement_timeout = %d", patience.Milliseconds())
	if d.conf.Type == "mysql" {
		limit = fmt.Sprintf("SET SESSION max_statement_time = %.3f", patience.Seconds())
	}
	if _, err = tx.ExecContext(ctx, limit); err != nil {
		return nil, fmt.Errorf("limiting the time of a request's properties: %w", err)
	}
	var ids []int64
	query := "SELECT resource_id FROM resources WHERE " + text
	err = rows(ctx, tx, "properties", query, nil, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	switch {
	case err == nil:
		return ids, nil
	case errors.Is(context.Cause(ctx), errSlow), strings.Contains(err.Error(), "statement timeout"), strings.Contains(err.Error(), "max_statement_time"):
		return nil, errSlow
	}
	return nil, errors.Unwrap(err)
}
