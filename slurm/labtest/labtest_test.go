package labtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/slurm/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func TestALabRunsBesideAnotherAndLeavesNothingBehind(t *testing.T) {
	var dir string
	t.Run("jobs of two users run", func(t *testing.T) {
		beside := labtest.Shared(t, 2, labtest.Fast())
		lab := labtest.Up(t, 3, labtest.User("alice"), labtest.User("bob"), labtest.Fast(), labtest.NoPlugin())
		dir = lab.Dir
		for _, each := range []*labtest.Lab{lab, beside} {
			if got := strings.Fields(each.Run(t, "alice", "sinfo", "-h", "-N", "-p", "main", "-o", "%N")); len(got) != each.Nodes {
				t.Errorf("the lab in %s has the nodes %v, want %d", each.Dir, got, each.Nodes)
			}
		}
		for _, user := range []string{"alice", "bob"} {
			id := lab.Submit(t, user, "srun -N2 hostname; whoami; env -i setsid sleep 1000 </dev/null >&/dev/null & disown", "-N2", "-p", "shared")
			lab.Await(t, time.Minute, "the job of "+user+" ends", func() bool {
				return strings.Contains(lab.Run(t, user, "scontrol", "show", "job", id), "JobState=COMPLETED")
			})
			if out := lab.File(user, "slurm-"+id+".out"); !strings.Contains(out, user) {
				t.Errorf("the job of %s printed %q", user, out)
			}
		}
		lab.Submit(t, "bob", "sleep 1000", "-N2")
		lab.Clear(t)
	})
	if t.Failed() || dir == "" {
		return
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there", dir)
	}
	if left := processesOf(dir); len(left) > 0 {
		t.Errorf("processes of the lab still live: %s", left)
	}
}

// processesOf are those that hold a file below dir open, or have it in their environment.
func processesOf(dir string) []string {
	var found []string
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		text, _ := os.ReadFile(path)
		links, _ := filepath.Glob(filepath.Dir(path) + "/fd/*")
		holds := strings.Contains(string(text), "ACCORDION_LAB="+dir+"\x00")
		for _, link := range links {
			to, _ := os.Readlink(link)
			holds = holds || strings.HasPrefix(to, dir+"/")
		}
		if holds {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

func TestDaemonsAndNodesGoAndComeBack(t *testing.T) {
	lab := labtest.Shared(t, 2, labtest.Fast())
	lab.Clear(t)
	id := lab.Submit(t, "alice", "echo $$; exec sleep 1000", "-N1", "-w", "n2", "-p", "shared")
	lab.Await(t, time.Minute, "the job runs", func() bool { return lab.File("alice", "slurm-"+id+".out") != "" })
	process := strings.TrimSpace(lab.File("alice", "slurm-"+id+".out"))
	lab.Do(t, "dbd-stop")
	lab.Do(t, "ctl-stop")
	lab.Do(t, "dbd-start")
	lab.Do(t, "ctl-start")
	if got := lab.Run(t, "alice", "squeue", "-h", "-j", id, "-o", "%t"); got != "R" {
		t.Errorf("after a restart of slurmctld the job is %q, want R", got)
	}
	lab.Do(t, "node-kill", "n2")
	// A dead process may wait for an idle init, but it has no command line any more.
	if command, err := os.ReadFile("/proc/" + process + "/cmdline"); err == nil && len(command) > 0 {
		t.Errorf("process %s of the job outlived its node: %q", process, command)
	}
	lab.Do(t, "node-start", "n2")
	lab.Clear(t)
}
