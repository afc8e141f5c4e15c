package oar

import (
	"database/sql"
	"fmt"
	"sync"
	"time"

	"accordion/adapter"
)

// The sidecar keeps a reservation ready and begins a step in it from two goroutines.
func oneReservationMadeTwiceAtOnce(in *inside) {
	now := time.Now().Unix()
	r := adapter.Reservation{Name: "accordion-9-1", User: "alice", Nodes: []string{"n3", "n4"}, Start: now + 400, End: now + 900}
	for range 20 {
		errs := make([]error, 3)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = in.Reserve(in.ctx, r) })
		}
		all.Wait()
		for _, err := range errs {
			in.must(err)
		}
		if holders := in.answer("select count(*) from jobs where job_name = 'accordion-9-1'"); holders != "1" {
			in.Fatalf("the reservation has %s holders, want 1", holders)
		}
		in.must(in.Unreserve(in.ctx, r.Name))
	}
}

// OAR's programs lock several of MariaDB's tables at once. One that has the first of them, and waits for another that we have read
// already, would wait for ever: the database ends our reading.
func aReadingThatTheDatabaseEnds(in *inside) {
	if in.db.conf.Type != "mysql" {
		in.Log("PostgreSQL lets a reader and a locker alone")
		return
	}
	tries := 0
	var locking sync.WaitGroup
	in.must(in.db.atOneInstant(in.ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(in.ctx, "SELECT count(*) FROM jobs").Scan(&n); err != nil {
			return err
		}
		if tries++; tries == 1 {
			locking.Go(in.lockTables)
			in.wait("1", func() string {
				return in.answer("SELECT least(count(*), 1) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata lock%'")
			})
		}
		return tx.QueryRowContext(in.ctx, "SELECT count(*) FROM gantt_jobs_predictions_visu").Scan(&n)
	}))
	locking.Wait()
	if tries < 2 { // OAR itself may lock them again
		in.Errorf("the reading was done %d times; want twice at least, for the database should have ended the first", tries)
	}
}

// lockTables locks as OAR does, and lets go.
func (in *inside) lockTables() {
	conn, err := in.db.sql.Conn(in.ctx)
	if err != nil {
		in.Error(err)
		return
	}
	defer conn.Close()
	for _, text := range []string{"LOCK TABLES gantt_jobs_predictions_visu WRITE, jobs WRITE", "UNLOCK TABLES"} {
		if _, err := conn.ExecContext(in.ctx, text); err != nil {
			in.Error(err)
		}
	}
}

// A sidecar that is stopped in the middle of a transaction does not stop OAR.
func aTransactionThatIsLeftAlone(in *inside) {
	defer func(was time.Duration) { in.db.abandoned = was }(in.db.abandoned)
	in.db.abandoned = time.Second
	job := in.submit("bob", "", "sleep 1000", "--hold", "-l", "nodes=1,walltime=0:10:0")
	err := in.db.transaction(in.ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(in.ctx, fmt.Sprintf("UPDATE jobs SET message = 'ours' WHERE job_id = %d", job.ID)); err != nil {
			return err
		}
		in.wait("written", func() string { // it waits for the row, for no longer than a transaction of ours
			if _, err := in.db.sql.ExecContext(in.ctx, fmt.Sprintf("UPDATE jobs SET message = 'OAR''s' WHERE job_id = %d", job.ID)); err != nil {
				return err.Error()
			}
			return "written"
		})
		return nil
	})
	if err == nil {
		in.Error("it was committed")
	}
	if got := in.answer(fmt.Sprintf("SELECT message FROM jobs WHERE job_id = %d", job.ID)); got != "OAR's" {
		in.Errorf("the row has %q", got)
	}
}
