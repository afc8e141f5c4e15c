package oar

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"strconv"
	"time"
)

// EpiloguePatience is how long the server's epilogue may take: OAR's server waits for it.
const EpiloguePatience = 5 * time.Second

// Epilogue asks OAR to end the companions of a job that is over, and says how many there were. The sidecar does that too, and
// sooner; this is the second net, for when it does not run.
func Epilogue(ctx context.Context, conf Conf, job int64) (ended int, err error) {
	ctx, cancel := context.WithTimeout(ctx, EpiloguePatience)
	defer cancel()
	d, err := open(conf)
	if err != nil {
		return 0, err
	}
	defer d.close()
	companions, err := d.companionsLeft(ctx, job)
	if err != nil || len(companions) == 0 {
		return 0, err
	}
	err = d.change(ctx, func(tx *sql.Tx) error { return d.frag(ctx, tx, time.Now().Unix(), companions...) })
	if err != nil {
		return 0, fmt.Errorf("ending the companions: %w", err)
	}
	if err := tell(ctx, net.JoinHostPort(conf.Server, strconv.Itoa(conf.ServerPort)), ends); err != nil {
		return len(companions), fmt.Errorf("telling OAR's server to end the companions: %w", err)
	}
	return len(companions), nil
}

// companionsLeft are the companions of a job that nobody has asked to end yet. A job that never had any costs one query of our
// own small table: OAR holds its tables (MariaDB's are locked) while it waits for the epilogue of a companion.
func (d *database) companionsLeft(ctx context.Context, job int64) (left []int64, err error) {
	scan := func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		left = append(left, id)
		return err
	}
	const what = "the companions"
	if err := rows(ctx, d.sql, what, fmt.Sprintf("SELECT job_id FROM accordion_jobs WHERE base = %d", job), nil, scan); err != nil || len(left) == 0 {
		return nil, err
	}
	left = nil
	err = rows(ctx, d.sql, what, fmt.Sprintf(`SELECT j.job_id FROM accordion_jobs c JOIN jobs j ON j.job_id = c.job_id
		WHERE c.base = %d AND j.state NOT IN ('Terminated', 'Error', 'Finishing')
		AND EXISTS (SELECT 1 FROM job_types t WHERE t.job_id = j.job_id AND t.type = 'noop')
		AND NOT EXISTS (SELECT 1 FROM frag_jobs f WHERE f.frag_id_job = j.job_id) ORDER BY j.job_id`, job), nil, scan)
	return left, err
}
