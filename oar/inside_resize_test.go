package oar

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/observe"
	"accordion/oar/server"
)

func aJobGrowsAndShrinks(in *inside) {
	job := in.Submit("alice", "2x20s,5x20s,3x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	in.until(job, "pending held")
	in.start(job, 500, "n2", "n3")
	running, err := in.Inspect(in.ctx, job)
	in.must(err)
	name := fmt.Sprintf("accordion-%d-1", job.ID)
	in.reserve(name, 0, 100, "n1", "n4", "n6")
	begin := time.Now()
	e, err := in.Expand(in.ctx, running, []string{"n1", "n4", "n6"}, name)
	in.must(err)
	in.Logf("grown within %v", time.Since(begin))
	in.must(in.Merge(in.ctx, job, e))
	in.must(in.Merge(in.ctx, job, e))
	in.until(job, "running n2,n3,n1,n4,n6")
	in.must(in.Unreserve(in.ctx, name))
	if err := in.Shrink(in.ctx, job, []string{"n2", "n1", "n4"}); err == nil || !strings.Contains(err.Error(), "n3 belongs to its base") {
		in.Errorf("giving back a node of the base: %v", err)
	}
	begin = time.Now()
	in.must(in.Shrink(in.ctx, job, []string{"n2", "n3", "n4"}))
	in.Logf("shrunk within %v", time.Since(begin))
	in.must(in.Shrink(in.ctx, job, []string{"n2", "n3", "n4"}))
	in.until(job, "running n2,n3,n4")
	in.must(in.End(in.ctx, job, "enough"))
	in.wait("", func() string {
		return in.answer("SELECT job_id, state FROM jobs WHERE state NOT IN ('Terminated', 'Error')")
	})
	in.must(in.End(in.ctx, job, "enough"))
}

// The profile needs no division of the additional nodes, so one companion holds them all. The application then keeps only some of them,
// which divides the companion.
func aCompanionIsDivided(in *inside) {
	job := in.Submit("alice", "1x20s,5x20s,1x20s", "sleep 1000", "-l", "nodes=1,walltime=0:10:0")
	in.start(job, 500, "n1")
	in.grow(job, "n2", "n3", "n4", "n5")
	if got := in.companions(job); got != 1 {
		in.Errorf("%d companions hold the layer, want one", got)
	}
	in.must(in.Shrink(in.ctx, job, []string{"n1", "n3", "n5"}))
	in.must(in.Shrink(in.ctx, job, []string{"n1", "n3", "n5"}))
	in.until(job, "running n1,n3,n5")
	in.must(in.Shrink(in.ctx, job, []string{"n1", "n3"}))
	in.until(job, "running n1,n3")
	// A sidecar dies after it has asked OAR to end a companion, and before the companion has ended. The next sidecar repeats the request.
	in.must(in.alter(in.ctx, job, func(tx *sql.Tx, r *observe.Job, now core.Time) error {
		_, _, err := in.divide(in.ctx, tx, r, []string{"n1"}, now)
		return err
	}))
	in.must(in.Shrink(in.ctx, job, []string{"n1"}))
	in.until(job, "running n1")
}

// grow makes a running job grow onto the nodes, as the sidecar does.
func (in *inside) grow(job adapter.Key, nodes ...string) {
	in.Helper()
	running, err := in.Inspect(in.ctx, job)
	in.must(err)
	name := fmt.Sprintf("accordion-%d-%d", job.ID, len(running.Nodes))
	in.reserve(name, 0, 100, nodes...)
	e, err := in.Expand(in.ctx, running, nodes, name)
	in.must(err)
	in.must(in.Merge(in.ctx, job, e))
	in.must(in.Unreserve(in.ctx, name))
}

func (in *inside) companions(job adapter.Key) int {
	in.Helper()
	r, err := in.read.Job(in.ctx, in.db.Sql, job)
	in.must(err)
	return len(r.Companions)
}

// The job starts on all of its nodes or on none. Its script must not run on the base alone.
func aJobBeginsAboveItsBase(in *inside) {
	job := in.Submit("alice", "5x20s,3x20s,2x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	in.start(job, 500, "n1", "n2", "n3", "n4", "n5")
	if got := in.companions(job); got != 3 {
		in.Errorf("%d companions, want one on each node: the profile divides them", got)
	}
	if got := file(in.on("n1", fmt.Sprintf("/var/lib/oar/%d", job.ID))); got != "n1\nn2\nn3\nn4\nn5\n" {
		in.Errorf("its node file has %q", got)
	}
	j, err := in.Inspect(in.ctx, job)
	in.must(err)
	if j.Base != 2 || j.Reservation != "" {
		in.Errorf("detached it is %+v", j)
	}
}

func growthsThatFail(in *inside) {
	in.start(in.Submit("bob", "1x60s", "sleep 1000", "-l", "nodes=1,walltime=0:10:0"), 500, "n5")
	job := in.Submit("alice", "2x20s,5x20s,2x20s", "sleep 1000", "-l", "nodes=2,walltime=0:10:0")
	running := &adapter.Job{Key: job}
	_, err := in.Expand(in.ctx, running, []string{"n3"}, "accordion-9-1")
	in.mustBe(err, adapter.ErrGone)
	in.start(job, 500, "n1", "n2")
	_, err = in.Expand(in.ctx, running, []string{"n4", "n5"}, "accordion-9-1")
	in.mustBe(err, adapter.ErrBusy)
	_, err = in.Expand(in.ctx, running, []string{"n4", "n99"}, "accordion-9-1")
	in.mustBe(err, adapter.ErrBusy)
	if _, err = in.Expand(in.ctx, running, nil, "accordion-9-1"); err == nil {
		in.Error("a growth by nothing was not refused")
	}
	in.exec("UPDATE resources SET state = 'Suspected' WHERE network_address = 'n6'")
	_, err = in.Expand(in.ctx, running, []string{"n6"}, "accordion-9-1")
	in.mustBe(err, adapter.ErrBusy)
	in.exec("UPDATE resources SET state = 'Alive' WHERE network_address = 'n6'")
	if got := in.answer(fmt.Sprintf("SELECT COUNT(*) FROM accordion_jobs WHERE base = %d", job.ID)); got != "0" {
		in.Errorf("%s companions were made by growths that failed at once", got)
	}
	for _, keep := range [][]string{{"n1"}, {"n1", "n2", "n3"}} {
		if err := in.Shrink(in.ctx, job, keep); err == nil {
			in.Errorf("it was shrunk to %v", keep)
		}
	}
	in.mustBe(in.Merge(in.ctx, job, adapter.Key{ID: 1 << 30, Submitted: 1}), adapter.ErrGone)
	in.mustBe(in.Shrink(in.ctx, adapter.Key{ID: job.ID, Submitted: job.Submitted - 1}, []string{"n1", "n2"}), adapter.ErrGone)
	// OAR cannot start the companion in time. The start fails, and nothing is left of the companion.
	in.exec("UPDATE queues SET state = 'notActive' WHERE queue_name = 'evolve'")
	hasty := *in.System
	hasty.timeout = 2 * time.Second
	for err = nil; err == nil; { // repeated if a pass ended meanwhile, because the companion is then launched without a pass
		in.exec("UPDATE gantt_jobs_predictions SET start_time = start_time + 1 WHERE moldable_job_id = 0") // as if a pass were under way
		var made adapter.Key
		if made, err = hasty.Expand(in.ctx, running, []string{"n7", "n8"}, "accordion-9-1"); err == nil {
			in.must(in.End(in.ctx, made, ""))
			in.wait("done", func() string { return strings.Fields(in.shows(made))[0] })
		}
	}
	in.mustBe(err, adapter.ErrBusy)
	in.exec("UPDATE queues SET state = 'Active' WHERE queue_name = 'evolve'")
	in.wait("0", func() string {
		return in.answer("SELECT COUNT(*) FROM accordion_jobs a JOIN jobs j ON j.job_id = a.job_id WHERE a.base > 0 AND " + isLive)
	})
	in.must(in.End(in.ctx, job, ""))
	in.wait("done", func() string { return strings.Fields(in.shows(job))[0] })
	_, err = in.Expand(in.ctx, running, []string{"n3"}, "accordion-9-1")
	in.mustBe(err, adapter.ErrGone)
	in.mustBe(in.Detach(in.ctx, job), adapter.ErrGone)
}

// A sidecar dies between an Expand and its Merge, and a job ends while it has companions.
func leftoverCompanions(in *inside) {
	job := in.Submit("alice", "1x20s,4x20s,2x20s", "sleep 1000", "-l", "nodes=1,walltime=0:10:0")
	in.start(job, 500, "n1")
	running, err := in.Inspect(in.ctx, job)
	in.must(err)
	e, err := in.Expand(in.ctx, running, []string{"n2", "n3", "n4"}, "accordion-9-1")
	in.must(err)
	again, err := in.Expand(in.ctx, running, []string{"n4", "n2", "n3"}, "accordion-9-1")
	in.must(err)
	if again != e {
		in.Errorf("the same growth gave companion %v, and then %v", e, again)
	}
	if got := in.expanders(); got != "n2 n3 n4" {
		in.Errorf("expanders hold %q, want a companion on each of n2 n3 n4: the profile divides them", got)
	}
	in.until(job, "running n1")
	in.must(in.End(in.ctx, e, "left over"))
	in.wait("", in.expanders)
	in.mustBe(in.Merge(in.ctx, job, e), adapter.ErrGone)
	in.grow(job, "n5", "n6", "n7")
	in.until(job, "running n1,n5,n6,n7")
	// oardel by the user ends only the base.
	in.as("alice", "oardel", fmt.Sprint(job.ID))
	in.wait("done", func() string { return strings.Fields(in.shows(job))[0] })
	in.wait("n5 n6 n7", in.expanders)
	in.endCompanionsOf(job)
	in.wait("", in.expanders)
}

// endCompanionsOf ends the companions that still exist after the end of their job, as the sidecar does.
func (in *inside) endCompanionsOf(job adapter.Key) {
	in.Helper()
	snapshot, err := in.Observe(in.ctx)
	in.must(err)
	ended := 0
	for _, j := range snapshot.Jobs {
		if j.Expands == job.ID {
			in.must(in.End(in.ctx, j.Key, "left-over expander"))
			ended++
		}
	}
	if ended == 0 {
		in.Errorf("job %d has ended, and none of its companions is left: %+v", job.ID, snapshot.Jobs)
	}
}

// expanders returns the nodes of companions that are not merged into a job.
func (in *inside) expanders() string {
	in.Helper()
	snapshot, err := in.Observe(in.ctx)
	in.must(err)
	var hosts []string
	for _, j := range snapshot.Jobs {
		if j.Expands != 0 && j.State == adapter.Running {
			hosts = append(hosts, j.Nodes...)
		}
	}
	return strings.Join(hosts, " ")
}

// OAR ends every job on an Absent node, except noop jobs such as companions. The node no longer belongs to the companion's job.
func aLostNode(in *inside) {
	job := in.Submit("alice", "1x20s,4x20s,2x20s", "sleep 1000", "-l", "nodes=1,walltime=0:10:0")
	in.start(job, 500, "n1")
	in.grow(job, "n2", "n3", "n4")
	in.exec("UPDATE resources SET state = 'Suspected' WHERE network_address = 'n2'")
	in.until(job, "running n1,n2,n3,n4") // the node may become Alive again
	in.exec("UPDATE resources SET state = 'Absent' WHERE network_address IN ('n2', 'n3')")
	in.until(job, "running n1,n4")
	in.wait("n2 n3", in.expanders)
	in.exec("UPDATE resources SET state = 'Alive' WHERE network_address IN ('n2', 'n3')")
}

// The profile needs no division of the additional nodes, so one companion holds them all. When one of its nodes is lost, the job keeps the
// other three.
func aLostNodeOfALayer(in *inside) {
	job := in.Submit("alice", "1x20s,5x20s,1x20s", "sleep 1000", "-l", "nodes=1,walltime=0:10:0")
	in.start(job, 500, "n1")
	in.grow(job, "n2", "n3", "n4", "n5")
	in.exec("UPDATE resources SET state = 'Absent' WHERE network_address = 'n3'")
	in.until(job, "running n1,n2,n4,n5")
	in.wait("n2 n4 n5", func() string { // nodes of a running companion without an Absent node
		_, err := in.Observe(in.ctx)
		in.must(err)
		return in.answer(fmt.Sprintf(`SELECT r.network_address FROM accordion_jobs c JOIN jobs j ON j.job_id = c.job_id
			JOIN assigned_resources a ON a.moldable_job_id = j.assigned_moldable_job JOIN resources r ON r.resource_id = a.resource_id
			WHERE c.base = %d AND j.state = 'Running' ORDER BY r.network_address`, job.ID))
	})
	in.until(job, "running n1,n2,n4,n5")
	in.exec("UPDATE resources SET state = 'Alive' WHERE network_address = 'n3'")
	in.until(job, "running n1,n2,n4,n5") // the node becomes Alive again, and no longer belongs to the job
	in.must(in.Shrink(in.ctx, job, []string{"n1"}))
	in.until(job, "running n1")
}

// oarwalltime extends the walltime of the base, and the companions still outlive the base.
func aJobIsMadeLonger(in *inside) {
	job := in.Submit("alice", "1x20s,3x20s", "sleep 1000", "-l", "nodes=1,walltime=0:10:0")
	in.start(job, 500, "n1")
	in.grow(job, "n2", "n3")
	in.must(in.Lengthen(in.ctx, job, 2300))
	in.server.Notify(server.Starts)
	in.wait("2300", func() string {
		j, err := in.Inspect(in.ctx, job)
		in.must(err)
		return fmt.Sprint(j.Limit)
	})
	_, err := in.Observe(in.ctx)
	in.must(err)
	if early := in.answer(fmt.Sprintf(`SELECT c.job_id, b.start_time + mb.moldable_walltime - c.start_time - mc.moldable_walltime FROM jobs b
		JOIN moldable_job_descriptions mb ON mb.moldable_id = b.assigned_moldable_job JOIN accordion_jobs a ON a.base = b.job_id JOIN jobs c ON c.job_id = a.job_id
		JOIN moldable_job_descriptions mc ON mc.moldable_id = c.assigned_moldable_job
		WHERE b.job_id = %d AND c.start_time + mc.moldable_walltime < b.start_time + mb.moldable_walltime`, job.ID)); early != "" {
		in.Errorf("companions that end before their base, and by how many seconds: %s", early)
	}
}
