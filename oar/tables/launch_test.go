package tables_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/oar/database/databasetest"
	"accordion/oar/tables"
)

// launches adds job 7, which will start on n1 and n2 in its reservation, while no pass is under way.
func launches(t *testing.T) *bench {
	b := newBench(t)
	b.nodes("Alive", "Alive", "Alive")
	b.job(7, "Waiting", "INSERT INTO gantt_jobs_predictions VALUES (107, 5)", "INSERT INTO gantt_jobs_resources VALUES (107, 11)")
	b.job(8, "Waiting")
	b.Do("INSERT INTO gantt_jobs_predictions VALUES (0, 999990)", "INSERT INTO gantt_jobs_predictions_visu VALUES (0, 999990)")
	b.tx(func(tx *sql.Tx) error {
		return errors.Join(b.AddReservation(b.ctx, tx, tables.Reservation{Name: "r", From: now - 10, To: now + 60, Holder: 8}), b.Place(b.ctx, tx, 7, []int64{11, 12, 21, 22}))
	})
	return b
}

// may reports whether job 7 may be launched. If `waiting` is set, it asks MayLaunchWaiting, otherwise MayLaunch.
func (b *bench) may(waiting bool) bool {
	b.Helper()
	var may bool
	b.tx(func(tx *sql.Tx) (err error) {
		if waiting {
			may, err = b.MayLaunchWaiting(b.ctx, tx, []int64{7, 70}, []string{"n1", "n2"}, now)
		} else {
			may, err = b.MayLaunch(b.ctx, tx, 7, "r", []string{"n1", "n2"}, now)
		}
		return err
	})
	return may
}

// planned plans a job in a state on a resource, from a second on.
func planned(b *bench, id int64, state string, resource int, from int64) {
	b.job(id, state, fmt.Sprintf("INSERT INTO gantt_jobs_predictions VALUES (%d, %d)", id+100, from), fmt.Sprintf("INSERT INTO gantt_jobs_resources VALUES (%d, %d)", id+100, resource))
}

func TestNodesAreTakenWithoutAPassOnlyWhenNobodyElseCanGetThem(t *testing.T) {
	pass := func(b *bench) {
		b.Do("UPDATE gantt_jobs_predictions SET start_time = 999999 WHERE moldable_job_id = 0")
	} // a pass is under way, and has copied nothing yet
	keeps := func(b *bench) {
		pass(b)
		b.Do("INSERT INTO gantt_jobs_predictions VALUES (108, 1000005)")
		for _, r := range []int{11, 12, 21, 22} {
			b.Do(fmt.Sprintf("INSERT INTO gantt_jobs_resources VALUES (108, %d)", r))
		}
	}
	holds := func(state, index string, resource int) func(*bench) {
		return func(b *bench) {
			b.job(30, state, fmt.Sprintf("INSERT INTO assigned_resources VALUES (130, %d, '%s')", resource, index))
		}
	}
	for _, c := range []struct {
		name          string
		change        func(*bench)
		may, waitsMay bool
	}{
		{"no pass is under way", func(*bench) {}, true, true},
		{"a pass is", pass, false, false},
		{"a pass has thrown its plan away", func(b *bench) {
			b.Do("DELETE FROM gantt_jobs_predictions WHERE moldable_job_id = 0", "DELETE FROM gantt_jobs_predictions_visu WHERE moldable_job_id = 0")
		}, false, false},
		{"a pass is, and keeps the reservation", keeps, true, false},
		{"… on some of the nodes", func(b *bench) { keeps(b); b.Do("DELETE FROM gantt_jobs_resources WHERE resource_id = 22") }, false, false},
		{"… which begins later", func(b *bench) { keeps(b); b.Do("UPDATE accordion_reservations SET start_time = 1000001") }, false, false},
		{"… which begins now", func(b *bench) { keeps(b); b.Do("UPDATE accordion_reservations SET start_time = 1000000") }, true, false},
		{"… which is planned for later", func(b *bench) {
			keeps(b)
			b.Do("UPDATE gantt_jobs_predictions SET start_time = 1000006 WHERE moldable_job_id = 108")
		}, false, false},
		{"… which has another name", func(b *bench) { keeps(b); b.Do("UPDATE accordion_reservations SET name = 's'") }, false, false},
		{"another session writes the plan", func(b *bench) {
			b.Fail(func(s string) error {
				if strings.HasPrefix(s, "LOCK TABLE") {
					return databasetest.Locked
				}
				return nil
			})
		}, false, false},
		{"another job has a node", holds("Running", "CURRENT", 22), false, false},
		{"another job has another node", holds("Running", "CURRENT", 31), true, true},
		{"another job had it", holds("Running", "LOG", 22), true, true},
		{"another job has ended on it", holds("Terminated", "CURRENT", 22), true, true},
		{"another is planned on it in five seconds", func(b *bench) { planned(b, 31, "Waiting", 21, int64(now)+5) }, false, false},
		{"another is planned on it in six", func(b *bench) { planned(b, 31, "Waiting", 21, int64(now)+6) }, true, true},
		{"another is planned on another node", func(b *bench) { planned(b, 31, "Waiting", 31, int64(now)) }, true, true},
		{"an advance reservation is", func(b *bench) { planned(b, 31, "toAckReservation", 21, int64(now)) }, false, false},
		{"a job that runs is planned on it", func(b *bench) { planned(b, 31, "Running", 21, int64(now)) }, true, true},
		{"one of them is", func(b *bench) { planned(b, 70, "Waiting", 21, int64(now)) }, false, true},
		{"its end was asked for", func(b *bench) { b.Do("INSERT INTO frag_jobs (frag_id_job) VALUES (70)") }, true, false},
		{"another's end was asked for", func(b *bench) { b.Do("INSERT INTO frag_jobs (frag_id_job) VALUES (71)") }, true, true},
	} {
		for waiting, want := range map[bool]bool{false: c.may, true: c.waitsMay} {
			b := launches(t)
			c.change(b)
			if got := b.may(waiting); got != want {
				t.Errorf("%s, passes know of it %t: it may %t", c.name, waiting, got)
			}
		}
	}
	for _, waiting := range []bool{false, true} {
		b := launches(t)
		b.everyFailure("may launch", func() error {
			return b.Transaction(b.ctx, func(tx *sql.Tx) (err error) {
				if waiting {
					_, err = b.MayLaunchWaiting(b.ctx, tx, []int64{7}, []string{"n1"}, now)
				} else {
					_, err = b.MayLaunch(b.ctx, tx, 7, "r", []string{"n1"}, now)
				}
				return err
			})
		})
		err := b.Transaction(b.ctx, func(tx *sql.Tx) (err error) {
			_, err = b.MayLaunch(b.ctx, tx, 7, "r", []string{"n9"}, now)
			if waiting {
				_, err = b.MayLaunchWaiting(b.ctx, tx, []int64{7}, []string{"n9"}, now)
			}
			return err
		})
		if !errors.Is(err, adapter.ErrBusy) {
			t.Errorf("a node that OAR does not have: %v", err)
		}
	}
	b := launches(t)
	pass(b)
	b.everyFailure("may launch during a pass", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { _, err := b.MayLaunch(b.ctx, tx, 7, "r", []string{"n1"}, now); return err })
	})
}

