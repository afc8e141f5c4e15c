package oar

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"strconv"
	"time"
)

// EpiloguePatience is how long the server's epilogue may take: OAR's server waits for it, holding MariaDB's tables at times.
const EpiloguePatience = 5 * time.Second

// Epilogue asks OAR to end the companions of a job that is over, and says how many there were. The sidecar does that too, and
// sooner; this is the second net, for when it does not run. Jobs that have none cost one query of a small table of ours: OAR may
// hold its own tables while it waits.
func Epilogue(ctx context.Context, conf Conf, job int64) (ended int, err error) {
	ctx, cancel := context.WithTimeout(ctx, EpiloguePatience)
	defer cancel()
	d, err := open(conf)
	if err != nil {
		return 0, err
	}
	defer d.close()
	var companions []int64
	query := fmt.Sprintf("SELECT job_id FROM accordion_jobs WHERE base = %d ORDER BY job_id", job)
	err = rows(ctx, d.sql, "the companions", query, nil, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		companions = append(companions, id)
		return err
	})
	if err != nil || len(companions) == 0 {
		return 0, err
	}
	for _, id := range companions {
		asked, err := d.askToEnd(ctx, id)
		if err != nil {
			return ended, err
		}
		if asked {
			ended++
		}
	}
	if ended == 0 {
		return 0, nil
	}
	return ended, tellServer(ctx, conf, "Qdel")
}

// askToEnd asks OAR to end a noop job, unless it is over or somebody has asked before.
func (d *database) askToEnd(ctx context.Context, job int64) (asked bool, err error) {
	ignore, conflict := "", " ON CONFLICT DO NOTHING"
	if d.conf.Type == "mysql" {
		ignore, conflict = " IGNORE", ""
	}
	query := fmt.Sprintf(`INSERT%s INTO frag_jobs (frag_id_job, frag_date) SELECT j.job_id, %d FROM jobs j WHERE j.job_id = %d
		AND j.state NOT IN ('Terminated', 'Error', 'Finishing')
		AND EXISTS (SELECT 1 FROM job_types t WHERE t.job_id = j.job_id AND t.type = 'noop')%s`, ignore, time.Now().Unix(), job, conflict)
	done, err := d.sql.ExecContext(ctx, query)
	if err != nil {
		return false, fmt.Errorf("asking OAR to end companion %d: %w", job, err)
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// tellServer says a word to OAR's server, which does not answer.
func tellServer(ctx context.Context, conf Conf, word string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(conf.Server, strconv.Itoa(conf.ServerPort)))
	if err != nil {
		return fmt.Errorf("telling OAR's server: %w", err)
	}
	defer conn.Close()
	if by, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(by); err != nil {
			return fmt.Errorf("telling OAR's server: %w", err)
		}
	}
	if _, err := conn.Write([]byte(word + "\n")); err != nil {
		return fmt.Errorf("telling OAR's server: %w", err)
	}
	return nil
}
