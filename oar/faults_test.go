package oar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// active checks that the queue is active, whatever was killed.
func active(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	lab.Await(t, long, "the queue is active", func() bool {
		return lab.SQL(t, "select state from queues where queue_name = 'evolve'") == "Active"
	})
}

// passesAreKilled kills a pass, then the process between the pass and OAR, and then OAR's server. It needs passes that take a second, so
// that it can kill them. When the process between the pass and OAR is killed, OAR switches the queue off, and the pass switches it on
// again. The patterns for pkill do not match this test's own command line.
func passesAreKilled(t *testing.T, lab *lab.OARLab) {
	const pass = "^accordion [o]ar schedule"
	runDuringPass(t, lab, "pkill -KILL -f '"+pass+"'")
	active(t, lab)
	offs := func() string { // how often OAR switched the queue off
		n, _, _ := lab.Exec("root", "grep", "-c", "Disabling queue evolve", "/var/log/oar.log")
		return n
	}
	// The test finds the process between a pass and OAR as the parent of the pass. Otherwise it could kill a later call of the scheduler
	// that has not started its pass yet, and no process would be left to switch the queue on again. If the pass still has connections to
	// the database, it has not checked yet whether its caller was killed.
	inside := func(between, caller string) string {
		return `p=$(pgrep -o -f '` + pass + `') && kill -STOP $p && { ` + caller + `
			[ "$(find /proc/$p/fd -lname 'socket:*')" ] && pgrep -f '` + between + `' | grep -qx $c && kill -KILL $c; s=$?; kill -CONT $p; [ $s = 0 ]; }`
	}
	const parent = `c=$(($(ps -o ppid= $p)));`
	const grandparent = parent + ` c=$(($(ps -o ppid= $c)));`
	for _, kill := range []string{
		inside("^/usr/lib/oar/+schedulers/[a]ccordion_oar evolve", parent),
		inside("^sh -c /usr/lib/oar/+schedulers/[a]ccordion_oar evolve", grandparent),
	} {
		before := offs()
		runDuringPass(t, lab, kill)
		lab.Await(t, long, "OAR has switched the queue off", func() bool { return offs() != before })
		active(t, lab)
	}
	runDuringPass(t, lab, "pgrep -f '"+pass+"'")
	lab.Do(t, "kill-almighty")
	active(t, lab)
	// A pass for which OAR does not wait writes nothing.
	_, says, err := lab.Exec("oar", "accordion", "oar", "schedule", "evolve", "1000")
	if err == nil || !strings.Contains(says, "OAR no longer waits for this pass: nothing was written") {
		t.Errorf("a pass that OAR did not request: %v, %q", err, says)
	}
}

// runDuringPass repeats a command that can succeed only during a pass, until it succeeds.
func runDuringPass(t *testing.T, lab *lab.OARLab, command string) {
	t.Helper()
	lab.Await(t, long, "there was a pass for "+command, func() bool {
		lab.Notify(t, "Scheduling")
		_, _, none := lab.Exec("root", "bash", "-c", "for n in {1..40}; do "+command+" && exit; sleep 0.05; done; exit 1")
		return none == nil
	})
}

// otherPlansAreRespected tests that Accordion's plan respects advance reservations, and a queue that OAR plans before Accordion's.
func otherPlansAreRespected(t *testing.T, lab *lab.OARLab) {
	s := driver{t: t, lab: lab}
	holder := s.reserve("accordion-far", 3600, 3600, 0, "n1", "n2", "n3")
	wait := lab.Submit(t, "bob", "true", "-q", "evolve", "-l", "nodes=5,walltime=2:0:0") // so that there is a pass
	lab.Await(t, long, "the reservation is in OAR's plan", func() bool { in, _ := s.planned(holder); return in > 0 })
	if out, errs, err := lab.Exec("alice", "bash", "-c", `oarsub -q evolve -r "$(date -d '+90 minutes' '+%F %T')" -l nodes=3,walltime=0:10:0 true`); err == nil || !strings.Contains(out+errs, "This reservation could run at") {
		t.Errorf("an advance reservation over ours: %v\n%s\n%s", err, out, errs)
	}
	s.unreserve(holder)
	lab.Await(t, long, "the reservation is out of OAR's plan", func() bool { _, held := s.planned(holder); return held == 0 })
	s.end(wait)

	out := lab.Run(t, "alice", "bash", "-c", `oarsub -q evolve -r "$(date -d '+12 seconds' '+%F %T')" -l nodes=3,walltime=0:30:0 'sleep 2'`)
	advance := lab.SQL(t, "select max(job_id) from jobs where reservation = 'Scheduled'")
	if !strings.Contains(out, "OAR_JOB_ID="+advance) {
		t.Fatalf("there is no advance reservation: %s", out)
	}
	wide := lab.Submit(t, "bob", "true", "-q", "evolve", "-l", "nodes=4,walltime=0:1:0")
	beside := lab.Submit(t, "bob", "true", "-q", "evolve", "-l", "nodes=2,walltime=0:1:0")
	lab.Await(t, long, "the advance reservation has ended", func() bool {
		lab.Notify(t, "Scheduling") // without a notification, OAR checks this only once a minute
		return lab.State(t, advance) == "Terminated"
	})
	ends(t, lab, beside)
	ends(t, lab, wide)
	if early := lab.SQL(t, "select a.stop_time - b.start_time from jobs a, jobs b where a.job_id = "+advance+" and b.job_id = "+wide+" and b.start_time < a.stop_time"); early != "" {
		t.Errorf("the wide job began %s s before the end of the advance reservation in its way", early)
	}

	lab.Run(t, "root", "oarnotify", "--add-queue", "above,30,oar_sched_gantt_with_timesharing")
	runs := lab.Submit(t, "bob", "sleep 10000", "-q", "evolve", "-l", "nodes=2,walltime=1:0:0")
	s.runs(runs, "n1", "n2")
	above := lab.Submit(t, "alice", "true", "-q", "above", "-l", "nodes=4,walltime=0:5:0")
	longer := lab.Submit(t, "bob", "true", "-q", "evolve", "-l", "nodes=3,walltime=2:0:0")
	short := lab.Submit(t, "bob", "true", "-q", "evolve", "-l", "nodes=2,walltime=0:1:0")
	ends(t, lab, short)
	evolving := s.evolving("true", "2x10m", 2)
	lab.SQL(t, "update moldable_job_descriptions set moldable_walltime = 7200 where moldable_job_id = "+evolving)
	s.place(evolving, "n3", "n4")
	s.release(evolving)
	s.says(evolving, "job "+above+" holds a resource where this job must start)")
	first, _ := s.planned(above)
	if second, _ := s.planned(longer); first <= 0 || second < first {
		t.Errorf("of the queue above a job is planned in %d s, of ours one in its way in %d s", first, second)
	}
	s.end(runs)
	ends(t, lab, above)
	ends(t, lab, longer)
	ends(t, lab, evolving)
	lab.Run(t, "root", "oarnotify", "--remove-queue", "above")
}

