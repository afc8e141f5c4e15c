package slurm_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// The tests of the faults_ files break a real Slurm under a real sidecar. Each checks what users see, and that
// nothing is left behind. The tests use their own labs and run in parallel.

// faultLab returns a lab for one test, with a Slurm that schedules without delays.
func faultLab(t *testing.T, nodes int, more ...lab.Option) *lab.SlurmLab {
	t.Helper()
	return lab.Slurm(t, nodes, append([]lab.Option{lab.Users("alice", "bob"), lab.Fast()}, more...)...)
}

// tryClient runs a client program as root. It returns "" if the program fails, as it may while its daemon is down.
func tryClient(lab *lab.SlurmLab, command ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Env, c.Dir = lab.Env(), lab.Dir
	out, err := c.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// stepScript returns a script that prints its number of nodes at the beginning of each step. Each step lasts the
// given seconds.
func stepScript(steps, seconds int) string {
	return stepScriptEnding(steps, seconds, fmt.Sprintf("sleep %d", seconds))
}

// stepScriptEnding returns a script like stepScript's, with the given shell text as its last step.
func stepScriptEnding(steps, seconds int, last string) string {
	var b strings.Builder
	b.WriteString("say() { echo \"step ${ACCORDION_STEP:-1} on $SLURM_NNODES\"; }\nsay\n")
	for range steps - 1 {
		fmt.Fprintf(&b, "sleep %d\neval \"$(accordion step)\" || { echo \"step ended with $?\"; exit 1; }\nsay\n", seconds)
	}
	return b.String() + last + "\necho done\n"
}

// submitEvolving submits stepScript's script as alice, with a profile of these sizes. Each step of the profile is a
// second longer than the work in it.
func submitEvolving(t *testing.T, lab *lab.SlurmLab, seconds int, sizes []int, options ...string) string {
	t.Helper()
	var ep []string
	for _, n := range sizes {
		ep = append(ep, fmt.Sprintf("%dx%ds", n, seconds))
	}
	return lab.Submit(t, "alice", "#!/bin/bash\n#EP "+strings.Join(ep, ",")+"\n"+stepScript(len(sizes), seconds-1), options...)
}

// stepOutput returns the output of stepScript's script so far, on one line.
func stepOutput(lab *lab.SlurmLab, job string) string {
	var all []string
	for line := range strings.Lines(lab.File("alice", "slurm-"+job+".out")) {
		if !strings.Contains(line, "accordion: ") { // a line of Accordion's own, printed by the shim or through Slurm
			all = append(all, strings.TrimSpace(line))
		}
	}
	return strings.Join(all, " ")
}

// awaitScriptBegun waits until stepScript's script has begun. Slurm reports a job as running before that, and
// messages sent to the job until then are lost.
func awaitScriptBegun(t *testing.T, lab *lab.SlurmLab, job string) {
	t.Helper()
	lab.Await(t, time.Minute, "the script of job "+job+" has begun", func() bool { return stepOutput(lab, job) != "" })
}

// expectedOutput returns the complete output of stepScript's script.
func expectedOutput(sizes ...int) string {
	var b strings.Builder
	for i, n := range sizes {
		fmt.Fprintf(&b, "step %d on %d ", i+1, n)
	}
	return b.String() + "done"
}

// awaitEnded waits until none of the jobs is pending, running or completing.
func awaitEnded(t *testing.T, lab *lab.SlurmLab, patience time.Duration, jobs ...string) {
	t.Helper()
	lab.Await(t, patience, fmt.Sprintf("jobs %v have ended", jobs), func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		c := exec.CommandContext(ctx, "squeue", "-h", "-a", "-o", "%A")
		c.Env = lab.Env()
		out, err := c.Output()
		return err == nil && !slices.ContainsFunc(strings.Fields(string(out)), func(id string) bool { return slices.Contains(jobs, id) })
	})
}

// heldNodes returns the number of the job's nodes in Slurm, and their list.
func heldNodes(lab *lab.SlurmLab, job string) string {
	return tryClient(lab, "squeue", "-h", "-j", job, "-o", "%D %N")
}

// awaitNodesKnown waits until slurmctld knows every node again, because nodes are UNKNOWN for some seconds after
// slurmctld starts.
func awaitNodesKnown(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	lab.Await(t, time.Minute, "slurmctld knows its nodes", func() bool {
		nodes := tryClient(lab, "scontrol", "-o", "show", "node")
		return nodes != "" && !strings.Contains(nodes, "State=UNKNOWN")
	})
}

// A gate stops one call of the sidecar to Slurm, before or after it is carried out, until the gate is opened.
type gate struct {
	t   *testing.T
	lab *lab.SlurmLab
	*clients
}

// set stops the next call that matches the shell pattern.
func (g *gate) set(when, pattern string) {
	g.t.Helper()
	if err := os.RemoveAll(filepath.Join(g.dir, "stopped")); err != nil {
		g.t.Fatal(err)
	}
	act := "wait_open"
	if when == "after" {
		act = `"$real" "$@"; status=$?; wait_open; exit $status`
	}
	g.hook(fmt.Sprintf(`wait_open() { echo "$name $*" >"$here/stopped/call"; until [ -e "$here/stopped/open" ]; do sleep 0.05; done; }
case "$name $*" in
%s) if mkdir "$here/stopped" 2>/dev/null; then %s; fi ;;
esac`, pattern, act))
}

// await waits until a call is stopped.
func (g *gate) await(what string) {
	g.t.Helper()
	g.lab.Await(g.t, 2*time.Minute, "the sidecar comes to "+what, func() bool {
		_, err := os.Stat(filepath.Join(g.dir, "stopped", "call"))
		return err == nil
	})
}

// open resumes the call, and lets all later calls pass.
func (g *gate) open() {
	g.t.Helper()
	g.hook(":")
	if err := os.WriteFile(filepath.Join(g.dir, "stopped", "open"), nil, 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// awaitAccounted waits until Slurm's accounting has every job. A slurmctld that stops while it waits for the
// database's id of a job never learns it, and refuses every later change of that job; another test covers that.
func awaitAccounted(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	lab.Await(t, time.Minute, "accounting has every job", everySecond(func() bool {
		// sacct does not print held jobs.
		known := strings.Fields(tryClient(lab, "mariadb", "--no-defaults", "--socket="+filepath.Join(lab.Dir, "db", "socket"), "--user=root",
			"--skip-column-names", "--execute=select id_job from slurm_acct_db.lab_job_table"))
		there := strings.Fields(tryClient(lab, "squeue", "-h", "-a", "-o", "%A"))
		return len(there) > 0 && !slices.ContainsFunc(there, func(id string) bool { return !slices.Contains(known, id) })
	}))
}

// noNodeInTwoJobs checks that no reading of the watcher has a node in two jobs.
func (w *watcher) noNodeInTwoJobs(t *testing.T) {
	t.Helper()
	w.stop()
	<-w.ended
	held := 0
	for _, l := range w.readings {
		for node, holders := range l.holders {
			if held++; len(strings.Fields(holders)) > 1 {
				t.Errorf("at %s node %s was in the jobs %s", l.begun.Format(time.TimeOnly), node, holders)
			}
		}
	}
	if held == 0 {
		t.Error("no job was ever seen on a node: nothing was judged")
	}
}
