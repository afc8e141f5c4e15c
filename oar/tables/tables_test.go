package tables_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/oar/database/databasetest"
	"accordion/oar/tables"
)

const now core.Time = 1_000_000 // the clock of the database

// bench is a test database with Accordion's tables and OAR's.
type bench struct {
	*testing.T
	*databasetest.Server
	tables.Tables
	ctx context.Context
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s := databasetest.New(t)
	b := &bench{T: t, Server: s, Tables: tables.Tables{DB: s.DB}, ctx: t.Context()}
	b.ok(b.MakeTables(b.ctx))
	return b
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// tx calls a function in a transaction.
func (b *bench) tx(do func(tx *sql.Tx) error) {
	b.Helper()
	b.ok(b.Change(b.ctx, do))
}

// job adds a job to OAR's tables, with one configuration, whose ID is the job's ID plus 100.
func (b *bench) job(id int64, state string, more ...string) {
	b.Helper()
	b.Do(fmt.Sprintf("INSERT INTO jobs (job_id, state, launching_directory, checkpoint_signal, submission_time, assigned_moldable_job) VALUES (%d, '%s', '/', 12, %d, %d)", id, state, now-100, id+100),
		fmt.Sprintf("INSERT INTO moldable_job_descriptions (moldable_id, moldable_job_id, moldable_walltime) VALUES (%d, %d, 3600)", id+100, id))
	b.Do(more...)
}

// nodes adds nodes with two resources each. n1 has the resources 11 and 12, and so on.
func (b *bench) nodes(states ...string) {
	b.Helper()
	for i, state := range states {
		for k := range 2 {
			b.Do(fmt.Sprintf("INSERT INTO resources (resource_id, network_address, state) VALUES (%d, 'n%d', '%s')", 10*(i+1)+k+1, i+1, state))
		}
	}
}

// rows fails the test unless a query returns these rows.
func (b *bench) rows(query string, want ...string) {
	b.Helper()
	if got := b.Rows(query); !slices.Equal(got, want) {
		b.Errorf("%s:\ngot  %q\nwant %q", query, got, want)
	}
}

// equal fails the test unless both values are equal.
func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// everyFailure runs an action repeatedly, and makes another statement fail each time. It expects the action to fail too.
func (b *bench) everyFailure(what string, act func() error) {
	b.Helper()
	broken := errors.New("the connection broke")
	b.Fail(nil)
	b.Said()
	for n := 0; ; n++ {
		count, hit := 0, false
		b.Fail(func(statement string) error {
			if strings.HasPrefix(statement, "SET ") {
				return nil
			}
			if count++; count == n+1 {
				hit = true
				return broken
			}
			return nil
		})
		err := act()
		b.Fail(nil)
		if !hit {
			return
		}
		if !errors.Is(err, broken) {
			b.Errorf("%s: its statement %d failed, and the act returned %v", what, n+1, err)
		}
	}
}

func TestTablesAreMadeOnceAndDroppedWithTheHoldersOfReservations(t *testing.T) {
	b := newBench(t)
	is := func(wantInstalled, wantComplete bool) {
		t.Helper()
		installed, err := b.Installed(b.ctx, b.Sql)
		b.ok(err)
		complete, err := b.Complete(b.ctx)
		b.ok(err)
		if installed != wantInstalled || complete != wantComplete {
			t.Errorf("installed %t, complete %t; want %t, %t", installed, complete, wantInstalled, wantComplete)
		}
	}
	is(true, true)
	b.Do("INSERT INTO accordion_asked VALUES ('alice', 5, 6)")
	b.ok(b.MakeTables(b.ctx))
	b.rows("SELECT * FROM accordion_asked", "alice|5|6")
	b.Do("DROP TABLE accordion_leases")
	is(true, false) // an older Accordion made fewer tables
	b.Do("DROP TABLE accordion_cpusets")
	is(false, false)
	b.ok(b.MakeTables(b.ctx))

	b.job(7, "Waiting")
	b.holder(8)
	b.tx(func(tx *sql.Tx) error {
		return b.AddReservation(b.ctx, tx, tables.Reservation{Name: "accordion-7-0", Holder: 8})
	})
	b.everyFailure("drop", func() error {
		err := b.DropTables(b.ctx)
		if err != nil {
			b.Fail(nil)
			b.ok(b.MakeTables(b.ctx))
			if len(b.Rows("SELECT 1 FROM accordion_reservations")) == 0 {
				b.holder(8)
				b.tx(func(tx *sql.Tx) error {
					return b.AddReservation(b.ctx, tx, tables.Reservation{Name: "accordion-7-0", Holder: 8})
				})
			}
		}
		return err
	})
	is(false, false)
	b.rows("SELECT name FROM sqlite_master WHERE name LIKE 'accordion%'", "accordion_locks")
	b.rows("SELECT job_id FROM jobs", "7")
	b.ok(b.DropTables(b.ctx)) // a second call does no harm
	b.ok(b.DropLocks(b.ctx))
	b.rows("SELECT name FROM sqlite_master WHERE name LIKE 'accordion%'")
	b.everyFailure("make", func() error { return b.MakeTables(b.ctx) })
	b.everyFailure("installed", func() error { _, err := b.Installed(b.ctx, b.Sql); return err })
}

// holder adds the holder of a reservation, with a row in every table that may refer to it.
func (b *bench) holder(id int64) {
	b.Helper()
	b.Do(fmt.Sprintf("DELETE FROM jobs WHERE job_id = %d", id), fmt.Sprintf("DELETE FROM moldable_job_descriptions WHERE moldable_id = %d", id+100))
	b.job(id, "Waiting")
	for _, one := range []string{"job_resource_groups (res_group_id, res_group_moldable_id) VALUES (%[1]d + 200, %[1]d + 100)", "job_resource_descriptions (res_job_group_id) VALUES (%[1]d + 200)",
		"gantt_jobs_predictions (moldable_job_id, start_time) VALUES (%[1]d + 100, 5)", "gantt_jobs_resources VALUES (%[1]d + 100, 11)", "gantt_jobs_predictions_visu VALUES (%[1]d + 100, 5)",
		"gantt_jobs_resources_visu VALUES (%[1]d + 100, 11)", "job_types (job_id, type) VALUES (%[1]d, 'noop')", "job_dependencies VALUES (%[1]d, 1, 'CURRENT')",
		"job_state_logs (job_id) VALUES (%[1]d)", "challenges (job_id) VALUES (%[1]d)", "frag_jobs (frag_id_job) VALUES (%[1]d)", "event_logs (job_id) VALUES (%[1]d)", "accordion_places VALUES (%[1]d, 11)"} {
		b.Do("INSERT OR REPLACE INTO " + fmt.Sprintf(one, id))
	}
}

func TestReservationsAreWrittenReadChangedAndRemovedWithTheirHolders(t *testing.T) {
	b := newBench(t)
	b.nodes("Alive", "Alive", "Dead")
	b.holder(8)
	b.holder(9)
	b.job(7, "Running")
	first := tables.Reservation{Name: "accordion-7-1", Owner: "alice", From: now, To: now + 60, OverManaged: true, Idle: 30, Holder: 9}
	second := tables.Reservation{Name: "accordion-7-0", Owner: "bob", From: now + 1, To: now + 61, Holder: 8}
	b.tx(func(tx *sql.Tx) error {
		return errors.Join(b.AddReservation(b.ctx, tx, first), b.AddReservation(b.ctx, tx, second), b.Place(b.ctx, tx, 9, []int64{12, 11, 22}))
	})
	read := func(name string) []tables.Reservation {
		t.Helper()
		all, err := b.Reservations(b.ctx, b.Sql, name)
		b.ok(err)
		return all
	}
	equal(t, "all", read(""), []tables.Reservation{second, first})
	equal(t, "one", read("accordion-7-1"), []tables.Reservation{first})
	equal(t, "none", read("accordion-8-1"), nil)
	hosts, err := b.ReservedHosts(b.ctx, b.Sql, "")
	b.ok(err)
	equal(t, "hosts", hosts, map[int64][]string{8: {"n1"}, 9: {"n1", "n2"}})
	hosts, err = b.ReservedHosts(b.ctx, b.Sql, "accordion-7-0")
	b.ok(err)
	equal(t, "hosts of one", hosts, map[int64][]string{8: {"n1"}})

	changed := tables.Reservation{Name: "accordion-7-1", Owner: "carol", From: now + 2, To: now + 62, OverManaged: false, Idle: 31, Holder: 99}
	b.tx(func(tx *sql.Tx) error { return b.ChangeReservation(b.ctx, tx, changed) })
	changed.Holder = 9 // the reservation keeps its holder
	equal(t, "changed", read(""), []tables.Reservation{second, changed})

	b.tx(func(tx *sql.Tx) error { return b.RemoveReservation(b.ctx, tx, changed) })
	equal(t, "removed", read(""), []tables.Reservation{second})
	for table, column := range map[string]string{"jobs": "job_id", "moldable_job_descriptions": "moldable_id - 100", "gantt_jobs_predictions": "moldable_job_id - 100", "gantt_jobs_resources": "moldable_job_id - 100",
		"gantt_jobs_predictions_visu": "moldable_job_id - 100", "gantt_jobs_resources_visu": "moldable_job_id - 100", "job_resource_groups": "res_group_id - 200", "job_resource_descriptions": "res_job_group_id - 200",
		"job_types": "job_id", "job_dependencies": "job_id", "job_state_logs": "job_id", "challenges": "job_id", "frag_jobs": "frag_id_job", "event_logs": "job_id", "accordion_places": "job_id"} {
		want := []string{"8"}
		if table == "jobs" || table == "moldable_job_descriptions" {
			want = []string{"7", "8"}
		}
		b.rows(fmt.Sprintf("SELECT %s FROM %s ORDER BY 1", column, table), want...)
	}
	b.everyFailure("remove", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error {
			if err := b.RemoveReservation(b.ctx, tx, second); err != nil {
				return err
			}
			return nil
		})
	})
	b.everyFailure("add", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.AddReservation(b.ctx, tx, first) })
	})
	b.everyFailure("change", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.ChangeReservation(b.ctx, tx, first) })
	})
}

