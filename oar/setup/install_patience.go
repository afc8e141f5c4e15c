package setup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"accordion/oar/database"
)

const (
	// lockPatience limits one attempt to lock one of OAR's tables. During an attempt, all later sessions that use the table have to wait.
	lockPatience = "SET LOCAL lock_timeout = '2s'"

	lockPause = 3 * time.Second // pause until the next attempt, in which OAR can work
	lockFor   = 2 * time.Minute // time limit for all attempts together
)

// waitForTable runs `do`, which needs exclusive access to a table. While other sessions use the table, it repeats `do`. The error names the
// users of the table, and says what to do.
func (s Setup) waitForTable(ctx context.Context, d setupStore, table string, do func() error) error {
	return retry(ctx, s.Tell, do, d.IsConflict, func() string { return d.users(ctx, table) })
}

// retry runs `do` until it does not conflict with other sessions, or lockFor has passed. `users` returns the names of these sessions'
// users.
func retry(ctx context.Context, tell func(string), do func() error, isConflict func(error) bool, users func() string) error {
	begin := time.Now()
	who := ""
	_, err := backoff.Retry(ctx, func() (none struct{}, err error) {
		if err = do(); err != nil && !isConflict(err) {
			return none, backoff.Permanent(err)
		}
		if err != nil {
			first := who == ""
			if who = users(); first {
				tell("waiting: " + who)
			}
		}
		return none, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(lockPause)), backoff.WithMaxElapsedTime(lockFor))
	if err != nil && isConflict(err) {
		err = fmt.Errorf("%w: it was tried for %v, and %s: wait for its end, or end it, and repeat the command: it skips what is done",
			err, time.Since(begin).Round(time.Second), who)
	}
	return err
}

// users describes who uses a table.
func (d setupStore) users(ctx context.Context, table string) string {
	unknown := "others use the table " + table
	if !d.NotifiesChanges() { // MariaDB does not show locks to OAR's account
		return unknown
	}
	query := `SELECT CONCAT('process ', a.pid, ' of ', a.usename, COALESCE(', since ' || TO_CHAR(a.xact_start, 'HH24:MI:SS'), ''))
		FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid JOIN pg_class c ON c.oid = l.relation
		WHERE l.locktype = 'relation' AND l.granted AND a.pid <> pg_backend_pid() AND c.relname = ` + d.Arg(1) + `
		GROUP BY a.pid, a.usename, a.xact_start ORDER BY a.xact_start LIMIT 3`
	all, err := database.Column[string](ctx, d.Sql, "who uses the table", query, table)
	if err != nil || len(all) == 0 {
		return unknown
	}
	return fmt.Sprintf("%s of the database (%s)", unknown, strings.Join(all, "; "))
}
