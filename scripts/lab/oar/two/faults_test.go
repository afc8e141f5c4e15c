package two_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// shortly is a section [delegate] with short timeouts, for stories that wait for a timeout. OAR pauses 5 s between
// two passes.
const shortly = "bring_up = \"20s\"\ngrace = \"8s\"\nanswer = \"10s\""

// A `story` is an event that happens to an application, with a name. Within two minutes after it, both clusters
// must be as before.
type story struct {
	name string
	run  func(t *testing.T, labs *lab.TwoLabs, name string)
}

// tell runs stories one after the other, in two labs of their own.
func tell(t *testing.T, stories ...story) {
	t.Helper()
	t.Parallel()
	labs := lab.Two(t, 3, 3, lab.Users("alice", "bob"), lab.Delegate(shortly))
	labs.Do(t, "serve")
	for _, s := range stories {
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			s.run(t, labs, strings.ReplaceAll(s.name, " ", "-"))
			settled(t, labs)
		})
		if t.Failed() {
			labs.Do(t, "status") // if a lab is broken, stop here; otherwise one fault would cause many failures
		}
	}
}

// onBoth launches an application that needs two hosts of each cluster for at most a minute. After the barrier its
// parts sleep for `sleeps` seconds.
func onBoth(t *testing.T, labs *lab.TwoLabs, name, sleeps string) *application {
	t.Helper()
	return launch(t, labs, name, "exec:./two", "", "sleep "+sleeps)
}