func TestReservationsHaveNamesByTheirJobs(t *testing.T) {
	if got := tables.StartReservation(7); got != "accordion-7-0" {
		t.Errorf("the first is %s", got)
	}
	for name, want := range map[string]bool{"accordion-7-0": true, "accordion-7-12": true, "accordion-70-0": false, "accordion-8-0": false, "other": false} {
		if got := tables.IsReservationOf(name, 7); got != want {
			t.Errorf("%s is of job 7: %t", name, got)
		}
	}
}

func TestJobsAreAddedTiedReleasedAndWithdrawn(t *testing.T) {
	b := newBench(t)
	b.job(7, "Waiting", "INSERT INTO gantt_jobs_predictions VALUES (107, 5)", "INSERT INTO gantt_jobs_resources VALUES (107, 11)")
	b.job(8, "Waiting", "INSERT INTO gantt_jobs_predictions VALUES (108, 5)", "INSERT INTO gantt_jobs_resources VALUES (108, 21)")
	b.job(9, "Waiting", "INSERT INTO gantt_jobs_predictions VALUES (109, 5)", "INSERT INTO gantt_jobs_resources VALUES (109, 31)")
	b.tx(func(tx *sql.Tx) error {
		return errors.Join(
			b.Add(b.ctx, tx, tables.Row{Job: 7, Submitted: 5, Mark: "accordion:ep=2x1m", Released: true, Reservation: "r"}),
			b.Add(b.ctx, tx, tables.Row{Job: 8, Submitted: 6, Mark: "with", Base: 7}),
			b.Add(b.ctx, tx, tables.Row{Job: 9, Submitted: 7, Base: 7}),
			b.Release(b.ctx, tx, 8), b.Release(b.ctx, tx, 9),
			b.SetReservation(b.ctx, tx, 8, "s"), b.SetReservation(b.ctx, tx, 9, "t"),
			b.Place(b.ctx, tx, 7, []int64{11}), b.Place(b.ctx, tx, 8, []int64{21}), b.Place(b.ctx, tx, 9, []int64{31}))
	})
	const all = "SELECT job_id, submitted, mark, base, released, reservation FROM accordion_jobs ORDER BY job_id"
	b.rows(all, "7|5|accordion:ep=2x1m|0|1|r", "8|6|with|7|1|s", "9|7||7|1|t")
	b.tx(func(tx *sql.Tx) error { return b.Withdraw(b.ctx, tx, 7, []int64{8}) })
	b.rows(all, "7|5|accordion:ep=2x1m|0|0|", "8|6|with|7|0|s", "9|7||7|1|t")
	b.rows("SELECT * FROM accordion_places", "9|31")
	b.rows("SELECT moldable_job_id FROM gantt_jobs_resources", "109")
	b.rows("SELECT moldable_job_id FROM gantt_jobs_predictions", "109")
	b.tx(func(tx *sql.Tx) error { return b.Withdraw(b.ctx, tx, 9, nil) })
	b.rows(all, "7|5|accordion:ep=2x1m|0|0|", "8|6|with|7|0|s", "9|7||7|0|")
	b.ok(b.SetReservation(b.ctx, b.Sql, 8, ""))
	b.rows("SELECT reservation FROM accordion_jobs WHERE job_id = 8", "")
	b.everyFailure("withdraw", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.Withdraw(b.ctx, tx, 7, []int64{8}) })
	})
}

