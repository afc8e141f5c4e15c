package oar

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/observe"
	"accordion/oar/server"
	"accordion/oar/tables"
)

// A growth onto a besteffort job's nodes needs a pass of the meta-scheduler, because only a pass ends besteffort jobs.
func aGrowthOntoABesteffortJob(in *inside) {
	other := in.Submit("bob", "", "sleep 1000", "-q", "besteffort", "-t", "besteffort", "-l", "nodes=1,walltime=0:30:0", "-p", "network_address='n4'")
	in.wait("Running", func() string { return in.answer(fmt.Sprintf("SELECT state FROM jobs WHERE job_id = %d", other.ID)) })
	job := in.Submit("alice", "2x20s,4x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	in.start(job, 500, "n1", "n2")
	in.timeout = longest // OAR starts a dozen programs to end a job and begin another, and on a loaded machine each may take seconds
	begin := time.Now()
	in.grow(job, "n3", "n4")
	in.Logf("grown within %v", time.Since(begin))
	if twice := in.answer("SELECT a.job_id, b.job_id, x.resource_id FROM jobs a JOIN assigned_resources x ON x.moldable_job_id = a.assigned_moldable_job " +
		"JOIN assigned_resources y ON y.resource_id = x.resource_id JOIN jobs b ON b.assigned_moldable_job = y.moldable_job_id " +
		"WHERE a.job_id < b.job_id AND a.state = 'Running' AND b.state = 'Running'"); twice != "" {
		in.Errorf("two jobs run on a resource: %s", twice)
	}
}

// OAR leaves some seconds between two passes. If no pass is under way, a released job does not wait for the next pass: it is launched in
// the transaction that releases it.
func aJobBeginsWithoutAPass(in *inside) {
	job := in.Submit("alice", "2x20s,4x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	in.must(in.Adopt(in.ctx, job))
	in.must(in.Shape(in.ctx, job, adapter.Shape{Nodes: 2, Limit: 500}))
	name := fmt.Sprintf("accordion-%d-0", job.ID)
	in.wait("toLaunch", func() (state string) {
		in.reserve(name, 0, 700, "n2", "n3")
		in.must(in.Attach(in.ctx, job, name))
		err := in.db.Change(in.ctx, func(tx *sql.Tx) error { // before any pass can see it
			r, err := in.read.Job(in.ctx, tx, job)
			if err != nil {
				return err
			}
			if _, err := in.release(in.ctx, tx, r, []string{"n2", "n3"}, time.Now().Unix()); err != nil {
				return err
			}
			state, err = database.Value[string](in.ctx, tx, "the job's state", fmt.Sprintf("SELECT state FROM jobs WHERE job_id = %d", job.ID))
			if err == nil && state != "toLaunch" {
				err = errNotYet
			}
			return err
		})
		if err != nil && !errors.Is(err, errNotYet) {
			in.must(err)
		}
		return state
	})
	in.server.Notify(server.Begins(job.ID))
	in.until(job, "running n2,n3")
	if twice := in.answer(fmt.Sprintf("SELECT COUNT(*) FROM assigned_resources a JOIN jobs j ON j.assigned_moldable_job = a.moldable_job_id WHERE j.job_id = %d", job.ID)); twice != "2" {
		in.Errorf("it has %s resources, want 2", twice)
	}
}

// A pass that starts a job does not start its companions, because OAR 2.5 starts them only once the job runs. The queue is closed in this
// trial, so that no other pass starts the companions either.
func aFirstCompanionBeginsWithoutAPass(in *inside) {
	job := in.Submit("alice", "2x20s,4x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	in.start(job, 500, "n1", "n2")
	in.exec("UPDATE queues SET state = 'notActive' WHERE queue_name = 'evolve'")
	defer in.exec("UPDATE queues SET state = 'Active' WHERE queue_name = 'evolve'")
	in.wait("1", func() string { // wait until no earlier pass is still running (see tables.idle)
		return in.answer("SELECT COUNT(*) FROM gantt_jobs_predictions p JOIN gantt_jobs_predictions_visu v ON p.start_time = v.start_time " +
			"WHERE p.moldable_job_id = 0 AND v.moldable_job_id = 0 AND p.start_time > 0")
	})
	var made adapter.Key
	in.must(in.alter(in.ctx, job, func(tx *sql.Tx, r *observe.Job, now core.Time) (err error) {
		made, err = in.companion(in.ctx, tx, r, []string{"n3", "n4"}, 300, observe.AtStart, "", now)
		return err
	}))
	for name, happens := range map[string]func(*sql.Tx) error{
		"a pass is under way": func(tx *sql.Tx) error {
			return database.Run(in.ctx, tx, "a pass", "UPDATE gantt_jobs_predictions SET start_time = start_time + 1 WHERE moldable_job_id = 0")
		},
		"its end is asked for": func(tx *sql.Tx) error { return in.db.Frag(in.ctx, tx, time.Now().Unix(), int64(made.ID)) },
	} {
		in.wait("looked", func() string { return in.mayNotLaunch(made, name, happens) })
	}
	in.wait("Running", func() string {
		_, err := in.Observe(in.ctx)
		in.must(err)
		return in.answer(fmt.Sprintf("SELECT state FROM jobs WHERE job_id = %d", made.ID))
	})
	if has := in.answer(fmt.Sprintf("SELECT COUNT(*) FROM assigned_resources a JOIN jobs j ON j.assigned_moldable_job = a.moldable_job_id WHERE j.job_id = %d", made.ID)); has != "2" {
		in.Errorf("it has %s resources, want 2", has)
	}
}

// mayNotLaunch checks that an event prevents the launch of a companion on n3 and n4 that could be launched otherwise. It rolls the event
// back.
func (in *inside) mayNotLaunch(companion adapter.Key, name string, happens func(*sql.Tx) error) (state string) {
	may := func(tx *sql.Tx) (bool, error) {
		return in.db.MayLaunchWaiting(in.ctx, tx, []int64{int64(companion.ID)}, []string{"n3", "n4"}, time.Now().Unix())
	}
	err := in.alter(in.ctx, companion, func(tx *sql.Tx, _ *observe.Job, _ core.Time) error {
		before, err := may(tx)
		if err != nil {
			return err
		}
		if state = "a pass is under way"; !before {
			return errNotYet
		}
		if err := happens(tx); err != nil {
			return err
		}
		after, err := may(tx)
		if err != nil {
			return err
		}
		if state = "looked"; after {
			in.Errorf("it may be launched, though %s", name)
		}
		return errNotYet
	})
	if !errors.Is(err, errNotYet) {
		in.must(err)
	}
	return state
}

// oarLog is OAR's log inside the lab.
const oarLog = "/var/log/oar.log"

// errNotYet is an error that rolls a transaction back.
var errNotYet = errors.New("a pass is under way")

// A pass begins by deleting OAR's plan, and then writes which jobs have resources. The plan must then contain the companions exactly once.
// If the pass waits for another transaction, PostgreSQL does not delete the rows that this transaction has added. (With MariaDB the pass
// first waits for the table of jobs.)
func aPassBeginsWhileCompanionsAreLaunched(in *inside) {
	logged := file(oarLog) // log entries of the trials before this one
	job := in.Submit("alice", "2x20s,4x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	in.start(job, 500, "n1", "n2")
	name := fmt.Sprintf("accordion-%d-1", job.ID)
	in.reserve(name, 0, 100, "n3", "n4")
	in.db.Abandoned = longest // the pass may begin late
	var made adapter.Key
	in.wait("launched", func() string {
		in.must(in.alter(in.ctx, job, func(tx *sql.Tx, r *observe.Job, now core.Time) error {
			atOnce, err := in.db.MayLaunch(in.ctx, tx, int64(job.ID), name, []string{"n3", "n4"}, now)
			if err != nil || !atOnce {
				return err
			}
			if made, err = in.companion(in.ctx, tx, r, []string{"n3", "n4"}, 300, "", name, now); err != nil {
				return err
			}
			if err := in.db.Launch(in.ctx, tx, []int64{int64(made.ID)}, now); err != nil {
				return err
			}
			in.server.Notify(server.Starts)
			in.wait("1", func() string {
				return in.answer("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%DELETE FROM gantt_jobs_predictions%'")
			})
			return nil
		}))
		if made.ID == 0 {
			return "a pass is under way"
		}
		return "launched"
	})
	in.wait("Running", func() string { return in.answer(fmt.Sprintf("SELECT state FROM jobs WHERE job_id = %d", made.ID)) })
	if log := strings.TrimPrefix(file(oarLog), logged); strings.Contains(log, "duplicate key") || strings.Contains(log, "current transaction is aborted") {
		in.Error("a pass found rows that it had thrown away: see oar.log")
	}
}

// A sidecar is killed in the middle of a start, and leaves cpusets on the nodes. The second sidecar starts the job
// again, and may be killed before it has made anything. The third sidecar must still find the cpusets of the first
// one.
func aStartIsTriedOnceMore(in *inside) {
	if !in.keeper.Used() {
		in.Skip("OAR makes no cpusets here")
	}
	job := in.Submit("alice", "2x20s,4x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	const node = "n3"
	files := in.on(node, fmt.Sprintf("/var/lib/oar/alice_%d.env", job.ID))
	in.must(in.keeper.Expect(in.ctx, int64(job.ID), []string{node}))
	in.must(in.keeper.Ready(in.ctx, int64(job.ID), []string{node}, []string{"n2", node}))
	if _, err := os.Stat(files); err != nil {
		in.Fatalf("nothing was made on %s: %v", node, err)
	}
	in.must(in.keeper.Expect(in.ctx, int64(job.ID), []string{node}))
	in.must(in.keeper.Cleaned(in.ctx, int64(job.ID), tables.LeftCpusets))
	if _, err := os.Stat(files); err == nil {
		in.Errorf("%s is left on %s", files, node)
	}
	if noted := in.answer(fmt.Sprintf("SELECT host, companion, made FROM accordion_cpusets WHERE base = %d", job.ID)); noted != "" {
		in.Errorf("it is still noted: %s", noted)
	}
	in.must(in.End(in.ctx, job, "enough"))
}
