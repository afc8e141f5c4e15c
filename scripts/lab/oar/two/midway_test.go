package two_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// The faults in this file happen between the decision to start an application and the message that lets its parts
// pass the barrier.

func TestAFaultWhileAnApplicationIsPreparedPutsItsStartOff(t *testing.T) {
	tell(t,
		story{"OAR refuses", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a, free := behindOAR(t, labs, name)
			over := locked(t, labs)
			free()
			a.logged(t, "what=abort", ": oar: ")
			a.unseen(t)
			over()
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
		story{"the sidecar is killed", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a, free := behindOAR(t, labs, name)
			second := onBoth(t, labs, name+"-second", "1")
			second.said(t, "starts ", 1)
			over := locked(t, labs)
			free()
			a.logged(t, "accordion.slurm", "is prepared")
			labs.Do(t, "serve-stop", "--kill")
			over()
			a.unseen(t)
			labs.Do(t, "serve")
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
			second.ends(t, 4*time.Minute, "0")
			if first, next := a.said(t, "all parts run", 1), second.said(t, "started on", 1); first > next {
				t.Errorf("it was let through at %.3f, and who came behind it started at %.3f", first, next)
			}
		}},
		story{"slurmctld is restarted", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a, free := behindOAR(t, labs, name)
			over := locked(t, labs)
			free()
			a.logged(t, "accordion.slurm", "is prepared")
			labs.Do(t, "slurm", "ctl-stop")
			over()
			labs.Do(t, "slurm", "ctl-start")
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
	)
}

func TestAFaultWhileTheFirstPartsComeUpPutsTheStartOff(t *testing.T) {
	tell(t,
		story{"the sidecar is killed between two ready", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a := launch(t, labs, name, "exec:./two", `[ -z "$SLURM_JOB_ID" ] || until [ -e come ]; do sleep 0.1; done`, "sleep 1")
			a.said(t, "started on", 1)
			a.logged(t, "accordion.slurm", "runs")
			a.logged(t, "accordion.oar", "runs")
			labs.Do(t, "serve-stop", "--kill")
			a.unseen(t)
			labs.Do(t, "serve")
			a.write(t, "come", "")
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, 5) // at most 5 s apart, because one part may receive the message only from the next sidecar
		}},
		story{"a node of Slurm is lost", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a := launch(t, labs, name, "exec:./two", `[ -z "$SLURM_JOB_ID" ] || [ -e once ] || { touch once; sleep 60; }`, "sleep 1")
			a.said(t, "started on", 1)
			a.logged(t, "accordion.slurm", "runs")
			labs.Run(t, "root", "scontrol", "update", "NodeName=n1", "State=DOWN", "Reason=story")
			a.said(t, "is lost", 1)
			a.unseen(t)
			_, _, _ = labs.Exec("root", "", "scontrol", "update", "NodeName=n1", "State=RESUME") // the node may already be usable again by itself
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
	)
}

func TestAStartOnANodeThatDoesNotAnswerIsPutOff(t *testing.T) {
	tell(t,
		story{"a node of OAR does not answer at the start", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a, free := behindSlurm(t, labs, name)
			labs.Do(t, "oar", "kill-node", "n1")
			free()
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
			if got := labs.SQL(t, "select distinct state from resources where network_address = 'n1'"); got != "Suspected" {
				t.Errorf("n1 is %s in OAR: its dead node was not asked for", got)
			}
			labs.Do(t, "oar", "boot-node", "n1")
			labs.Do(t, "oar", "node", "Alive", "n1")
		}},
	)
}

func TestAStartThatALimitKeepsFromHappeningIsPutOff(t *testing.T) {
	tell(t,
		story{"a limit keeps a part from starting", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a, free := behindSlurm(t, labs, name)
			labs.Run(t, "root", "sacctmgr", "-i", "modify", "user", "alice", "set", "GrpTRES=node=1")
			free()
			a.logged(t, "what=abort")
			a.unseen(t)
			labs.Run(t, "root", "sacctmgr", "-i", "modify", "user", "alice", "set", "GrpTRES=node=-1")
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
	)
}

// behindSlurm starts an application that waits for Slurm nodes until the returned function is called.
func behindSlurm(t *testing.T, labs *lab.TwoLabs, name string) (a *application, free func()) {
	t.Helper()
	free = fill(t, labs)
	a = onBoth(t, labs, name, "1")
	a.said(t, "starts ", 1)
	return a, free
}

// behindOAR starts an application that waits for OAR nodes until the returned function is called. OAR's nodes are
// free as soon as their job is deleted.
func behindOAR(t *testing.T, labs *lab.TwoLabs, name string) (a *application, free func()) {
	t.Helper()
	id := labs.Oarsub(t, "bob", "sleep 300", "-l", fmt.Sprintf("nodes=%d,walltime=0:5:0", labs.OAR))
	labs.Await(t, time.Minute, "OAR is full", func() bool { return labs.SQL(t, "select state from jobs where job_id = "+id) == "Running" })
	a = onBoth(t, labs, name, "1")
	a.said(t, "starts ", 1)
	return a, func() {
		t.Helper()
		labs.Run(t, "bob", "oardel", id)
	}
}

// locked prevents writes of the sizes and limits of OAR's jobs until the returned function is called. So no part
// can be prepared on OAR. The sidecar waits only some seconds for a lock. OAR itself writes neither sizes nor
// limits. It can still end jobs, and their nodes become free.
func locked(t *testing.T, labs *lab.TwoLabs) (over func()) {
	t.Helper()
	labs.SQL(t, `create or replace function story() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
		create trigger story before update of moldable_walltime on moldable_job_descriptions for each row execute function story()`)
	ended := make(chan error, 1)
	go func() {
		ended <- labs.Try("oar", "sql", "begin; select pg_advisory_xact_lock(1); select pg_sleep(170); commit")
	}()
	const holder = "from pg_stat_activity where query like '%pg_sleep(170)%' and pid <> pg_backend_pid()"
	labs.Await(t, 30*time.Second, "sizes are locked", func() bool { return labs.SQL(t, "select count(*) "+holder+" and wait_event = 'PgSleep'") == "1" })
	return func() {
		t.Helper()
		labs.SQL(t, "select pg_terminate_backend(pid) "+holder)
		if err := <-ended; err == nil {
			t.Error("sizes could be written again too early")
		}
		labs.SQL(t, "drop trigger story on moldable_job_descriptions")
	}
}

// logged waits until the sidecar's log has a line with all of these texts since the launch.
func (a *application) logged(t *testing.T, texts ...string) {
	t.Helper()
	said := ""
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		said = a.log(t)[a.began:]
		for line := range strings.Lines(said) {
			if !slices.ContainsFunc(texts, func(want string) bool { return !strings.Contains(line, want) }) {
				return
			}
		}
	}
	t.Fatalf("waited three minutes in vain for a line with %q in the sidecar's log, which says:\n%s", texts, said)
}

// log returns the sidecar's log.
func (a *application) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.Dir, "log", "accordion.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