func TestAdoptedJobReplacesRowsOfAnEarlierJobWithItsNumber(t *testing.T) {
	b := newBench(t)
	const day = 24 * 3600
	ended := func(id int64, state string, stopped, submitted core.Time) {
		b.job(id, state, fmt.Sprintf("UPDATE jobs SET stop_time = %d, submission_time = %d WHERE job_id = %d", stopped, submitted, id))
		b.tx(func(tx *sql.Tx) error {
			return errors.Join(b.Add(b.ctx, tx, tables.Row{Job: id, Submitted: submitted}), b.Place(b.ctx, tx, id, []int64{11}))
		})
	}
	ended(20, "Terminated", now-day-1, now-day-1)
	ended(21, "Error", now-day-1, now-day-1)
	ended(22, "Terminated", now-day, now-day-1)
	ended(23, "Terminated", now-day-1, now-day)
	ended(24, "Running", 0, now-2*day)
	ended(25, "Terminated", now, now-2*day)
	b.job(26, "Running")
	b.tx(func(tx *sql.Tx) error {
		return errors.Join(b.Add(b.ctx, tx, tables.Row{Job: 26, Base: 25}), b.Place(b.ctx, tx, 26, []int64{12}), // job 25 keeps its places while its companion exists
			b.Add(b.ctx, tx, tables.Row{Job: 7, Mark: "old"}), b.Add(b.ctx, tx, tables.Row{Job: 30, Base: 7}))
	})
	b.tx(func(tx *sql.Tx) error { return b.Adopt(b.ctx, tx, tables.Row{Job: 7, Submitted: 9, Mark: "new"}, now) })
	b.rows("SELECT job_id, mark FROM accordion_jobs ORDER BY job_id", "7|new", "22|", "23|", "24|", "25|", "26|")
	b.rows("SELECT job_id FROM accordion_places ORDER BY job_id", "24", "25", "26")
	b.everyFailure("adopt", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.Adopt(b.ctx, tx, tables.Row{Job: 7}, now) })
	})
}

