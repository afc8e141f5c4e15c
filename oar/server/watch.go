package server

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"accordion/oar/conf"
	"accordion/oar/database"
)

// Channel is the one on which PostgreSQL's triggers tell that a job or a node has another state (LISTEN accordion). What they
// say is not looked at.
const Channel = "accordion"

// How the database is watched.
const (
	looks       = time.Second      // MariaDB tells nothing: it is asked so often…
	looksWithin = 10 * time.Second // …and must answer within this
	relisten    = 2 * time.Second  // after a connection that broke
)

// watch calls, until ctx ends, soon after a job or a node of OAR's has another state: PostgreSQL tells it, MariaDB is asked each
// second for the number of its newest entry in either log of states. A call that nobody has taken stands for those that follow.
// It calls too when it could not look for a while.
func watch(ctx context.Context, conf conf.Conf, log hclog.Logger, call func()) {
	look := listen
	if conf.Type == "mysql" {
		look = poll
	}
	for told := ""; ctx.Err() == nil; {
		err := look(ctx, conf, call)
		if ctx.Err() != nil {
			return
		}
		if said := err.Error(); said != told {
			log.Warn("changes in OAR's database are noticed later than they could be", "why", err)
			told = said
		}
		select {
		case <-time.After(relisten):
		case <-ctx.Done():
		}
	}
}

// listen calls for each notification, until the connection breaks.
func listen(ctx context.Context, conf conf.Conf, call func()) error {
	config, err := database.Postgres(conf, conf.Login)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting to listen: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+Channel); err != nil {
		return fmt.Errorf("listening on channel %s: %w", Channel, err)
	}
	call() // what happened before
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return fmt.Errorf("listening on channel %s: %w", Channel, err)
		}
		call()
	}
}

// poll asks for the newest entries, and calls where they are others than the last time.
func poll(ctx context.Context, conf conf.Conf, call func()) error {
	db, err := database.Connector(conf, conf.Login)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	tick := time.NewTicker(looks)
	defer tick.Stop()
	seen := [2]int64{-1, -1}
	for late := false; ; {
		now, err := newest(ctx, db)
		if err != nil {
			return err
		}
		changed := now != seen
		if changed || late { // oarsub writes its entry a little before the job waits: so once more
			call()
		}
		seen, late = now, changed
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// newest gives the numbers of the newest entries in both logs of states. It looks at the ends of two indices.
func newest(ctx context.Context, db *sql.DB) (numbers [2]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, looksWithin)
	defer cancel()
	err = db.QueryRowContext(ctx, `SELECT (SELECT COALESCE(MAX(job_state_log_id), 0) FROM job_state_logs),
		(SELECT COALESCE(MAX(resource_log_id), 0) FROM resource_logs)`).Scan(&numbers[0], &numbers[1])
	if err != nil {
		return numbers, fmt.Errorf("asking for the newest changes: %w", err)
	}
	return numbers, nil
}