func TestASidecarThatIsKilledLosesNoApplication(t *testing.T) {
	killed := func(t *testing.T, labs *lab.TwoLabs) {
		t.Helper()
		labs.Do(t, "serve-stop", "--kill")
		labs.Do(t, "serve")
	}
	tell(t,
		story{"while it waits", func(t *testing.T, labs *lab.TwoLabs, name string) {
			free := fill(t, labs)
			a := onBoth(t, labs, name, "1")
			a.said(t, "starts ", 1)
			killed(t, labs)
			a.said(t, "is there again", 1)
			a.unseen(t)
			free()
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
		story{"after commit", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a := onBoth(t, labs, name, "1")
			a.said(t, "started on", 1)
			killed(t, labs)
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
		story{"after go", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a := onBoth(t, labs, name, "10")
			a.said(t, "all parts run", 1)
			killed(t, labs)
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, 5) // at most 5 s apart, because one part may receive the message only from the next sidecar
		}},
		story{"while slurmctld is restarted", func(t *testing.T, labs *lab.TwoLabs, name string) {
			free := fill(t, labs)
			a := onBoth(t, labs, name, "1")
			a.said(t, "starts ", 1)
			labs.Do(t, "slurm", "ctl-stop")
			labs.Do(t, "slurm", "ctl-start")
			free()
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
	)
}

func TestNoPartOfAnApplicationRunsAlone(t *testing.T) {
	tell(t,
		story{"a part that is not ready in time", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a := launch(t, labs, name, "exec:./two", `[ -z "$SLURM_JOB_ID" ] || [ -e late ] || { touch late; sleep 300; }`, "sleep 1")
			a.said(t, "is given up", 1)
			a.unseen(t)
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
		story{"scancel of a part before go", cancelledBefore("slurm", "scancel", "OAR_JOB_ID")},
		story{"oardel of a part before go", cancelledBefore("oar", "oardel", "SLURM_JOB_ID")},
	)
}

func TestAnApplicationThatLosesAPartEnds(t *testing.T) {
	tell(t,
		story{"scancel of a part after go", cancelled("slurm", "scancel", false)},
		story{"oardel of a part after go", cancelled("oar", "oardel", false)},
		story{"oardel of a part while no sidecar runs", cancelled("oar", "oardel", true)},
	)
}

// cancelledBefore returns a story in which one part of an application is canceled before the other part is ready.
// `other` is an environment variable of the other part's job. The application is submitted again and succeeds.
func cancelledBefore(cluster, command, other string) func(*testing.T, *lab.TwoLabs, string) {
	return func(t *testing.T, labs *lab.TwoLabs, name string) {
		a := launch(t, labs, name, "exec:./two", fmt.Sprintf(`[ -z "$%s" ] || until [ -e %s.cancelled ]; do sleep .1; done`, other, name), "sleep 1")
		a.said(t, "started on", 1)
		id := a.job(t, cluster)
		labs.Run(t, "alice", command, id)
		labs.Await(t, time.Minute, cluster+" has ended it", func() bool {
			if cluster == "slurm" {
				state, _, err := labs.Exec("root", "", "squeue", "-h", "-o%T", "-j", id)
				return err == nil && strings.TrimSpace(state) == "" // the job becomes COMPLETING before its processes receive the signal
			}
			return labs.SQL(t, "select state from jobs where state in ('Error', 'Terminated') and job_id = "+id) != ""
		})
		a.write(t, name+".cancelled", "")
		a.ends(t, 4*time.Minute, "0")
		a.ran(t, .2)
	}
}

// cancelled returns a story in which one part of an application is canceled while all parts run. The application
// ends and reports the reason.
func cancelled(cluster, command string, unseen bool) func(*testing.T, *lab.TwoLabs, string) {
	return func(t *testing.T, labs *lab.TwoLabs, name string) {
		a := onBoth(t, labs, name, "300")
		a.said(t, "all parts run", 1)
		labs.Await(t, time.Minute, "both parts are behind the barrier", func() bool { _, parts := a.lines(t); return len(parts) == 2 })
		if unseen {
			labs.Do(t, "serve-stop", "--kill")
		}
		labs.Run(t, "alice", command, a.job(t, cluster))
		if unseen {
			labs.Await(t, time.Minute, "OAR has ended it", func() bool {
				return labs.SQL(t, "select state from jobs where state = 'Error' and job_id = "+a.job(t, cluster)) != ""
			})
			labs.Do(t, "serve")
		}
		a.said(t, "a part of it is lost", 1)
		a.ends(t, 4*time.Minute, "1")
		a.ran(t, .2)
	}
}

func TestAnApplicationThatNobodySpeaksForOrStartsComesToItsEnd(t *testing.T) {
	tell(t,
		story{"while it waits", func(t *testing.T, labs *lab.TwoLabs, name string) {
			free := fill(t, labs)
			a := onBoth(t, labs, name, "1")
			a.said(t, "starts ", 1)
			a.kill(t)
			labs.Await(t, 30*time.Second, "its jobs are gone", func() bool { return labs.Run(t, "root", "squeue", "-h", "-u", "alice") == "" })
			free()
			a.unseen(t)
		}},
		story{"between start and go", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a := onBoth(t, labs, name, "300")
			a.said(t, "started on", 1)
			a.kill(t)
			labs.Await(t, 70*time.Second, "its jobs are gone", func() bool { return labs.Run(t, "root", "squeue", "-h", "-u", "alice") == "" })
			if a.read(".lines") != "" { // the user's code has run if both clusters were up within the grace period
				a.ran(t, .2)
			}
		}},
		story{"a release that never starts", func(t *testing.T, labs *lab.TwoLabs, name string) {
			a := onBoth(t, labs, name, "20") // a job that has ended cannot be held
			a.said(t, "started on", 1)
			labs.Run(t, "root", "scontrol", "hold", a.job(t, "slurm"))
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
		story{"its owner releases it", func(t *testing.T, labs *lab.TwoLabs, name string) {
			free := fill(t, labs)
			a := onBoth(t, labs, name, "1")
			a.said(t, "starts ", 1)
			_, _, _ = labs.Exec("alice", "", "scontrol", "release", a.job(t, "slurm"))
			_, _, _ = labs.Exec("alice", "", "oarresume", a.job(t, "oar"))
			time.Sleep(3 * time.Second)
			a.unseen(t)
			free()
			a.ends(t, 4*time.Minute, "0")
			a.ran(t, .2)
		}},
	)
}

// If slurmctld is stopped while it waits for a job's database index, it never receives the index, and refuses every
// change of that job. It waits for the index some seconds after the submission. OAR is full until then, so that the
// application does not start earlier.
func TestAPartThatSlurmDoesNotLetBeChangedAnyMoreIsReplaced(t *testing.T) {
	tell(t, story{"a number that slurmctld never learns", func(t *testing.T, labs *lab.TwoLabs, name string) {
		slurmdbd := func(signal string) {
			labs.Run(t, "root", "sh", "-c", "kill -"+signal+" $(cat "+filepath.Join(labs.Dir, "slurm", "pid", "slurmdbd.pid")+")")
		}
		slurmdbd("STOP")
		a, free := behindOAR(t, labs, name)
		lost := a.job(t, "slurm")
		labs.Await(t, time.Minute, "slurmctld waits for the job's number", func() bool {
			_, said, err := labs.Exec("root", "", "scontrol", "update", "JobId="+lost, "JobName=x")
			return err != nil && strings.Contains(said, "DB index is being set")
		})
		labs.AwaitSaved(t) // otherwise slurmctld would not know after its restart that it has requested the index, and would request it again
		labs.Do(t, "slurm", "ctl-stop", "--kill")
		slurmdbd("CONT")
		labs.Do(t, "slurm", "ctl-start")
		a.unseen(t)
		free()
		a.ends(t, 4*time.Minute, "0")
		a.ran(t, .2)
		if a.job(t, "slurm") == lost {
			t.Error("slurmctld learned the job's number after its start, and the job was not replaced")
		}
		a.logged(t, "the batch system does not let this job be changed")
	}})
}