func TestCompanionsAreFoundAndMarked(t *testing.T) {
	b := newBench(t)
	b.tx(func(tx *sql.Tx) error {
		return errors.Join(b.Add(b.ctx, tx, tables.Row{Job: 7, Mark: "own"}), b.Add(b.ctx, tx, tables.Row{Job: 8, Base: 7, Mark: "a", Reservation: "r"}),
			b.Add(b.ctx, tx, tables.Row{Job: 9, Base: 7, Mark: "a", Reservation: "s"}), b.Add(b.ctx, tx, tables.Row{Job: 10, Base: 6, Mark: "a", Reservation: "r"}))
	})
	companions, err := tables.Companions(b.ctx, b.Sql, 7)
	b.ok(err)
	equal(t, "companions", companions, []int64{8, 9})
	for job, want := range map[int64]struct {
		companions []int64
		base       int64
	}{7: {[]int64{8, 9}, 0}, 8: {nil, 7}, 10: {nil, 6}, 11: {nil, 0}} {
		companions, base, err := b.CompanionsAndBase(b.ctx, job)
		b.ok(err)
		if !slices.Equal(companions, want.companions) || base != want.base {
			t.Errorf("kin of %d: %v, %d", job, companions, base)
		}
	}
	b.tx(func(tx *sql.Tx) error { return b.ReplaceMark(b.ctx, tx, 7, "r", "a", "b") })
	b.tx(func(tx *sql.Tx) error { return b.Mark(b.ctx, tx, []int64{9, 10}, "c") })
	b.rows("SELECT job_id, mark FROM accordion_jobs ORDER BY job_id", "7|own", "8|b", "9|c", "10|c")
	b.everyFailure("mark", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.Mark(b.ctx, tx, []int64{9}, "c") })
	})
	b.everyFailure("remark", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.ReplaceMark(b.ctx, tx, 7, "r", "a", "b") })
	})
	b.everyFailure("kin", func() error { _, _, err := b.CompanionsAndBase(b.ctx, 7); return err })
}

