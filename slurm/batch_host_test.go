package slurm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/slurm"
)

// registerNode makes the slurmd of a node report its jobs to slurmctld, as it does from time to time.
func registerNode(t *testing.T, lab *lab.SlurmLab, node string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(lab.Dir, "pid", node+".pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGHUP)
	}
	if err != nil {
		t.Fatalf("the slurmd of %s: %v", node, err)
	}
}

// When slurmctld restarts or reads its configuration again, it assumes that a job's script runs on the job's first
// node, which is wrong for some jobs that have grown (22.05). If such a job releases its first node, Slurm ends the
// script, and the job continues without a script.
func TestAJobKeepsTheNodeOfItsScriptWhenSlurmTakesAnotherForIt(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	p := serving(t, lab, "[early]\nadvance = true")
	last := fmt.Sprintf("n%d", lab.Nodes)
	// While this reservation exists, the job can get only the last node. Later it grows by nodes with lower names.
	runClient(t, lab, "scontrol", "create", "reservation", "ReservationName=others", "StartTime=now", fmt.Sprintf("EndTime=uts%d", time.Now().Unix()+50),
		"Users=root", fmt.Sprintf("Nodes=n[1-%d]", lab.Nodes-1))
	lab.Run(t, "alice", "rm", "-f", "forgotten") // of an earlier run of the test
	job := lab.Submit(t, "alice", printShellState+`say one 0; sleep 12; eval "$(accordion step)"; say three $?; until [ -e forgotten ]; do sleep 0.1; done
eval "$(accordion step)"; say two $?; eval "$(accordion step)"; say both $?; echo "on $SLURMD_NODENAME to the end"`,
		"-H", "-N1", "-n1", "-t5", "--comment=ep=1x60s,3x60s,2x10s,1x10s")
	says := func(word string) map[string]string {
		t.Helper()
		lab.Await(t, 3*time.Minute, "the job says "+word, func() bool { return parseShellState(outputOf(lab, "alice", job))[word] != "" })
		said := map[string]string{}
		for field := range strings.FieldsSeq(parseShellState(outputOf(lab, "alice", job))[word]) {
			key, value, _ := strings.Cut(field, "=")
			said[key] = value
		}
		return said
	}
	if got := says("one")["nodes"]; got != last {
		t.Fatalf("the job began on %s, want %s", got, last)
	}
	runClient(t, lab, "scontrol", "delete", "ReservationName=others")
	host := func() string { return runClient(t, lab, "squeue", "-h", "-j", job, "-o", "%B") }
	grown := sortedNames(nodeNames(t, says("three")["nodes"]))
	if len(grown) != 3 || grown[2] != last || host() != last {
		t.Fatalf("the job grew to %v with batch host %s, want three nodes, the last of them %s, which is the batch host", grown, host(), last)
	}
	// slurmctld gets reports about a job from the job's first node, but expects the script on another node
	// here. If no report mentions the script for BatchStartTimeout plus 10 s, slurmctld treats the job as lost.
	// With Slurm's default of 10 s this job would be lost.
	lab.Await(t, time.Minute, "the job has run for 25 s", everySecond(func() bool {
		return runClient(t, lab, "squeue", "-h", "-j", job, "-o", "%M") >= "0:25"
	}))
	sys, err := slurm.New(slurm.Config{Partitions: []string{"main"}, Conf: lab.Conf(), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	if err := sys.Reconfigure(t.Context()); err == nil || !strings.Contains(err.Error(), "waits for the end of job "+job) || host() != last {
		t.Errorf("Accordion would reconfigure Slurm, which would take another node than %s for that of the script: %v", last, err)
	}
	registerNode(t, lab, last)
	runClient(t, lab, "scontrol", "reconfigure")
	lab.Await(t, time.Minute, "slurmctld answers again", func() bool { return host() != "" })
	claimed := host()
	t.Logf("after `scontrol reconfigure` Slurm takes %s for the batch host", claimed)
	if claimed != last { // the slurmd of 26.05 crashes after two registrations in a row
		registerNode(t, lab, claimed)
	}
	lab.Run(t, "alice", "touch", "forgotten")
	two := says("two")
	if two["status"] != "0" || two["nodes"] != sorted(t, claimed+","+last) && claimed != last {
		t.Errorf("after the first shrink the job says %v, want status 0 on %s and %s", two, claimed, last)
	}
	if both := says("both"); both["status"] != "0" || !strings.Contains(","+strings.Join(nodeNames(t, both["nodes"]), ",")+",", ","+last+",") {
		t.Errorf("after the second shrink the job says %v, want status 0 and %s among its nodes", both, last)
	}
	lab.Await(t, time.Minute, "the script goes on to its end", func() bool {
		return strings.Contains(outputOf(lab, "alice", job), "on "+last+" to the end")
	})
	lab.Run(t, "alice", "scancel", job) // Slurm waits for the script's end on the wrong node, so the job would not end by itself
	assertClean(t, p)
}
