package slurm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// unsatisfiable returns options of jobs that no node of a lab can satisfy, with the plug-in's message for each.
func unsatisfiable(cpus int) map[string]string {
	return map[string]string{
		"--tmp=3000":                         "--tmp=3000: the nodes of partition main have at most 2000 MB",
		"--sockets-per-node=99":              "sockets",
		"--cores-per-socket=99":              "cores on a socket",
		"--threads-per-core=9":               "threads on a core",
		"--ntasks-per-core=9":                "which takes 9 CPUs on a node",
		fmt.Sprintf("--ntasks=%d", cpus+1):   fmt.Sprintf("which take %d CPUs on a node: the nodes of partition main have at most %d CPUs", cpus+1, cpus),
		"--cpus-per-task=64":                 "--cpus-per-task=64",
		"--mem=999G":                         "MB of memory",
		"--gres=gpu:9":                       "have at most 4 of it",
		"--constraint=thin --gres=gpu:1":     "no node of partition main has all that it asks for",
		"--constraint=thin&fat":              "no node of partition main has that",
		"--ntasks-per-node=64 --exclusive":   "64 CPUs on a node",
		"--extra-node-info=9:9:9 --ntasks=1": "",
	}
}

// Without Accordion, Slurm rejects these jobs at submission. If the plug-in has no file of the nodes, the sidecar
// rejects the jobs whose requests it can check. It sets other jobs aside when Slurm refuses to start them.
func TestJobsThatCanNeverStartAreRefusedAndHoldNobodyUp(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "")
	file := filepath.Join(lab.Dir, "etc", "accordion_nodes.lua")
	p := serving(t, lab, fmt.Sprintf("limits = %q", filepath.Join(lab.Dir, "etc", "accordion_limits.lua")))
	lab.Await(t, time.Minute, "the plug-in has the nodes", func() bool { return p.wrote(file) })
	for options, says := range unsatisfiable(lab.CPUs) {
		id, said, err := lab.Sbatch("alice", walkScript("1x20s,2x20s", 2), strings.Fields(options)...)
		if err == nil || !strings.Contains(said, says) || !strings.Contains(said, "Requested node configuration is not available") {
			t.Errorf("%s: %v: job %s, sbatch says %q, want %q", options, err, id, said, says)
		}
	}
	for _, options := range []string{
		fmt.Sprintf("--ntasks-per-core=%d", lab.CPUs), fmt.Sprintf("--ntasks-per-core=%d", lab.CPUs+1), fmt.Sprintf("--ntasks-per-core=%d --cpus-per-task=2", lab.CPUs),
		"--ntasks-per-core=9 --ntasks-per-node=1", "--ntasks-per-core=9 --ntasks-per-socket=1", "--ntasks-per-core=9 --overcommit --ntasks=2",
	} {
		plain, said, refused := lab.Sbatch("alice", "true", strings.Fields("--partition=shared --time=1 "+options)...)
		managed, says, err := lab.Sbatch("alice", walkScript("1x20s,2x20s", 2), strings.Fields(options)...)
		if (refused == nil) != (err == nil) {
			t.Errorf("%s: plain Slurm says %q, the plug-in %q", options, said, says)
		}
		for _, id := range []string{plain, managed} {
			if id != "" {
				lab.Run(t, "alice", "scancel", id)
			}
		}
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var aside []string
	for _, options := range []string{"--sockets-per-node=99", "--cores-per-socket=99", "--threads-per-core=9", fmt.Sprintf("--ntasks=%d", lab.CPUs+1)} {
		aside = append(aside, lab.Submit(t, "alice", walkScript("1x20s,2x20s", 2), options))
	}
	for _, options := range []string{"--cpus-per-task=64", "--tmp=3000"} {
		id := lab.Submit(t, "alice", walkScript("1x20s,2x20s", 2), options)
		lab.Await(t, time.Minute, "job "+id+" ("+options+") is refused with its reason", func() bool {
			shown := runClient(t, lab, "scontrol", "-o", "show", "job", id)
			return strings.Contains(shown, "JobState=CANCELLED") && strings.Contains(shown, "AdminComment=accordion refused this job: ")
		})
		p.awaitExplanation(id, "refused: ")
	}
	for _, id := range aside {
		lab.Await(t, time.Minute, "job "+id+" is sent back twice", func() bool { return len(p.events(id, "sent back")) > 1 })
		p.awaitExplanation(id, "the batch system sent it back", "BadConstraints", "tried again at")
	}
	begin := time.Now()
	other := lab.Submit(t, "bob", "true", fmt.Sprintf("-N%d", lab.Nodes), "-t1")
	lab.Await(t, time.Minute, "bob's job of all nodes begins", func() bool {
		return strings.Contains(runClient(t, lab, "scontrol", "-o", "show", "job", other), "JobState=COMPLET")
	})
	if waited := time.Since(begin); waited > 15*time.Second {
		t.Errorf("bob's job of all nodes ended after %.1f s on an idle cluster", waited.Seconds())
	}
	for _, id := range aside {
		all := p.journal(id)
		if starts := len(ofKind(all, "starting")); starts > 4 || len(all) > 14*starts+4 {
			t.Errorf("job %s was started %d times in a minute, with %d entries in the journal", id, starts, len(all))
		}
		lab.Run(t, "alice", "scancel", id)
	}
	assertClean(t, p)
}
