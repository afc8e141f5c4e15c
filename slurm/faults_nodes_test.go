package slurm_test

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// setNode sets a node's state, as an administrator does.
func setNode(t *testing.T, lab *lab.SlurmLab, node, state string) {
	t.Helper()
	lab.Run(t, "root", "scontrol", "update", "NodeName="+node, "State="+state, "Reason=a test")
}

// nodesNow returns the nodes of the job in Slurm's order; the script runs on the first.
func nodesNow(t *testing.T, lab *lab.SlurmLab, job string) []string {
	t.Helper()
	var list string
	lab.Await(t, time.Minute, "Slurm shows the nodes of job "+job, func() bool {
		list = tryClient(lab, "squeue", "-h", "-j", job, "-o", "%N")
		return list != ""
	})
	return sortedNames(nodeNames(t, list))
}

// Three jobs lose nodes at the same time: one that Slurm ends when it loses a node, one submitted with sbatch
// -k, and one whose node is drained.
func TestNodesAreKilledDrainedAndReturnedInEveryStep(t *testing.T) {
	t.Parallel()
	lab := faultLab(t, 16, lab.Config("SlurmdTimeout=10"))
	alice, err := user.Lookup("alice")
	if err != nil {
		t.Fatal(err)
	}
	hosts := "/tmp/accordion-" + alice.Uid
	p := serving(t, lab, "")
	const seconds = 25
	fragile := submitEvolving(t, lab, seconds, []int{2, 4})
	robust := submitEvolving(t, lab, seconds, []int{3, 5, 2}, "--no-kill")
	drained := submitEvolving(t, lab, seconds+10, []int{2, 4, 1}) // its growth is due later than the others' growths, because a job that cannot grow waits only 30 s
	for _, job := range []string{fragile, robust, drained} {
		awaitEvent(t, p, job, "started", 2*time.Minute)
	}
	awaitScriptBegun(t, lab, robust)
	var drains []string // drained nodes, which must be resumed; a DOWN node becomes usable again by itself when slurmd reports (ReturnToService=2)
	lose := func(job, state string) (node string) {
		t.Helper()
		held := nodesNow(t, lab, job)
		node = held[len(held)-1]
		if state == "DRAIN" {
			drains = append(drains, node)
		}
		setNode(t, lab, node, state)
		t.Logf("job %s on %v: %s is %s", job, held, node, state)
		return node
	}
	down := lose(robust, "DOWN")
	lose(drained, "DRAIN")
	awaitEvent(t, p, robust, "changed", time.Minute)
	lab.Await(t, 20*time.Second, "the job's output says at once what it has lost", func() bool {
		return strings.Contains(lab.File("alice", "slurm-"+robust+".out"), "accordion: this job has lost "+down+"; step 1 of 3 goes on with 2 nodes, ")
	})
	file := filepath.Join(hosts, "lab-"+robust+".hosts")
	defer os.Remove(file)
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), " nodes=2 ") || slices.Contains(strings.Fields(string(text)), down) {
		t.Errorf("job %s lost %s, and its hosts file has %q (%v)", robust, down, text, err)
	}
	killed := nodesNow(t, lab, fragile)[1]
	lab.Do(t, "node-kill", killed) // slurmctld must notice the loss by itself

	awaitEvent(t, p, robust, "grew", 2*time.Minute)
	if lab.Slurm > "21" { // 20.11 needs no second allocation on the drained node, so the job grows there
		lab.Await(t, 2*time.Minute, "status says why a job with a drained node does not grow", func() bool {
			v := p.view(drained)
			return v != nil && strings.Contains(v.Why, drains[0]+" is") && strings.Contains(v.Why, "a second allocation of each of its nodes")
		})
	}
	if slices.Contains(nodesNow(t, lab, robust), drains[0]) {
		t.Errorf("job %s grew by node %s, which is drained", robust, drains[0])
	}
	setNode(t, lab, drains[0], "RESUME")
	drains = nil
	awaitEvent(t, p, drained, "grew", 2*time.Minute)
	lose(robust, "DOWN")
	lose(drained, "DRAIN")
	awaitEnded(t, lab, 3*time.Minute, fragile, robust, drained)

	for job, want := range map[string]string{robust: expectedOutput(3, 5, 2), drained: expectedOutput(2, 4, 1)} {
		if got := stepOutput(lab, job); got != want {
			t.Errorf("job %s: %q, want %q", job, got, want)
		}
	}
	if show := tryClient(lab, "scontrol", "-o", "show", "job", fragile); !strings.Contains(show, "JobState=NODE_FAIL") {
		t.Errorf("the job of a killed node: %s", show)
	}
	lab.Do(t, "node-start", killed)
	for _, node := range drains {
		setNode(t, lab, node, "RESUME")
	}
	assertClean(t, p) // this also checks that every node can be used again
	p.audit()         // audited now, because the journal lacks what root does by hand from here on

	if lab.Slurm >= "23" {
		return // on these releases root cannot allocate for alice, and the plug-in forbids her to expand a job
	}
	assertLeakedNodesFreed(t, p, lab)
	assertClean(t, p)
}

