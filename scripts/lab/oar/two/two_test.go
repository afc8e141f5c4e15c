package two_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
		{"up", "", 2, "how many nodes of OAR, and how many of Slurm"},
		{"up 4", "", 2, "how many nodes of OAR, and how many of Slurm"},
		{"up 4 0", "", 2, "want two numbers of nodes"},
		{"up 4 5 6", "", 2, "want two numbers of nodes"},
		{"up 4 4 --user", "", 2, "--user wants a name"},
		{"up 4 4 --user slurm", "", 2, "not root"},
		{"up 4 4", "TWO_LABS_DIR=relative", 2, "want an absolute path"},
		{"up 4 4", "TWO_LABS_DIR=/tmp/" + strings.Repeat("long", 17), 2, "at most 70 characters"},
		{"up 4 4", "TWO_LABS_SLOT=16", 2, "want a number from 0 to 15"},
		{"down", "TWO_LABS_DIR=/etc", 1, "/etc is not two labs"},
		{"down now", "", 2, "takes no argument"},
		{"serve now", "", 2, "takes no argument"},
		{"serve", "", 1, "no labs in"},
		{"serve-stop --kill", "", 1, "no labs in"},
		{"exec", "", 2, "which command"},
		{"exec --frob", "", 2, "--frob is not known"},
		{"exec -- squeue", "", 1, "no labs in"},
		{"oar", "", 2, "which command of oar-lab"},
		{"oar up 4", "", 2, "up is for both labs together"},
		{"slurm down", "", 2, "down is for both labs together"},
		{"slurm status", "", 1, "no labs in"},
		{"status", "", 1, "no labs in"},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), lab.Tool(t, "two-labs"), strings.Fields(test.arguments)...)
			c.Env = append(os.Environ(), "TWO_LABS_DIR=/var/tmp/accordion-no-such-labs", test.environment)
			out, err := c.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != test.status {
				t.Errorf("it ended with %v, want status %d", err, test.status)
			}
			line := strings.TrimSuffix(string(out), "\n")
			if !strings.HasPrefix(line, "two-labs: ") || !strings.Contains(line, test.says) || strings.Contains(line, "\n") {
				t.Errorf("it says %q, want one line with %q", line, test.says)
			}
		})
	}
}

// forever is the argument of a sleeping process that the lab must end. No other process sleeps for the same time.
var forever = fmt.Sprint(1_000_000_000 + os.Getpid())

// eachOnce is the script of a job that waits for its next step and then prints its nodes once.
const eachOnce = "sleep 8\neval \"$(accordion step)\" || exit\n"

func TestOneSidecarServesAnOARAndASlurmAndNothingIsLeft(t *testing.T) {
	t.Parallel()
	var dir string
	var groups []string
	t.Run("two labs with jobs", func(t *testing.T) {
		labs := lab.Two(t, 4, 3, lab.Users("alice", "bob"))
		dir = labs.Dir
		groups = groupsOf(t, dir)
		labs.Do(t, "status")
		ordinary(t, labs)
		labs.Do(t, "serve")
		labs.Do(t, "status")
		evolving(t, labs)
		labs.Do(t, "serve-stop", "--kill")
		labs.Do(t, "serve")
		if got := labs.Run(t, "root", "accordion", "status", "--cluster", "slurm"); !strings.Contains(got, "Accordion on slurm: no managed jobs") {
			t.Errorf("served anew, status says %q", got)
		}
		submitted := time.Now()
		labs.Sbatch(t, "bob", "exec sleep "+forever)
		labs.Await(t, time.Minute, "slurmctld has saved which jobs have ended", func() bool { // otherwise a killed slurmctld would assume after its restart that these jobs still run
			state, err := os.Stat(filepath.Join(dir, "slurm", "state", "job_state"))
			return err == nil && state.ModTime().After(submitted)
		})
		labs.Do(t, "slurm", "ctl-stop", "--kill")
		if err := labs.Try("status"); err == nil || !strings.Contains(err.Error(), "does not run") {
			t.Errorf("without slurmctld status says %v", err)
		}
		labs.Do(t, "slurm", "ctl-start")
		labs.Do(t, "oar", "node", "Absent", "n3")
		if err := labs.Try("up", "1", "1"); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("two more in their directory: %v", err)
		}
		labs.Oarsub(t, "bob", "sleep "+forever, "-l", "nodes=1,walltime=1:0:0")
		defer func() {
			if t.Failed() {
				t.Logf("%s\n%s\n%s", labs.Run(t, "root", "scontrol", "show", "job"), labs.Run(t, "root", "sinfo", "-N", "-l"), labs.Run(t, "root", "oarstat", "-f")+"\n"+labs.Run(t, "root", "oarnodes", "-s"))
			}
		}()
		labs.Await(t, 2*time.Minute, "a job of each runs that never ends", func() bool {
			out, _, _ := labs.Exec("root", "", "pgrep", "-c", "-x", "-f", "sleep "+forever)
			return out == "2"
		})
	})
	if t.Failed() || dir == "" {
		return
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there", dir)
	}
	for _, group := range groups {
		if _, err := os.Stat(group); !os.IsNotExist(err) {
			t.Errorf("the control group %s is left", group)
		}
	}
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		if command, _ := os.ReadFile("/proc/" + name.Name() + "/cmdline"); string(command) == "sleep\x00"+forever+"\x00" {
			t.Errorf("process %s, of a job, outlived its lab", name.Name())
		}
	}
}