func TestCompanionsToEndLiveAndWereNotAskedToEnd(t *testing.T) {
	b := newBench(t)
	for i, state := range []string{"Running", "Terminated", "Error", "Finishing", "Waiting"} {
		id := int64(10 + i)
		b.job(id, state, fmt.Sprintf("INSERT INTO job_types (job_id, type) VALUES (%d, 'noop')", id))
		b.tx(func(tx *sql.Tx) error { return b.Add(b.ctx, tx, tables.Row{Job: id, Base: 7}) })
	}
	b.job(20, "Running", "INSERT INTO job_types (job_id, type) VALUES (20, 'noop')", "INSERT INTO frag_jobs (frag_id_job) VALUES (20)")
	b.job(21, "Running")
	b.job(22, "Running", "INSERT INTO job_types (job_id, type) VALUES (22, 'noop')")
	b.tx(func(tx *sql.Tx) error {
		return errors.Join(b.Add(b.ctx, tx, tables.Row{Job: 20, Base: 7}), b.Add(b.ctx, tx, tables.Row{Job: 21, Base: 7}), b.Add(b.ctx, tx, tables.Row{Job: 22, Base: 8}))
	})
	left, err := b.CompanionsToEnd(b.ctx, 7)
	b.ok(err)
	equal(t, "left", left, []int64{10, 14})
}

func TestCpusetsAreNotedPassedOnMadeAndForgotten(t *testing.T) {
	b := newBench(t)
	b.nodes("Alive", "Suspected", "Absent", "Alive", "Dead")
	note := func(companion int64, hosts ...string) {
		t.Helper()
		b.tx(func(tx *sql.Tx) error { return b.NoteCpusets(b.ctx, tx, 7, companion, hosts) })
	}
	read := func(which tables.Which) []tables.Cpuset {
		t.Helper()
		all, err := b.Cpusets(b.ctx, 7, which)
		b.ok(err)
		return all
	}
	note(8, "n2", "n1", "n3")
	note(0, "n4")
	b.tx(func(tx *sql.Tx) error { return b.NoteCpusets(b.ctx, tx, 6, 9, []string{"n1"}) })
	n1, n2, n4 := tables.Cpuset{Host: "n1", Companion: 8}, tables.Cpuset{Host: "n2", Companion: 8}, tables.Cpuset{Host: "n4"}
	equal(t, "all that are there", read(tables.AllCpusets), []tables.Cpuset{n1, n2, n4})
	equal(t, "of a companion", read(tables.CpusetsOf(8, 9)), []tables.Cpuset{n1, n2})
	equal(t, "on hosts", read(b.CpusetsOn([]string{"n4", "n3"})), []tables.Cpuset{n4})
	equal(t, "on no hosts", read(b.CpusetsOn(nil)), nil)

	b.ok(b.CpusetsAre(b.ctx, 7, []tables.Cpuset{n1, {Host: "n2", Companion: 99}}, tables.Made)) // another companion has n2 now
	n1.Made = tables.Made
	equal(t, "made", read(tables.AllCpusets), []tables.Cpuset{n1, n2, n4})
	b.rows("SELECT made FROM accordion_cpusets WHERE base = 6", "0")
	note(10, "n1", "n2") // the cpuset may still exist
	n1, n2 = tables.Cpuset{Host: "n1", Companion: 10, Made: tables.Begun}, tables.Cpuset{Host: "n2", Companion: 10}
	equal(t, "noted again", read(tables.AllCpusets), []tables.Cpuset{n1, n2, n4})
	b.tx(func(tx *sql.Tx) error { return b.PassCpusets(b.ctx, tx, 7, 11, b.CpusetsOn([]string{"n2"})) })
	n2.Companion = 11
	equal(t, "passed on", read(tables.AllCpusets), []tables.Cpuset{n1, n2, n4})
	b.ok(b.ForgetCpusets(b.ctx, 7, []tables.Cpuset{n1, {Host: "n2", Companion: 10}}))
	equal(t, "forgotten", read(tables.AllCpusets), []tables.Cpuset{n2, n4})

	ended, cancel := context.WithCancel(b.ctx)
	cancel()
	b.ok(b.ForgetCpusets(ended, 7, []tables.Cpuset{n2})) // even if a slow node has used up the time
	equal(t, "forgotten late", read(tables.AllCpusets), []tables.Cpuset{n4})
	b.everyFailure("note", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.NoteCpusets(b.ctx, tx, 7, 8, []string{"n1"}) })
	})
	b.everyFailure("pass", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.PassCpusets(b.ctx, tx, 7, 8, tables.AllCpusets) })
	})
	b.everyFailure("forget", func() error { return b.ForgetCpusets(b.ctx, 7, []tables.Cpuset{n4}) })
}