// aSuspendedJobMakesWay tests that other jobs can use the nodes of a suspended job until it resumes, and that it resumes when they have
// ended.
func aSuspendedJobMakesWay(t *testing.T, lab *lab.OARLab) {
	rests := lab.Submit(t, "bob", "true", "-q", "evolve", "-t", "noop", "-l", "nodes=4,walltime=2:0:0")
	state := func(want string) {
		t.Helper()
		lab.Await(t, long, "the job is "+want, func() bool { return lab.State(t, rests) == want })
	}
	state("Running")
	// oarhold -r and oarresume do the same, but need cpusets, which the lab does not have.
	ask := func(what string) {
		lab.SQL(t, fmt.Sprintf("insert into event_logs (type, job_id, date, description) values ('%s', %s, %s, '')", what, rests, driver{t: t, lab: lab}.now()))
		lab.Notify(t, "ChState")
	}
	ask("HOLD_RUNNING_JOB")
	state("Suspended")
	other := lab.Submit(t, "alice", "while [ ! -e enough ]; do sleep 0.1; done", "-q", "evolve", "-l", "nodes=5,walltime=1:0:0")
	lab.Await(t, long, "another job runs on its nodes", func() bool { return lab.State(t, other) == "Running" })
	ask("RESUME_JOB")
	state("Resuming")
	lab.Run(t, "alice", "touch", "enough")
	ends(t, lab, other)
	state("Running")
	driver{t: t, lab: lab}.end(rests)
}

// OAR waits for its database, and a pass without the database has no effect.
func TestTheDatabaseIsAwayForHalfAMinute(t *testing.T) {
	if !*everything {
		t.Skip("takes two minutes: -args -accordion.long")
	}
	onBothDatabases(t, 4, func(t *testing.T, lab *lab.OARLab) {
		runs := lab.Submit(t, "bob", "sleep 10", "-q", "evolve", "-l", "nodes=3,walltime=0:5:0")
		lab.Await(t, long, "a job runs", func() bool { return lab.State(t, runs) == "Running" })
		all := []string{runs}
		for range 6 {
			all = append(all, lab.Submit(t, "alice", "sleep 1", "-q", "evolve", "-l", "nodes=2,walltime=0:1:0"))
		}
		lab.Run(t, "root", "bash", "-c", `
			pid=$(pgrep -o -x 'postgres|mariadbd') && cp /proc/$pid/cmdline "$0/db/command" || exit
			[[ $1 == mariadb ]] && kill -TERM $pid || kill -INT $pid # both end in order: a lab's database is not safe against a crash
			tail --pid=$pid -f /dev/null`, lab.Dir, lab.Database)
		time.Sleep(30 * time.Second) // the database is down for this time
		lab.Run(t, "root", "bash", "-c", `
			cd "$0/db" && mapfile -d '' -t command <command
			setsid setpriv --reuid oar --regid oar --clear-groups -- "${command[@]}" >>log 2>&1 </dev/null &`, lab.Dir)
		lab.Await(t, long, "the database is back", func() bool { return lab.Answers() })
		for _, id := range all {
			ends(t, lab, id)
		}
		active(t, lab)
		checkNoSharedResources(t, lab)
	})
}
