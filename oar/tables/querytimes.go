package tables

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"accordion/core"
	"accordion/oar/database"
)

// asked is the table with the time for which each user's SQL was evaluated recently (scheduler.Budget). Passes write it.
var asked = table{"accordion_asked", `
	job_user VARCHAR(255) NOT NULL PRIMARY KEY,
	milliseconds BIGINT NOT NULL,
	second BIGINT NOT NULL
`}

// QueryTime is a row of the table: how long a user's SQL took, as of a second.
type QueryTime struct {
	User string
	Took time.Duration
	At   core.Time
}

// ReadQueryTimes reads all rows. It returns no rows if the table does not exist yet.
func (d Tables) ReadQueryTimes(ctx context.Context) ([]QueryTime, error) {
	rows, err := database.All(ctx, d.Sql, "for how long users' texts were asked", "SELECT job_user, milliseconds, second FROM accordion_asked", nil,
		func(a *QueryTime) []any { return []any{&a.User, (*int64)(&a.Took), &a.At} })
	if err != nil && d.NoTable(err) {
		return nil, nil
	}
	for i := range rows {
		rows[i].Took *= time.Duration(time.Millisecond)
	}
	return rows, err
}

// WriteQueryTimes replaces all rows.
func (d Tables) WriteQueryTimes(ctx context.Context, rows []QueryTime) error {
	write := func() error {
		return d.Change(ctx, func(tx *sql.Tx) error {
			if err := database.Run(ctx, tx, "forgetting for how long users' texts were asked", "DELETE FROM accordion_asked"); err != nil {
				return err
			}
			for _, one := range rows {
				query := fmt.Sprintf("INSERT INTO accordion_asked (job_user, milliseconds, second) VALUES (%s, %d, %d)", d.Arg(1), one.Took.Milliseconds(), one.At)
				if _, err := tx.ExecContext(ctx, query, one.User); err != nil {
					return fmt.Errorf("writing the query times of users' requests: %w", err)
				}
			}
			return nil
		})
	}
	err := write()
	if err != nil && d.NoTable(err) {
		if err = d.create(ctx, asked); err == nil {
			err = write()
		}
	}
	return err
}