func TestALaunchIsWrittenAsAPassWouldWriteIt(t *testing.T) {
	for _, c := range []struct {
		planned string
		begins  string
	}{{"999990", "1000000"}, {"1000003", "1000003"}} { // the second of OAR's plan may be ahead of the clock
		b := launches(t)
		b.job(9, "Waiting")
		b.Do("UPDATE gantt_jobs_predictions SET start_time = "+c.planned+" WHERE moldable_job_id = 0",
			"INSERT INTO job_state_logs (job_id, job_state, date_start) VALUES (7, 'Waiting', 999900)", "INSERT INTO job_state_logs (job_id, job_state, date_start, date_stop) VALUES (7, 'Hold', 999800, 999900)",
			"INSERT INTO job_state_logs (job_id, job_state, date_start) VALUES (8, 'Waiting', 999900)")
		b.tx(func(tx *sql.Tx) error {
			return errors.Join(b.Place(b.ctx, tx, 9, []int64{31}), b.Launch(b.ctx, tx, []int64{7, 9}, now))
		})
		b.rows("SELECT job_id, state, start_time, assigned_moldable_job FROM jobs ORDER BY job_id", "7|toLaunch|"+c.begins+"|107", "8|Waiting|0|108", "9|toLaunch|"+c.begins+"|109")
		b.rows("SELECT job_id, job_state, date_start, date_stop FROM job_state_logs ORDER BY job_id, date_start", "7|Hold|999800|999900", "7|Waiting|999900|1000000", "7|toLaunch|1000000|0", "8|Waiting|999900|0", "9|toLaunch|1000000|0")
		b.rows("SELECT moldable_job_id, resource_id, assigned_resource_index FROM assigned_resources ORDER BY 1, 2", "107|11|CURRENT", "107|12|CURRENT", "107|21|CURRENT", "107|22|CURRENT", "109|31|CURRENT")
		b.rows("SELECT * FROM gantt_jobs_predictions ORDER BY 1", "0|"+c.planned, "107|1000000", "109|1000000")
		b.rows("SELECT * FROM gantt_jobs_resources ORDER BY 1, 2", "107|11", "107|12", "107|21", "107|22", "109|31")
	}
	b := launches(t)
	b.everyFailure("launch", func() error {
		return b.Transaction(b.ctx, func(tx *sql.Tx) error { return b.Launch(b.ctx, tx, []int64{7}, now) })
	})
	b = launches(t)
	b.Do("DELETE FROM gantt_jobs_predictions WHERE moldable_job_id = 0") // a pass begins
	b.tx(func(tx *sql.Tx) error { return b.Launch(b.ctx, tx, []int64{7}, now) })
	b.rows("SELECT start_time FROM jobs WHERE job_id = 7", "1000000")
}