func TestLeftoversAreCpusetsOfEndedCompanionsAndFailedStarts(t *testing.T) {
	b := newBench(t)
	b.nodes("Alive", "Suspected", "Absent")
	b.job(70, "Running")
	b.job(71, "Terminated")
	b.job(72, "Error")
	b.job(1, "Waiting")
	b.job(2, "Waiting")
	b.job(3, "Running")
	b.job(4, "Hold")
	b.tx(func(tx *sql.Tx) error {
		return errors.Join(
			b.Add(b.ctx, tx, tables.Row{Job: 1, Submitted: now - 100, Reservation: "r"}), b.Add(b.ctx, tx, tables.Row{Job: 2, Submitted: now - 100}),
			b.Add(b.ctx, tx, tables.Row{Job: 3, Submitted: now - 100, Reservation: "r"}), b.Add(b.ctx, tx, tables.Row{Job: 4, Submitted: now - 101, Reservation: "r"}),
			b.NoteCpusets(b.ctx, tx, 1, 0, []string{"n1"}), b.NoteCpusets(b.ctx, tx, 2, 0, []string{"n1", "n2"}), b.NoteCpusets(b.ctx, tx, 3, 0, []string{"n2"}),
			b.NoteCpusets(b.ctx, tx, 4, 0, []string{"n1"}), b.NoteCpusets(b.ctx, tx, 5, 70, []string{"n1"}), b.NoteCpusets(b.ctx, tx, 6, 71, []string{"n1"}),
			b.NoteCpusets(b.ctx, tx, 7, 72, []string{"n2"}), b.NoteCpusets(b.ctx, tx, 8, 73, []string{"n1"}), b.NoteCpusets(b.ctx, tx, 9, 71, []string{"n3"}))
	})
	left, err := b.Leftovers(b.ctx, b.Sql)
	b.ok(err)
	slices.SortFunc(left, func(a, b tables.Leftover) int { return int(a.Job - b.Job) })
	// Job 1 is starting. Job 2 is tied to no reservation. Job 3 runs. Job 4 is another job with a reused number. The companion of 5 still
	// exists. The cpuset of 9 is on a node that is switched off.
	equal(t, "left behind", left, []tables.Leftover{{Job: 2, Alive: true}, {Job: 3}, {Job: 4, Alive: true}, {Job: 6, Alive: true}, {Job: 7}, {Job: 8, Alive: true}})
	which, err := b.Cpusets(b.ctx, 2, tables.LeftCpusets)
	b.ok(err)
	equal(t, "of job 2", which, []tables.Cpuset{{Host: "n1"}, {Host: "n2"}})
	which, err = b.Cpusets(b.ctx, 1, tables.LeftCpusets)
	b.ok(err)
	equal(t, "of job 1", which, nil)
}

func TestOrdersAreWhatTheSidecarHasDecided(t *testing.T) {
	b := newBench(t)
	b.job(7, "Running")
	b.job(8, "Waiting")
	b.job(9, "Terminated")
	b.job(10, "Running")
	b.holder(11)
	b.tx(func(tx *sql.Tx) error {
		return errors.Join(b.Add(b.ctx, tx, tables.Row{Job: 7, Submitted: now - 100}), b.Add(b.ctx, tx, tables.Row{Job: 8, Submitted: now - 100, Base: 7, Released: true, Reservation: "r"}),
			b.Add(b.ctx, tx, tables.Row{Job: 9, Submitted: now - 100}), b.Add(b.ctx, tx, tables.Row{Job: 10, Submitted: now - 101}),
			b.AddReservation(b.ctx, tx, tables.Reservation{Name: "r", Holder: 11}), b.Place(b.ctx, tx, 8, []int64{22, 21}))
	})
	o, err := b.ReadOrders(b.ctx, b.Sql)
	b.ok(err)
	equal(t, "orders", o, &tables.Orders{
		Jobs:         map[int64]tables.Order{7: {State: "Running"}, 8: {Base: 7, Released: true, Reservation: "r", State: "Waiting"}},
		Reservations: []tables.Reservation{{Name: "r", Holder: 11}},
		Places:       map[int64][]int64{8: {21, 22}, 11: {11}},
	})
	if o.BaseOf(8) != 7 || o.BaseOf(7) != 7 || o.BaseOf(99) != 99 || !o.Holders()[11] || len(o.Holders()) != 1 || len((*tables.Orders)(nil).Holders()) != 0 {
		t.Errorf("wholes %d %d %d, holders %v", o.BaseOf(8), o.BaseOf(7), o.BaseOf(99), o.Holders())
	}
	b.everyFailure("read", func() error { _, err := b.ReadOrders(b.ctx, b.Sql); return err })
	b.everyFailure("place", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.Place(b.ctx, tx, 8, []int64{21}) })
	})
	b.tx(func(tx *sql.Tx) error { return b.Place(b.ctx, tx, 8, nil) })
	b.rows("SELECT * FROM accordion_places WHERE job_id = 8")
	many := make([]int64, 12000)
	for i := range many {
		many[i] = int64(i)
	}
	b.tx(func(tx *sql.Tx) error { return b.Place(b.ctx, tx, 8, many) })
	b.rows("SELECT COUNT(*) FROM accordion_places WHERE job_id = 8", "12000")
	b.Do("DROP TABLE accordion_places")
	if o, err := b.ReadOrders(b.ctx, b.Sql); o != nil || err != nil {
		t.Errorf("not installed: %v, %v", o, err)
	}
}

