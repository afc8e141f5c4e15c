package tables_test

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/core"
	"accordion/internal/testenv"
	"accordion/oar/database/databasetest"
	"accordion/oar/tables"
)

var recordFlag = flag.Bool("accordion.record", false, "record what a real PostgreSQL answers to the script of verbs and races")

// answersFile contains what a real PostgreSQL answered.
const answersFile = "testdata/answers.txt"

// TestTheFakeDatabaseAnswersAsTheRealOneWasRecorded checks databasetest against the recorded answers.
func TestTheFakeDatabaseAnswersAsTheRealOneWasRecorded(t *testing.T) {
	compare(t, answers(newBench(t)))
}

// TestPostgreSQLAnswersAsRecorded checks the recorded answers against a real PostgreSQL, or records them.
func TestPostgreSQLAnswersAsRecorded(t *testing.T) {
	testenv.Needs(t, testenv.OAR)
	s := databasetest.PostgreSQL(t)
	b := &bench{T: t, Server: s, Tables: tables.Tables{DB: s.DB}, ctx: t.Context()}
	b.ok(b.MakeTables(b.ctx))
	got := answers(b)
	if *recordFlag {
		b.ok(os.WriteFile(answersFile, []byte(got), 0o644))
		return
	}
	compare(t, got)
}

func compare(t *testing.T, got string) {
	t.Helper()
	want, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatalf("%v: record them with -accordion.record", err)
	}
	equal(t, "the answers", got, string(want))
}

