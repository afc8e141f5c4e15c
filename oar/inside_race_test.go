package oar

import (
	"database/sql"
	"fmt"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/oar/history"
)

// Two goroutines of the sidecar act on the same reservation: one keeps the reservation up to date, and the other starts a step in it.
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

// OAR's programs lock several of MariaDB's tables in one statement. Such a program may have locked one table, and wait
// for a second table that our transaction has read already. If our transaction then waits for the first table, there
// is a deadlock. So the database ends our transaction.
func aReadingThatTheDatabaseEnds(in *inside) {
	if in.db.Conf.Type != "mysql" {
		in.Log("PostgreSQL lets a reader and a locker alone")
		return
	}
	tries := 0
	var locking sync.WaitGroup
	in.must(in.db.AtOneInstant(in.ctx, in.db.Sql, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(in.ctx, "SELECT count(*) FROM jobs").Scan(&n); err != nil {
			return err
		}
		if tries++; tries == 1 {
			locking.Go(func() { in.whileLocked("gantt_jobs_predictions_visu WRITE, jobs WRITE", func() {}) })
			in.awaitsTable("LOCK TABLES gantt")
		}
		return tx.QueryRowContext(in.ctx, "SELECT count(*) FROM gantt_jobs_predictions_visu").Scan(&n)
	}))
	locking.Wait()
	if tries < 2 { // OAR itself may lock the tables again
		in.Errorf("the reading was done %d times; want twice at least, for the database should have ended the first", tries)
	}
}

// The database also ends a reading of the history. The first query of that reading is about jobs and their configurations, the second about
// their resources.
func aHistoryThatTheDatabaseEnds(in *inside) {
	if in.db.Conf.Type != "mysql" {
		in.Log("PostgreSQL lets a reader and a locker alone")
		return
	}
	over := in.Submit("bob", "", "true", "-l", "nodes=1,walltime=0:1:0")
	in.quiet()
	reader := *in.db.DB
	reader.Users = in.db.Sql // MariaDB shows an account only its own statements
	var all sync.WaitGroup
	in.whileLocked("moldable_job_descriptions WRITE", func() { // only this table is locked, so the locking session does not wait for our transaction
		all.Go(func() {
			runs, left, err := history.Read(in.ctx, &reader, history.Span{From: over.Submitted, Until: time.Now().Unix() + 60}) // OAR begins jobs a little ahead of time
			if err != nil || len(runs) == 0 {
				in.Errorf("%d runs, left out: %s; error %v", len(runs), left, err)
			}
		})
		in.awaitsTable("SELECT j.job_id, COALESCE(j.job_name")
		all.Go(func() { in.whileLocked("assigned_resources WRITE, jobs WRITE", func() {}) })
		in.awaitsTable("LOCK TABLES assigned_resources")
	})
	all.Wait()
}

// awaitsTable waits until a statement with this beginning waits for a table of MariaDB's.
func (in *inside) awaitsTable(begins string) {
	in.Helper()
	in.wait("1", func() string {
		return in.answer("SELECT least(count(*), 1) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata lock%' AND info LIKE '" + begins + "%'")
	})
}

// whileLocked locks tables as OAR does, calls a function, and unlocks them.
func (in *inside) whileLocked(tables string, do func()) {
	conn, err := in.db.Sql.Conn(in.ctx)
	if err != nil {
		in.Error(err)
		return
	}
	defer conn.Close()
	if _, err := conn.ExecContext(in.ctx, "LOCK TABLES "+tables); err != nil {
		in.Error(err)
		return
	}
	do()
	if _, err := conn.ExecContext(in.ctx, "UNLOCK TABLES"); err != nil {
		in.Error(err)
	}
}

// A sidecar that hangs in the middle of a transaction does not block OAR.
func aTransactionThatIsLeftAlone(in *inside) {
	defer func(was time.Duration) { in.db.Abandoned = was }(in.db.Abandoned)
	in.db.Abandoned = time.Second
	job := in.Submit("bob", "", "sleep 1000", "--hold", "-l", "nodes=1,walltime=0:10:0")
	err := in.db.Transaction(in.ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(in.ctx, fmt.Sprintf("UPDATE jobs SET message = 'ours' WHERE job_id = %d", job.ID)); err != nil {
			return err
		}
		in.wait("written", func() string { // OAR waits for the row until the database ends our idle transaction
			if _, err := in.db.Sql.ExecContext(in.ctx, fmt.Sprintf("UPDATE jobs SET message = 'OAR''s' WHERE job_id = %d", job.ID)); err != nil {
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

// The holder of a reservation never starts, whatever OAR's plan contains. In this trial the plan says that all holders start now.
func aHolderNeverBegins(in *inside) {
	in.exec(`CREATE FUNCTION soon() RETURNS trigger AS $$ BEGIN
		IF NEW.moldable_job_id IN (SELECT m.moldable_id FROM moldable_job_descriptions m JOIN accordion_reservations v ON v.holder = m.moldable_job_id) THEN
			NEW.start_time := NEW.start_time - 100;
		END IF;
		RETURN NEW; END $$ LANGUAGE plpgsql`)
	in.exec("CREATE TRIGGER soon BEFORE INSERT ON gantt_jobs_predictions FOR EACH ROW EXECUTE FUNCTION soon()")
	defer in.exec("DROP FUNCTION soon() CASCADE")
	in.reserve("accordion-9-0", 0, 500, "n1", "n2", "n3")
	for range 3 { // each round is another pass
		job := in.Submit("bob", "", "true", "-l", "nodes=1,walltime=0:1:0")
		in.wait("Terminated", func() string { return in.answer(fmt.Sprintf("SELECT state FROM jobs WHERE job_id = %d", job.ID)) })
	}
	in.wait("true", func() string { // a pass begins by deleting OAR's plan
		return in.answer("SELECT p.start_time < v.start_time FROM accordion_reservations v JOIN moldable_job_descriptions m ON m.moldable_job_id = v.holder JOIN gantt_jobs_predictions p ON p.moldable_job_id = m.moldable_id")
	})
	if got := in.answer("SELECT j.state FROM accordion_reservations v JOIN jobs j ON j.job_id = v.holder"); got != "Waiting" {
		in.Errorf("OAR's plan has the reservation in the past, and its holder is %s, want Waiting", got)
	}
	in.must(in.Unreserve(in.ctx, "accordion-9-0"))
}
