package oar_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/internal/testenv"
)

func TestAWrongCommandLineIsRefusedInOneLine(t *testing.T) {
	testenv.Needs(t, testenv.OAR)
	for _, test := range []struct {
		arguments, environment string
		status                 int
		says                   string
	}{
		{"frob", "", 2, "frob is no command"},
		{"up", "", 2, "how many nodes"},
		{"up 0", "", 2, "one number of nodes"},
		{"up 3000", "", 2, "one number of nodes"},
		{"up 4 5", "", 2, "one number of nodes"},
		{"up 4 --user", "", 2, "--user wants a value"},
		{"up 4 --user Bob;id", "", 2, "want a name of small letters"},
		{"up 4 --user root", "", 2, "not root"},
		{"up 4 --cores none", "", 2, "want a number from 1"},
		{"up 4 --db oracle", "", 2, "want postgresql or mariadb"},
		{"up 4 --release 3", "", 2, "want 2.5 or 2.6"},
		{"up 4 --release 2.6 --db mariadb", "", 2, "OAR 2.6 loses the requests of jobs with MariaDB"},
		{"up 4", "OAR_LAB_DIR=relative", 2, "want an absolute path"},
		{"up 4", "OAR_LAB_DIR=/tmp/" + strings.Repeat("long", 30), 2, "at most 80 characters"},
		{"up 4", "OAR_LAB_SLOT=16", 2, "want a number from 0 to 15"},
		{"down", "OAR_LAB_DIR=/etc", 1, "/etc is not a lab"},
		{"down", "OAR_LAB_DIR=/", 2, "want an absolute path"},
		{"down now", "", 2, "takes no argument"},
		{"serve now", "", 2, "takes no argument"},
		{"serve", "", 1, "no lab in"},
		{"serve-stop --kill", "", 1, "no lab in"},
		{"exec", "", 2, "which command"},
		{"exec -- oarstat", "", 1, "no lab in"},
		{"status", "", 1, "no lab in"},
		{"node Absent n1", "", 1, "no lab in"},
		{"kill-node n1", "", 1, "no lab in"},
		{"boot-node n1", "", 1, "no lab in"},
		{"fetch 3", "", 2, "want 2.5 or 2.6"},
		{"sql select", "", 1, "no lab in"},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), lab.Tool(t, "oar-lab"), strings.Fields(test.arguments)...)
			c.Env = append(os.Environ(), "OAR_LAB_DIR=/var/tmp/accordion-no-such-oar-lab", test.environment)
			out, err := c.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != test.status {
				t.Errorf("it ended with %v, want status %d", err, test.status)
			}
			line := strings.TrimSuffix(string(out), "\n")
			if !strings.HasPrefix(line, "oar-lab: ") || !strings.Contains(line, test.says) || strings.Contains(line, "\n") {
				t.Errorf("it says %q, want one line with %q", line, test.says)
			}
		})
	}
}

// forever is the argument of a sleeping process that the lab must end. No other process sleeps for the same time.
var forever = fmt.Sprint(1_000_000_000 + os.Getpid())

// besideAnother boots a second lab and checks that neither lab sees the users, processes or jobs of the other.
func besideAnother(t *testing.T, first *lab.OARLab) {
	t.Helper()
	second := lab.OAR(t, 1, lab.Database(lab.MariaDB))
	if second.Dir == first.Dir {
		t.Fatalf("both labs are in %s", first.Dir)
	}
	for _, lab := range []*lab.OARLab{first, second} {
		if got, want := lab.Run(t, "alice", "id", "-u"), fmt.Sprint(lab.UID(0)); got != want {
			t.Errorf("alice of %s has the number %s, want %s", lab.Dir, got, want)
		}
	}
	if first.UID(0) == second.UID(0) {
		t.Errorf("alice has the number %d in both labs", first.UID(0))
	}
	if got := second.SQL(t, "select count(*) from jobs"); got != "0" {
		t.Errorf("the second lab has %s jobs of the first", got)
	}
	if out, _, _ := second.Exec("root", "pgrep", "-c", "-f", "sleep "+forever); out != "0" {
		t.Errorf("the second lab sees %s processes of the first's job", out)
	}
	id := second.Submit(t, "alice", "whoami", "-l", "nodes=1,walltime=0:1:0")
	second.Await(t, 2*time.Minute, "the second lab's job ends", func() bool { return second.State(t, id) == "Terminated" })
	if out := second.Run(t, "alice", "cat", "OAR."+id+".stdout"); out != "alice" {
		t.Errorf("the second lab's job printed %q", out)
	}
}