// assertLeakedNodesFreed checks that the sidecar frees nodes that Slurm has lost. The acts by which Slurm loses nodes
// do not always work, so they are repeated until the sidecar has freed lost nodes.
func assertLeakedNodesFreed(t *testing.T, p *process, lab *lab.SlurmLab) {
	t.Helper()
	begun := time.Now() // the journal also has nodes freed earlier
	for range 5 {
		lost := leak(t, lab)
		lab.Await(t, 2*time.Minute, "the lost nodes are idle", func() bool {
			return len(strings.Fields(tryClient(lab, "sinfo", "-h", "-p", "main", "-t", "idle", "-N", "-n", lost, "-o", "%N"))) == 2
		})
		var nudges []entry
		lab.Await(t, 30*time.Second, "the act that freed them has ended: the journal has its outcome", func() bool {
			nudges = slices.DeleteFunc(p.journalSince(begun), func(e entry) bool { return e.Verb != "nudge" })
			return !slices.ContainsFunc(nudges, func(e entry) bool { return e.Outcome == "" })
		})
		if slices.ContainsFunc(nudges, func(e entry) bool { return e.Outcome == "done" }) {
			return
		}
		t.Logf("%s is idle, and of nudges the journal has %+v", lost, nudges)
	}
	t.Error("the sidecar did not free them")
}

// leak makes Slurm lose two nodes, by a merge of an expander into a job that has ended.
func leak(t *testing.T, lab *lab.SlurmLab) (nodes string) {
	t.Helper()
	alice, err := user.Lookup("alice")
	if err != nil {
		t.Fatal(err)
	}
	parent := lab.Submit(t, "alice", "exec sleep 600", "-N1")
	lab.Await(t, time.Minute, "the parent runs", func() bool { return strings.HasPrefix(heldNodes(lab, parent), "1 n") })
	retryAs(t, lab, "root", "salloc", "--quiet", "--immediate", "--no-shell", "--chdir=/", "--uid="+alice.Uid, "--gid="+alice.Gid, "-p", "main", "-N2",
		"--job-name=careless", "--dependency=expand:"+parent)
	line := strings.Fields(runClient(t, lab, "squeue", "-h", "-n", "careless", "-o", "%A %N"))
	if len(line) != 2 {
		t.Fatalf("the expander: %q", line)
	}
	lab.Run(t, "alice", "scancel", parent)
	awaitEnded(t, lab, time.Minute, parent)
	lab.Await(t, time.Minute, "the expander is merged", func() bool { // Slurm merges it only after the steps that Slurm itself creates have ended
		tryClient(lab, "scancel", line[0]+".4294967292") // the number of the extern step, because not every release knows its name
		_, _, err := lab.Exec("root", "", "scontrol", "update", "JobId="+line[0], "NumNodes=0")
		return err == nil
	})
	return line[1]
}