// answers executes a script of operations and races, and returns the result of each.
func answers(b *bench) string {
	var all strings.Builder
	say := func(verb string, what ...any) { fmt.Fprintf(&all, "%s: %s", verb, fmt.Sprintln(what...)) }
	state := func() {
		for _, table := range []string{"accordion_jobs", "accordion_reservations", "accordion_cpusets", "accordion_places", "accordion_asked", "gantt_jobs_predictions", "gantt_jobs_resources", "assigned_resources"} {
			for _, row := range b.Rows("SELECT * FROM " + table + " ORDER BY 1, 2") {
				fmt.Fprintf(&all, "  %s %s\n", table, row)
			}
		}
	}
	change := func(verb string, do func(tx *sql.Tx) error) { say(verb, b.Change(b.ctx, do)); state() }

	b.nodes("Alive", "Suspected", "Absent")
	b.job(7, "Waiting", "INSERT INTO gantt_jobs_predictions VALUES (107, 5)", "INSERT INTO gantt_jobs_resources VALUES (107, 11)")
	b.job(8, "Waiting", "INSERT INTO job_types (job_type_id, job_id, type) VALUES (1, 8, 'noop')")
	b.job(9, "Terminated", "UPDATE jobs SET stop_time = 5, submission_time = 5 WHERE job_id = 9")
	b.job(20, "Waiting")
	b.Do("INSERT INTO gantt_jobs_predictions VALUES (0, 999990)", "INSERT INTO gantt_jobs_predictions_visu VALUES (0, 999990)")

	change("a job that has ended", func(tx *sql.Tx) error { return b.Add(b.ctx, tx, tables.Row{Job: 9, Submitted: 5, Mark: "old"}) })
	change("adopt", func(tx *sql.Tx) error {
		return b.Adopt(b.ctx, tx, tables.Row{Job: 7, Submitted: now - 100, Mark: "accordion:ep=1x1m 'quoted' $1 ? ü"}, now)
	})
	change("a companion", func(tx *sql.Tx) error {
		return errors.Join(b.Add(b.ctx, tx, tables.Row{Job: 8, Submitted: now - 100, Base: 7, Reservation: "accordion-7-1"}), b.Place(b.ctx, tx, 8, []int64{12, 11}))
	})
	change("a reservation", func(tx *sql.Tx) error {
		return errors.Join(b.AddReservation(b.ctx, tx, tables.Reservation{Name: "accordion-7-1", Owner: "alice", From: now, To: now + 60, Idle: 30, Holder: 20, OverManaged: true}), b.Place(b.ctx, tx, 20, []int64{11, 12, 21}))
	})
	change("the same again", func(tx *sql.Tx) error {
		err := b.AddReservation(b.ctx, tx, tables.Reservation{Name: "accordion-7-1", Holder: 21})
		if err == nil || !b.IsConflict(err) {
			return fmt.Errorf("want a duplicate: %w", err)
		}
		return errors.New("a duplicate")
	})
	change("another of it", func(tx *sql.Tx) error {
		return b.ChangeReservation(b.ctx, tx, tables.Reservation{Name: "accordion-7-1", Owner: "bob", From: now + 1, To: now + 61})
	})
	change("cpusets", func(tx *sql.Tx) error {
		return errors.Join(b.NoteCpusets(b.ctx, tx, 7, 8, []string{"n1", "n2", "n3"}), b.NoteCpusets(b.ctx, tx, 20, 0, []string{"n1"}))
	})
	say("made", b.CpusetsAre(b.ctx, 7, []tables.Cpuset{{Host: "n1", Companion: 8}}, tables.Made))
	which, err := b.Cpusets(b.ctx, 7, b.CpusetsOn([]string{"n1", "n3"}))
	say("cpusets on n1 and n3", which, err)
	left, err := b.Leftovers(b.ctx, b.Sql)
	say("left behind", left, err)
	orders, err := b.ReadOrders(b.ctx, b.Sql)
	say("orders", orders.Jobs, orders.Reservations, orders.Places, err)
	hosts, err := b.ReservedHosts(b.ctx, b.Sql, "")
	for _, list := range hosts {
		slices.Sort(list)
	}
	say("hosts", hosts, err)
	companions, base, err := b.CompanionsAndBase(b.ctx, 8)
	say("kin", companions, base, err)
	ids, err := b.CompanionsToEnd(b.ctx, 7)
	say("left", ids, err)
	for _, planned := range []core.Time{999990, 999999} {
		b.Do(fmt.Sprintf("UPDATE gantt_jobs_predictions SET start_time = %d WHERE moldable_job_id = 0", planned))
		b.tx(func(tx *sql.Tx) error {
			may, err := b.MayLaunch(b.ctx, tx, 8, "accordion-7-1", []string{"n1"}, now)
			waiting, failed := b.MayLaunchWaiting(b.ctx, tx, []int64{8}, []string{"n1"}, now)
			say("may launch", may, waiting, err, failed)
			return nil
		})
	}
	change("launch", func(tx *sql.Tx) error { return b.Launch(b.ctx, tx, []int64{8}, now) })
	change("withdraw", func(tx *sql.Tx) error { return b.Withdraw(b.ctx, tx, 7, []int64{8}) })
	say("asked", b.WriteQueryTimes(b.ctx, []tables.QueryTime{{User: "o'hara", Took: time.Second, At: 5}}))
	change("remove", func(tx *sql.Tx) error {
		return b.RemoveReservation(b.ctx, tx, tables.Reservation{Name: "accordion-7-1", Holder: 20})
	})
	say("jobs", b.Rows("SELECT job_id, state, start_time FROM jobs ORDER BY job_id"))

	// Races run the same operation twice in parallel. The results do not depend on which of the two came first.
	both := func(verb string, one, other func() string) {
		said := make([]string, 2)
		var all sync.WaitGroup
		all.Go(func() { said[0] = one() })
		all.Go(func() { said[1] = other() })
		all.Wait()
		slices.Sort(said)
		say(verb, said)
	}
	take := func(holder string) func() string {
		return func() string {
			l, err := b.TakeLease(b.ctx, tables.Lease{Queue: "q", Holder: holder}, time.Minute)
			return fmt.Sprint(l.Holder == holder, " ", l.Ends-l.Began, " ", err)
		}
	}
	both("two take the lease", take("me"), take("you"))
	seized, err := b.SeizeLease(b.ctx, tables.Lease{Queue: "q", Holder: "third"}, time.Minute)
	say("seized", seized.Holder, seized.Ends-seized.Began, err)
	say("left by another", b.LeaveLease(b.ctx, "q", "me", 0), b.Rows("SELECT holder FROM accordion_leases"))
	say("left", b.LeaveLease(b.ctx, "q", "third", 0), b.Rows("SELECT holder FROM accordion_leases"))
	inside, most := 0, 0
	var mu sync.Mutex
	locked := func() string {
		return fmt.Sprint(b.WithLock(b.ctx, 7, func() error {
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			time.Sleep(20 * time.Millisecond) // wait, so that the two operations overlap
			mu.Lock()
			inside--
			mu.Unlock()
			return nil
		}))
	}
	both("two have a lock", locked, locked)
	say("at once", most)
	say("drop", b.DropTables(b.ctx))
	installed, err := b.Installed(b.ctx, b.Sql)
	say("installed", installed, err)
	asked, err := b.ReadQueryTimes(b.ctx)
	say("asked without a table", asked, err)
	return all.String()
}