func TestReservationHoldsUntilItsEndOrItsIdleLimit(t *testing.T) {
	for _, c := range []struct {
		name string
		r    tables.Reservation
		job  *tables.Order
		over bool
	}{
		{"it lasts", tables.Reservation{From: now - 50, To: now + 1}, nil, false},
		{"it has ended", tables.Reservation{From: now - 50, To: now}, nil, true},
		{"nobody has come", tables.Reservation{From: now - 11, To: now + 1, Idle: 10}, nil, true},
		{"it is idle for long enough in a second", tables.Reservation{From: now - 10, To: now + 1, Idle: 10}, nil, false},
		{"one that waits has not come", tables.Reservation{From: now - 11, To: now + 1, Idle: 10}, &tables.Order{Reservation: "r", State: "Waiting"}, true},
		{"… nor one that is held", tables.Reservation{From: now - 11, To: now + 1, Idle: 10}, &tables.Order{Reservation: "r", State: "Hold"}, true},
		{"one that is released has", tables.Reservation{From: now - 11, To: now + 1, Idle: 10}, &tables.Order{Reservation: "r", State: "Waiting", Released: true}, false},
		{"one that runs has", tables.Reservation{From: now - 11, To: now + 1, Idle: 10}, &tables.Order{Reservation: "r", State: "Running"}, false},
		{"another's has not", tables.Reservation{From: now - 11, To: now + 1, Idle: 10}, &tables.Order{Reservation: "s", State: "Running"}, true},
	} {
		o := &tables.Orders{Jobs: map[int64]tables.Order{}}
		if c.job != nil {
			o.Jobs[7] = *c.job
		}
		c.r.Name = "r"
		if got := o.Over(c.r, now); got != c.over {
			t.Errorf("%s: over %t", c.name, got)
		}
	}
	for state, want := range map[string]bool{"toLaunch": true, "Launching": true, "Running": true, "Waiting": false, "Finishing": false} {
		if got := (tables.Order{State: state}).Begun(); got != want {
			t.Errorf("%s has begun: %t", state, got)
		}
	}
}

