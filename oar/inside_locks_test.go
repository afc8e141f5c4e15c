package oar

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/oar/database"
)

// SQL that users write (-p) may call every function that is open to all accounts. In this trial it takes advisory
// locks with the numbers of all jobs, in a session of the sidecar and in a session that stays open. The locks of
// neither session block a job that grows and shrinks. In the sidecar's session, no lock outlives the query that took
// it.
func textsOfUsersTakeLocks(in *inside) {
	mariaDB := in.db.OARLocksTables()
	job := in.Submit("alice", "2x20s,4x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	in.start(job, 500, "n1", "n2")
	take := fmt.Sprintf("(SELECT COUNT(pg_try_advisory_lock(%d # n)) FROM generate_series(0, 3000) n) > 0", 0x6370757365740000^int64(job.ID))
	left, query := "0", "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'"
	if mariaDB {
		name := fmt.Sprintf("'accordion %d'", 0x6370757365740000^int64(job.ID))
		take, left, query = "GET_LOCK("+name+", 0) = 1", "1", "SELECT IS_FREE_LOCK("+name+")"
	}
	for range 2 { // a pass evaluates the SQL of two jobs
		found, err := database.Eligible[int64](in.ctx, in.db.DB, "resource_id", take, 5*time.Second)
		in.must(err)
		if len(found) != 9 {
			in.Errorf("%s: %d resources, want all 9", take, len(found))
		}
	}
	in.wait(left, func() string { return in.answer(query) }) // its session ends a moment after the answer
	conn, err := in.db.Users.Conn(in.ctx)                    // OAR's own programs also evaluate users' SQL, in sessions that stay open
	in.must(err)
	defer conn.Close()
	_, err = conn.ExecContext(in.ctx, "SELECT "+take)
	in.must(err)
	begin := time.Now()
	in.grow(job, "n3", "n4")
	in.must(in.Shrink(in.ctx, job, []string{"n1", "n2"}))
	in.until(job, "running n1,n2")
	in.Logf("grown and shrunk despite the locks within %v", time.Since(begin))
	if mariaDB {
		return
	}
	for _, text := range []string{"SELECT number FROM accordion_locks FOR UPDATE", "INSERT INTO accordion_locks (number) VALUES (1)"} {
		if _, err := conn.ExecContext(in.ctx, text); err == nil || !strings.Contains(err.Error(), "permission denied") {
			in.Errorf("the account that may only read: %s: %v, want permission denied", text, err)
		}
	}
}

// Only one process at a time acts under a lock. A process that waits for the lock continues when the other process has ended, or when that
// process's connection is cut.
func aLockOfOurs(in *inside) {
	in.must(in.db.DropLocks(in.ctx)) // an older Accordion had no table of locks
	var order []string
	held, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- in.db.WithLock(in.ctx, 7, func() error {
			close(held)
			time.Sleep(2 * time.Second) // longer than any transaction waits for another
			order = append(order, "first")
			return nil
		})
	}()
	<-held
	in.must(in.db.WithLock(in.ctx, 8, func() error { return nil }))
	in.must(in.db.WithLock(in.ctx, 7, func() error { order = append(order, "second"); return nil }))
	in.must(<-done)
	if got := strings.Join(order, ", "); got != "first, second" {
		in.Errorf("the order is %s, want first, second", got)
	}
	if err := in.db.WithLock(in.ctx, 7, func() error { return adapter.ErrBusy }); !errors.Is(err, adapter.ErrBusy) {
		in.Errorf("what is done under a lock fails, and the error is %v", err)
	}
	if rows := in.answer("SELECT COUNT(*) FROM accordion_locks"); rows != "0" {
		in.Errorf("the table of locks has %s rows, want none", rows)
	}
}
