package slurm_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/internal/lab"
)

func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }

func TestALabRunsBesideAnotherAndLeavesNothingBehind(t *testing.T) {
	// The name is unique, because the last lab with a user removes that user.
	newcomer := fmt.Sprintf("newcomer-%d", os.Getpid())
	for _, kind := range []struct {
		name    string
		options []lab.Option
	}{
		{"plain", []lab.Option{lab.Plain(), lab.NoPlugin()}},
		{"as a site", nil},
	} {
		t.Run(kind.name, func(t *testing.T) {
			var left traces
			all := t
			t.Run("jobs of two users run", func(t *testing.T) {
				beside := lab.TakeSlurm(t, 2, lab.Fast())
				own := lab.Slurm(t, 3, append(kind.options, lab.Users("alice", newcomer), lab.Fast())...)
				for _, each := range []*lab.SlurmLab{own, beside} {
					if got := strings.Fields(each.Run(t, "alice", "sinfo", "-h", "-N", "-p", "main", "-o", "%N")); len(got) != each.Nodes {
						t.Errorf("the lab in %s has the nodes %v, want %d", each.Dir, got, each.Nodes)
					}
				}
				for _, user := range []string{"alice", newcomer} {
					script := "srun -N2 hostname; whoami"
					// Without control groups, a hidden process of a user whom other labs share stays until the last
					// of these labs ends.
					if user == newcomer || exists(filepath.Join(own.Dir, "group")) {
						script += "; cd /; env -i setsid sleep 1000 </dev/null >&/dev/null & disown"
					}
					id := own.Submit(t, user, script, "-N2", "-p", "shared")
					own.Await(t, time.Minute, "the job of "+user+" ends", func() bool {
						return strings.Contains(own.Run(t, user, "scontrol", "show", "job", id), "JobState=COMPLETED")
					})
					if out := own.File(user, "slurm-"+id+".out"); !strings.Contains(out, user) {
						t.Errorf("the job of %s printed %q", user, out)
					}
				}
				own.Submit(t, newcomer, "sleep 1000", "-N2")
				mounted := filepath.Join(own.Dir, "mounted") // as a killed test would leave it
				if err := errors.Join(os.Mkdir(mounted, 0o700), syscall.Mount("none", mounted, "tmpfs", 0, "size=1m")); err != nil {
					t.Fatal(err)
				}
				left = tracesOf(t, own, newcomer)
				left.stranger = stranger(all, left)
				own.Clear(t)
			})
			left.mustBeGone(t)
			if left.stranger == "" || !alive(left.stranger) {
				t.Error("a process of another namespace, which happens to have a directory and a number as the lab's, was ended with it")
			}
		})
	}
}

// stranger starts a process in another namespace, and returns its number. In that namespace a directory and a user
// have the names of the lab's.
func stranger(t *testing.T, like traces) string {
	t.Helper()
	c := exec.Command("unshare", "--pid", "--fork", "--kill-child", "sh", "-c",
		`exec env ACCORDION_LAB="$1" setpriv --reuid "$0" --clear-groups sleep 1000`, like.number, like.dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() })
	children := fmt.Sprintf("/proc/%d/task/%d/children", c.Process.Pid, c.Process.Pid)
	for {
		text, err := os.ReadFile(children)
		if err != nil {
			t.Fatal(err)
		}
		if child := strings.TrimSpace(string(text)); child != "" {
			t.Cleanup(func() { _ = exec.Command("kill", "-KILL", child).Run() })
			return child
		}
	}
}

// traces holds what a lab could leave behind.
type traces struct {
	dir      string
	user     string // a user who is only in this lab
	number   string // the user's ID
	groups   []string
	stranger string // a process that resembles a process of the lab but is not one
}

func tracesOf(t *testing.T, lab *lab.SlurmLab, user string) traces {
	t.Helper()
	found := traces{dir: lab.Dir, user: user, number: lab.Run(t, user, "id", "-u")}
	for _, kind := range []string{"group", "cgroup/*", "world/groups/*"} {
		links, _ := filepath.Glob(filepath.Join(lab.Dir, kind))
		for _, link := range links {
			// If a lab runs in a world, its groups are below the groups of the world, and are visible only from
			// there.
			if group, err := os.Readlink(link); err == nil && exists(group) {
				found.groups = append(found.groups, group)
			}
		}
	}
	if lab.Binds && len(found.groups) < 5 {
		t.Errorf("the lab binds, with the control groups %q: want five controllers", found.groups)
	}
	return found
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !os.IsNotExist(err)
}

func (left traces) mustBeGone(t *testing.T) {
	t.Helper()
	if left.dir == "" {
		t.Skip("needs lab: none was booted")
	}
	for _, path := range append(left.groups, left.dir, "/run/accordion-slurm-lab/"+left.user) {
		if exists(path) {
			t.Errorf("%s is still there", path)
		}
	}
	for _, file := range []string{"/etc/passwd", "/etc/group", "/etc/subuid", "/proc/self/mountinfo"} {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		if strings.Contains(string(text), left.user) || strings.Contains(string(text), left.dir) {
			t.Errorf("%s speaks of the lab in %s, or of its user %s", file, left.dir, left.user)
		}
	}
	if processes := left.processes(); len(processes) > 0 {
		t.Errorf("processes of the lab still live: %s", processes)
	}
}

// processes returns the processes of the lab's own user, and the processes that have a file of the lab open or the
// lab in their environment.
func (left traces) processes() (found []string) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		text, _ := os.ReadFile(path)
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		links, _ := filepath.Glob(filepath.Dir(path) + "/fd/*")
		holds := strings.Contains(string(text), "ACCORDION_LAB="+left.dir+"\x00") || strings.Contains(string(status), "\nUid:\t"+left.number+"\t")
		for _, link := range links {
			to, _ := os.Readlink(link)
			holds = holds || strings.HasPrefix(to, left.dir+"/")
		}
		if holds && filepath.Base(filepath.Dir(path)) != left.stranger && !strings.Contains(string(status), "\nState:\tZ") { // a zombie may remain, because an idle init reaps it late
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

func TestDaemonsAndNodesGoAndComeBack(t *testing.T) {
	lab := lab.TakeSlurm(t, 2, lab.Fast())
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
	if alive(process) {
		t.Errorf("process %s of the job outlived its node", process)
	}
	lab.Do(t, "node-start", "n2")
	lab.Clear(t)
}