func TestALabChangesNothingOfTheMachineAndLeavesNothingBehind(t *testing.T) {
	kept := []string{"/etc/oar/oar.conf", "/etc/hosts", "/etc/passwd"}
	before := map[string]string{}
	for _, file := range kept {
		before[file] = ofTheMachine(file)
	}
	shared, _ := filepath.Glob("/dev/shm/PostgreSQL.*")
	var dir, process string
	groups := ""
	t.Run("a lab with jobs", func(t *testing.T) {
		lab := lab.OAR(t, 3, lab.Users("alice", "bob"))
		dir = lab.Dir
		groups = filepath.Base(dir) // the groups and the folder are both named after the slot
		if made, _ := filepath.Glob("/sys/fs/cgroup/*/" + groups); lab.Without == "" && len(made) == 0 {
			t.Errorf("the lab has no control groups %s", groups)
		}
		if got := lab.SQL(t, "select count(distinct network_address), min(state) from resources"); got != "3|Alive" {
			t.Errorf("the lab has %q, want 3|Alive", got)
		}
		for _, user := range []string{"alice", "bob"} {
			id := lab.Submit(t, user, "whoami", "-l", "nodes=2,walltime=0:1:0")
			lab.Await(t, 2*time.Minute, "the job of "+user+" ends", func() bool { return lab.State(t, id) == "Terminated" })
			if out := lab.Run(t, user, "cat", "OAR."+id+".stdout"); out != user {
				t.Errorf("the job of %s printed %q", user, out)
			}
		}
		long := lab.Submit(t, "bob", "echo $$ >pid; exec sleep "+forever, "-l", "nodes=1,walltime=10:0:0")
		lab.Await(t, 2*time.Minute, "the long job runs", func() bool { _, _, err := lab.Exec("bob", "test", "-s", "pid"); return err == nil })
		process = lab.Run(t, "bob", "cat", "pid")
		lab.Do(t, "kill-almighty")
		lab.Do(t, "status")
		if got := lab.State(t, long); got != "Running" {
			t.Errorf("after the server's death the long job is %s, want Running", got)
		}
		lab.Do(t, "node", "Absent", "n3")
		if got := lab.SQL(t, "select state from resources where network_address = 'n3'"); got != "Absent" {
			t.Errorf("n3 is %s, want Absent", got)
		}
		nodesOfTheirOwn(t, lab)
		if err := lab.Try("up", "2"); err == nil || !strings.Contains(err.Error(), "one in a directory") {
			t.Errorf("a second lab in its directory: %v; want that there can be one", err)
		}
		besideAnother(t, lab)
	})
	if t.Failed() || dir == "" {
		return
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there", dir)
	}
	for _, file := range kept {
		if now := ofTheMachine(file); now != before[file] {
			t.Errorf("%s has changed from\n%s\nto\n%s", file, before[file], now)
		}
	}
	if left, _ := filepath.Glob("/sys/fs/cgroup/*/" + groups); len(left) > 0 {
		t.Errorf("control groups are left: %q", left)
	}
	if now, _ := filepath.Glob("/dev/shm/PostgreSQL.*"); !slices.Equal(now, shared) {
		t.Errorf("shared memory is left: %q, and before %q", now, shared)
	}
	if process == "" {
		t.Error("the long job had no process")
	}
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		if command, _ := os.ReadFile("/proc/" + name.Name() + "/cmdline"); string(command) == "sleep\x00"+forever+"\x00" {
			t.Errorf("process %s, of a job, outlived its lab", name.Name())
		}
	}
}

// ofTheMachine returns the lines of a file, without those about the users of Slurm's labs. These users are added
// and removed at the same time.
func ofTheMachine(file string) string {
	text, _ := os.ReadFile(file)
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, ":Accordion slurm-lab:") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// Each node has its own name, processes and temporary files. It loses processes and files when its power is cut.
func nodesOfTheirOwn(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	look := func(node string) string {
		t.Helper()
		out, errs, err := lab.On(node, "root", "sh", "-c", "hostname; ls /tmp; pgrep -c -x sleep; true")
		if err != nil {
			t.Fatalf("%s: %v: %s", node, err, errs)
		}
		return strings.ReplaceAll(out, "\n", " ")
	}
	if _, errs, err := lab.On("n2", "root", "sh", "-c", "touch /tmp/here; setsid sleep "+forever+" </dev/null >/dev/null 2>&1 &"); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	lab.Await(t, time.Minute, "n2 has a file and a process", func() bool { return look("n2") == "n2 here 1" })
	if n3 := look("n3"); n3 != "n3 0" {
		t.Errorf("after a file was made on n2, and a process began there, n3 says %q", n3)
	}
	lab.Do(t, "kill-node", "n2")
	if err := lab.Try("status"); err == nil || !strings.Contains(err.Error(), "2 of 3 nodes run") {
		t.Errorf("with a dead node status says %v", err)
	}
	lab.Do(t, "boot-node", "n2")
	lab.Do(t, "status")
	if n2 := look("n2"); n2 != "n2 0" {
		t.Errorf("booted again, n2 says %q", n2)
	}
}