// groupsOf returns the control groups of both labs.
func groupsOf(t *testing.T, dir string) []string {
	t.Helper()
	groups, _ := filepath.Glob("/sys/fs/cgroup/*/" + strings.Replace(filepath.Base(dir), "two-labs", "oar-lab", 1)) // the groups are named after the slot
	links, _ := filepath.Glob(dir + "/slurm/cgroup/*")
	for _, link := range append(links, dir+"/slurm/group") {
		if group, err := os.Readlink(link); err == nil {
			groups = append(groups, group)
		}
	}
	if len(groups) == 0 {
		t.Log("this machine lets labs make no control groups")
	}
	return groups
}

// ordinary runs one job of the same user on each system, in the same directory.
func ordinary(t *testing.T, labs *lab.TwoLabs) {
	t.Helper()
	slurm := labs.Sbatch(t, "alice", "srun sh -c 'whoami; pwd'", "-N2")
	oar := labs.Oarsub(t, "alice", "whoami; pwd", "-l", "nodes=2,walltime=0:1:0")
	for file, want := range map[string]string{
		"slurm-" + slurm + ".out": strings.Repeat("alice\n", 2) + strings.Repeat("/run/lab/home/alice\n", 2),
		"OAR." + oar + ".stdout":  "alice\n/run/lab/home/alice\n",
	} {
		labs.Await(t, 2*time.Minute, "a job has written "+file, func() bool { return len(labs.File("alice", file)) >= len(want) })
		lines := strings.SplitAfter(labs.File("alice", file), "\n")
		for _, line := range strings.SplitAfter(want, "\n") {
			if n := strings.Count(want, line); line != "" && strings.Count(strings.Join(lines, ""), line) != n {
				t.Errorf("%s says %q, want %q %d times", file, lines, line, n)
			}
		}
	}
	labs.Await(t, 2*time.Minute, "both are over", func() bool {
		return labs.Run(t, "root", "squeue", "-h") == "" && labs.SQL(t, "select count(*) from jobs where state <> 'Terminated'") == "0"
	})
}

// evolving makes a job on each system grow at the same time.
func evolving(t *testing.T, labs *lab.TwoLabs) {
	t.Helper()
	slurm := labs.Sbatch(t, "alice", eachOnce+"srun sh -c 'echo on $SLURMD_NODENAME'", "--comment=ep=1x10s,3x20s")
	oar := labs.Oarsub(t, "bob", strings.ReplaceAll(eachOnce, "\n", ";")+"sort -u $OAR_NODEFILE", "-q", "evolve", "-t", "ep=1x10s,3x20s")
	labs.Await(t, 3*time.Minute, "both have grown", func() bool {
		return strings.Count(labs.File("alice", "slurm-"+slurm+".out"), "on n") == 3 && labs.File("bob", "OAR."+oar+".stdout") == "n1\nn2\nn3\n"
	})
	labs.Await(t, 2*time.Minute, "nothing is left of them", func() bool {
		status, _, err := labs.Exec("root", "", "accordion", "status")
		return err == nil && strings.Contains(status, "Accordion on oar: no managed jobs") && strings.Contains(status, "Accordion on slurm: no managed jobs")
	})
}