func TestOneSidecarHasTheLeaseUntilItEnds(t *testing.T) {
	b := newBench(t)
	b.Do("DROP TABLE accordion_leases")
	const minute = time.Minute
	me, other := tables.Lease{Queue: "q", Holder: "me", Host: "h", PID: 7, Journal: "j"}, tables.Lease{Queue: "q", Holder: "other", Host: "i", PID: 8, Journal: "k"}
	if leased, err := b.Leased(b.ctx, "q", now); leased || err != nil {
		t.Errorf("without a table: %t, %v", leased, err)
	}
	if l, err := b.LeaseOf(b.ctx, "q"); l != (tables.Lease{}) || err != nil {
		t.Errorf("without a table: %v, %v", l, err)
	}
	at := func(l tables.Lease, began, ends core.Time) tables.Lease { l.Began, l.Ends = began, ends; return l }
	take := func(l tables.Lease, want tables.Lease) {
		t.Helper()
		got, err := b.TakeLease(b.ctx, l, minute)
		b.ok(err)
		equal(t, "lease", got, want)
	}
	take(me, at(me, now, now+60)) // the call creates the table
	take(other, at(me, now, now+60))
	b.Set(now + 10)
	take(me, at(me, now, now+70))
	b.Set(now + 69)
	take(other, at(me, now, now+70))
	for second, want := range map[core.Time]bool{now + 69: true, now + 70: false} {
		if leased, err := b.Leased(b.ctx, "q", second); leased != want || err != nil {
			t.Errorf("%d s later: leased %t, %v", second-now, leased, err)
		}
	}
	if leased, err := b.Leased(b.ctx, "r", now); leased || err != nil {
		t.Errorf("another queue: %t, %v", leased, err)
	}
	b.Set(now + 70)
	take(other, at(other, now+70, now+130))
	elsewhere := me
	elsewhere.Queue = "r"
	take(elsewhere, at(elsewhere, now+70, now+130))
	got, err := b.SeizeLease(b.ctx, me, minute)
	b.ok(err)
	equal(t, "seized", got, at(me, now+70, now+130))

	b.ok(b.LeaveLease(b.ctx, "q", "other", 0)) // another sidecar has the lease
	l, err := b.LeaseOf(b.ctx, "q")
	b.ok(err)
	equal(t, "left by another", l, at(me, now+70, now+130))
	b.ok(b.LeaveLease(b.ctx, "q", "me", 30*time.Second))
	l, err = b.LeaseOf(b.ctx, "q")
	b.ok(err)
	if left := at(me, now+70, now+100); l.Holder != "" || l.Ends != left.Ends {
		t.Errorf("left: %+v", l)
	}
	if leased, err := b.Leased(b.ctx, "q", now+71); leased || err != nil {
		t.Errorf("one that was left: %t, %v", leased, err)
	}
	b.Set(now + 71)
	take(other, at(other, now+71, now+131)) // the lease is free
	b.ok(b.LeaveLease(b.ctx, "q", "other", 0))
	b.rows("SELECT queue FROM accordion_leases", "r")
	for what, act := range map[string]func() error{
		"take":   func() error { _, err := b.TakeLease(b.ctx, me, minute); return err },
		"seize":  func() error { _, err := b.SeizeLease(b.ctx, me, minute); return err },
		"leave":  func() error { return b.LeaveLease(b.ctx, "q", "me", minute) },
		"leased": func() error { _, err := b.Leased(b.ctx, "q", now); return err },
		"read":   func() error { _, err := b.LeaseOf(b.ctx, "q"); return err },
	} {
		b.everyFailure(what, act)
	}
	b.Do("DROP TABLE accordion_leases")
	if l, err := b.SeizeLease(b.ctx, me, minute); err != nil || l.Holder != "me" {
		t.Errorf("seized without a table: %v, %v", l, err)
	}
}

func TestConflictingTransactionIsRepeated(t *testing.T) {
	b := newBench(t)
	fails := 2
	b.Fail(func(statement string) error {
		if strings.HasPrefix(statement, "UPDATE accordion_leases") && fails > 0 {
			fails--
			return databasetest.Deadlocked
		}
		return nil
	})
	l, err := b.TakeLease(b.ctx, tables.Lease{Queue: "q", Holder: "me"}, time.Minute)
	if err != nil || l.Holder != "me" || fails != 0 {
		t.Errorf("%v, %v, %d failures left", l, err, fails)
	}
}

func TestQueryTimesAreReplacedAsAWhole(t *testing.T) {
	b := newBench(t)
	b.Do("DROP TABLE accordion_asked")
	if rows, err := b.ReadQueryTimes(b.ctx); rows != nil || err != nil {
		t.Errorf("without a table: %v, %v", rows, err)
	}
	want := []tables.QueryTime{{User: "alice", Took: 1500 * time.Millisecond, At: now}, {User: "bob", At: now - 1}}
	b.ok(b.WriteQueryTimes(b.ctx, want))
	b.ok(b.WriteQueryTimes(b.ctx, want))
	got, err := b.ReadQueryTimes(b.ctx)
	b.ok(err)
	equal(t, "asked", got, want)
	b.ok(b.WriteQueryTimes(b.ctx, nil))
	b.rows("SELECT * FROM accordion_asked")
	b.everyFailure("write", func() error { return b.WriteQueryTimes(b.ctx, want) })
	b.everyFailure("read", func() error { _, err := b.ReadQueryTimes(b.ctx); return err })
}

func TestOneProcessAtATimeHasALockAndItsTableIsMadeWhereItIsMissing(t *testing.T) {
	b := newBench(t)
	b.Do("DROP TABLE accordion_locks")
	begun, done := make(chan struct{}), make(chan struct{})
	second := make(chan error, 1)
	err := b.WithLock(b.ctx, 7, func() error {
		go func() { close(begun); second <- b.WithLock(b.ctx, 7, func() error { close(done); return nil }) }()
		<-begun
		select {
		case <-done:
			t.Error("two have the same lock")
		case <-time.After(100 * time.Millisecond):
		}
		return nil
	})
	b.ok(err)
	b.ok(<-second)
	refused := errors.New("no")
	if err := b.WithLock(b.ctx, tables.InstallLock, func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	b.rows("SELECT * FROM accordion_locks") // no row is ever committed
}
