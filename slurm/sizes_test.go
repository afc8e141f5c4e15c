package slurm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/internal/lab"
)

// restartWithSizes restarts the sidecar with another rule for choosing the sizes of moldable jobs.
func (p *process) restartWithSizes(rule string) {
	p.t.Helper()
	p.stop()
	text, err := os.ReadFile(p.config)
	if err != nil {
		p.t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "[plan]")
	if err := os.WriteFile(p.config, []byte(before+"[plan]\nsizes = \""+rule+"\"\n"), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.start()
}

// awaitPlannedSize waits until `accordion explain` shows a pending job planned on the given number of nodes,
// and returns the reason for this size.
func (p *process) awaitPlannedSize(job string, nodes int) *status.SizeExplanation {
	p.t.Helper()
	var x status.Explanation
	p.lab.Await(p.t, time.Minute, fmt.Sprintf("job %s is planned on %d nodes", job, nodes), func() bool {
		x = status.Explanation{}
		if !strings.Contains(p.accordion("queue", "--json"), `{"id":`+job+`,`) {
			return false
		}
		err := json.Unmarshal([]byte(p.accordion("explain", job, "--json")), &x)
		return err == nil && x.Sizes != nil && x.Sizes.Taken == nodes
	})
	return x.Sizes
}

// assertPromisesKept checks that promises to the job were broken, if at all, only by Slurm's delays.
func (p *process) assertPromisesKept(job string) {
	p.t.Helper()
	said := p.accordion("journal", "--json", "--job", job)
	if broken, err := lab.BrokenPromises(said); err != nil || broken != nil {
		p.t.Errorf("promises were broken: %q, %v\n%s", broken, err, said)
	}
}

// sizesAtStart returns the figures by which a moldable job's size was chosen, as the journal has them.
func (p *process) sizesAtStart(job string) (sized view.AllowedSizes) {
	p.t.Helper()
	for line := range strings.Lines(p.accordion("journal", "--json", "--job", job)) {
		var e struct {
			Verb string
			Args struct{ Sized view.AllowedSizes }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatalf("%v: %s", err, line)
		}
		if e.Verb == "starting" {
			sized = e.Args.Sized
		}
	}
	return sized
}

// The reference size of the list is 4 nodes. The reference size of the model is 19 nodes, the number of nodes for
// which nodes x (0.05 + 0.95/nodes)^2 is smallest.
const (
	byList  = "--comment=mold=2x300s|4x200s|8x160s"
	byModel = "--comment=mold=amdahl:p=0.95,t1=20m,nodes=1-24"
	onSome  = "echo on $SLURM_JOB_NUM_NODES; sleep 2"
)

// Rigid, moldable and evolving jobs run on 24 nodes, which are first idle and then full. The sidecar uses the
// default rule, and other rules that are set while the jobs wait. Each job gets the size that `accordion explain`
// showed.
func TestAMoldableJobGetsTheSizeThatWasExplained(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	p := serving(t, lab, "")
	alone := lab.Submit(t, "alice", onSome, "-H", "-N2", "-t5", byList)
	// The job gets 4 x min(6 x sqrt(1/2), 2) = 8 of 24 nodes.
	lab.Await(t, time.Minute, "the first job has run", func() bool { return outputOf(lab, "alice", alone) == "on 8\n" })
	if x := p.sizesAtStart(alone); x.Reference != 4 || x.Least != 2 || x.Most != 8 {
		t.Errorf("alone it began by %+v", x)
	}

	holder := lab.Submit(t, "bob", "sleep 600", "--exclusive", "-N24", "-t10")
	lab.Await(t, time.Minute, "the holder runs", func() bool { return runClient(t, lab, "squeue", "-h", "-j", holder, "-o", "%T") == "RUNNING" })
	// All jobs are submitted with -N2, because the site's ranking depends on the size, too.
	list := lab.Submit(t, "alice", onSome, "-H", "-N2", "-t5", byList)
	model := lab.Submit(t, "alice", onSome, "-H", "-N2", "-t5", byModel)
	evolving := lab.Submit(t, "alice", onSome+"00", "-H", "-N2", "-t5", "--comment=ep=2x10s,4x20s")
	var behind []string // these jobs request three times the machine, so each user's share is small, both before and after the job that holds the machine ends
	for range 3 {
		behind = append(behind, lab.Submit(t, "alice", "sleep 600", "-H", "-N2", "-t5", "--comment=ep=24x1m"))
	}
	p.awaitQueueExplanation(behind[2], "It waits, 6th in the queue.")
	for job, nodes := range map[string]int{list: 2, model: 10} {
		if x := p.awaitPlannedSize(job, nodes); x.Rule != "share" || x.Held != 24 || x.Waiting != 6 || x.Wanted != 4+19+4+3*24 || x.Machine != 24 {
			t.Errorf("job %s is planned by %+v", job, *x)
		}
	}
	p.restartWithSizes("reference")
	p.awaitPlannedSize(list, 4)
	p.awaitPlannedSize(model, 19)
	if table := p.accordion("queue"); !strings.Contains(table, " 4 (2-4) ") || !strings.Contains(table, " 19 (10-19) ") {
		t.Errorf("the queue has no ranges:\n%s", table)
	}
	p.restartWithSizes("share")
	p.awaitPlannedSize(list, 2)
	p.awaitPlannedSize(model, 10)

	lab.Run(t, "root", "scancel", holder)
	for job, says := range map[string]string{list: "on 2", model: "on 10", evolving: "on 2"} {
		awaitScriptBegun(t, lab, job)
		if got := stepOutput(lab, job); got != says { // the evolving job's output may already have the message about its growth
			t.Errorf("job %s says %q, want %q", job, got, says)
		}
	}
	if x := p.sizesAtStart(model); x.Most != 10 || x.Reference != 19 {
		t.Errorf("the model's job began by %+v", x)
	}
	lab.Await(t, time.Minute, "the evolving job grows", func() bool { return strings.Contains(p.accordion("journal", "--job", evolving), "grew: ") })
	lab.Run(t, "root", append([]string{"scancel", evolving}, behind...)...)
	// Only journal entries since this test began count, because the lab's journal also has entries of earlier
	// tests, which may have broken promises.
	for _, job := range append([]string{alone, list, model, evolving}, behind...) {
		p.assertPromisesKept(job)
	}
	assertClean(t, p)
}

// This test measures how long many moldable jobs wait on an idle machine by two rules: the default rule, and the
// rule that gives each job the size with the earliest end. It checks no bounds. docs/sizes.md has its figures.
func TestHowLongAFloodOfMoldableJobsWaits(t *testing.T) {
	if !*long {
		t.Skip("five minutes of a real Slurm: give -accordion.long")
	}
	lab := quickLab(t)
	p := serving(t, lab, "")
	for _, rule := range []string{"earliest", "share"} {
		p.restartWithSizes(rule)
		var jobs []string
		for range 20 {
			jobs = append(jobs, lab.Submit(t, "alice", "case $SLURM_JOB_NUM_NODES in 2) sleep 28;; 4) sleep 18;; 8) sleep 14;; 16) sleep 13;; esac",
				"-H", "-N2", "-t5", "--comment=mold=2x30s|4x20s|8x16s|16x15s"))
		}
		var waits, turnarounds, held float64
		for _, job := range jobs {
			lab.Await(t, 15*time.Minute, "job "+job+" is over", func() bool { return strings.Contains(p.accordion("journal", "--job", job), " ended: ") })
			at := map[string]time.Time{}
			nodes := 0
			for line := range strings.Lines(p.accordion("journal", "--json", "--job", job)) {
				var e struct {
					At   time.Time
					Kind string
					Verb string
					Text string
				}
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatal(err)
				}
				if e.Kind == "event" {
					at[e.Verb] = e.At
				}
				if e.Verb == "starting" {
					fmt.Sscanf(e.Text, "on %d nodes", &nodes)
				}
			}
			waits += at["started"].Sub(at["accepted"]).Seconds()
			turnarounds += at["ended"].Sub(at["accepted"]).Seconds()
			held += at["ended"].Sub(at["started"]).Seconds() * float64(nodes)
		}
		n := float64(len(jobs))
		t.Logf("%s: mean wait %.1f s, mean turnaround %.1f s, %.0f node-seconds", rule, waits/n, turnarounds/n, held)
	}
}
