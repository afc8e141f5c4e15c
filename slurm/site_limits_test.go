package slurm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/internal/lab"
)

// siteLab returns a lab configured like most sites, with six nodes and a user in each account. `lines` holds the
// settings that this test changes.
func siteLab(t *testing.T, lines string) *lab.SlurmLab {
	t.Helper()
	lab := lab.TakeSlurm(t, 6, lab.Users("alice", "bob", "carol"), lab.Fast())
	if lines != "" {
		lab.Change(t, lines)
		t.Cleanup(func() { lab.Change(t, "") })
	}
	return lab
}

// walkScriptBody is a script that prints the number of nodes on which its tasks run in each step. It requests the
// next step as soon as the number is printed.
const walkScriptBody = `
tell() { echo "step ${ACCORDION_STEP:-1} $(accordion run -n "$ACCORDION_NNODES" --ntasks-per-node=1 printenv SLURMD_NODENAME | sort | paste -sd,)"; }
ACCORDION_NNODES=$SLURM_JOB_NUM_NODES
tell
while eval "$(accordion step)" && [ "$ACCORDION_STEP" != "$last" ]; do last=$ACCORDION_STEP; tell; [ "$last" != "$1" ] || break; done
`

// walkScript returns the script of a job with the given number of steps.
func walkScript(ep string, steps int) string {
	return fmt.Sprintf("#!/bin/bash\n#EP %s\nset -- %d%s", ep, steps, walkScriptBody)
}

// walkedNodes returns the nodes that a job had in each step. Steps count from 1.
func walkedNodes(lab *lab.SlurmLab, user, job string) (all [][]string) {
	for line := range strings.Lines(outputOf(lab, user, job)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "step" {
			all = append(all, strings.Split(words[2], ","))
		}
	}
	return all
}

// assertSizes waits until a job has ended, and checks its number of nodes in each step.
func assertSizes(t *testing.T, lab *lab.SlurmLab, user, job string, sizes ...int) {
	t.Helper()
	lab.Await(t, 2*time.Minute, "job "+job+" has completed", func() bool {
		return runClient(t, lab, "squeue", "-h", "-j", job, "-t", "all", "-o", "%T") == "COMPLETED"
	})
	var got []int
	for _, nodes := range walkedNodes(lab, user, job) {
		got = append(got, len(nodes))
	}
	if !slices.Equal(got, sizes) {
		t.Errorf("job %s was on %v nodes, want %v\n%s", job, got, sizes, outputOf(lab, user, job))
	}
}

// managed returns the managed jobs in a phase, in rank order.
func (p *process) managed(phase string) []view.Entry {
	p.t.Helper()
	var q view.Queue
	if err := json.Unmarshal([]byte(p.accordion("queue", "--json")), &q); err != nil {
		p.t.Fatalf("accordion queue --json: %v", err)
	}
	q.Jobs = slices.DeleteFunc(q.Jobs, func(j view.Entry) bool { return j.Kind == "ordinary" || j.Phase != phase })
	slices.SortFunc(q.Jobs, func(a, b view.Entry) int { return a.Rank - b.Rank })
	return q.Jobs
}

func TestAnEvolvingJobOfABetterFairShareOvertakesOneOfAWorse(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "")
	for _, who := range []string{"user where name=carol account=cs", "account where name=cs"} { // other tests of this lab use the name carol, too
		lab.Run(t, "root", append([]string{"sacctmgr", "-Qi", "modify"}, strings.Fields(who+" set RawUsage=0")...)...)
	}
	lab.Run(t, "bob", "srun", "-Q", "-p", "shared", "-N6", "sleep", "1")
	// slurmctld reads the usage every five minutes, and when it starts.
	lab.Do(t, "ctl-stop")
	lab.Do(t, "ctl-start")
	p := serving(t, lab, "")
	before := lab.Submit(t, "alice", sleeps, "-p", "shared", "-N6", "--exclusive")
	lab.Await(t, time.Minute, "the nodes are taken", func() bool { return runClient(t, lab, "squeue", "-h", "-j", before, "-o", "%t") == "R" })
	first := lab.Submit(t, "bob", walkScript("4x20s,6x20s", 2))
	second := lab.Submit(t, "carol", walkScript("4x20s,6x20s", 2)) // carol has not used the cluster yet, so her job ranks first
	lab.Await(t, time.Minute, "carol's job is before bob's in the queue, and both show what their ranks are made of", func() bool {
		jobs := p.managed("waiting")
		return len(jobs) == 2 && jobs[0].Rank == 1 && fmt.Sprint(jobs[0].ID) == second && jobs[0].Priority > jobs[1].Priority &&
			slices.ContainsFunc(jobs[1].Parts, func(part adapter.RankPart) bool { return strings.Contains(part.Name, "fair") })
	})
	lab.Run(t, "alice", "scancel", before)
	assertSizes(t, lab, "carol", second, 4, 6)
	assertSizes(t, lab, "bob", first, 4, 6)
	began := func(job string) int64 {
		return p.events(job, "started")[0].At.Unix()
	}
	if began(second) >= began(first) {
		t.Errorf("bob's job began at %d, carol's at %d: want hers first", began(first), began(second))
	}
	assertClean(t, p)
}

// setLimit sets a limit of an association or a QOS. The returned function removes the limit. If it is not called,
// the end of the test removes the limit.
func setLimit(t *testing.T, lab *lab.SlurmLab, kind, name, limit string) (lift func()) {
	t.Helper()
	set := func(limit string) { lab.Run(t, "root", "sacctmgr", "-Qi", "modify", kind, name, "set", limit) }
	key, _, _ := strings.Cut(limit, "=")
	set(limit)
	lift = func() { set(key + "=node=-1") }
	t.Cleanup(lift)
	return lift
}

func TestALimitThatWouldBreakAGrowthIsToldAtSubmissionOrWhereItWaits(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "")
	setLimit(t, lab, "user", "bob", "GrpTRES=node=3")
	setLimit(t, lab, "qos", "high", "MaxTRESPerJob=node=2")
	lift := setLimit(t, lab, "qos", "normal", "MaxTRESPerUser=node=5")
	file := lab.Dir + "/etc/accordion_limits.lua"
	p := serving(t, lab, fmt.Sprintf("limits = %q", file))
	lab.Await(t, time.Minute, "the plug-in has the limits", func() bool {
		text, _ := os.ReadFile(file)
		return p.wrote(file) && strings.Contains(string(text), `["high"]`)
	})
	for _, test := range []struct{ user, ep, qos, says string }{
		{"bob", "2x10s,4x10s", "normal", "needs 4 nodes, and you may have 3: the limit of user bob in account chem is node=3"},
		{"carol", "1x10s,3x10s", "high", "needs 3 nodes, and you may have 2: the limit of each job of QOS high is node=2"},
		{"carol", "1x10s,6x10s", "normal", "needs 6 nodes, and you may have 5: the limit of QOS normal for each user is node=5"},
	} {
		if _, said, err := lab.Sbatch(test.user, walkScript(test.ep, 2), "--qos="+test.qos); err == nil || !strings.Contains(said, test.says) {
			t.Errorf("%s of %s under QOS %s: %v: sbatch says %q, want %q", test.ep, test.user, test.qos, err, said, test.says)
		}
	}

	other := lab.Submit(t, "bob", sleeps, "-p", "shared", "-N2", "--exclusive")
	lab.Await(t, time.Minute, "bob has two nodes", func() bool { return runClient(t, lab, "squeue", "-h", "-j", other, "-o", "%t") == "R" })
	job := lab.Submit(t, "bob", walkScript("1x5s,3x20s", 2))
	const why = "the limit of user bob in account chem is node=3, of which 3 are in use"
	lab.Await(t, time.Minute, "bob sees why his job does not grow", func() bool {
		v := p.view(job)
		return v != nil && v.Step == 1 && strings.Contains(v.Why, why)
	})
	if said := p.accordion("explain", job); !strings.Contains(said, "node=3") {
		t.Errorf("accordion explain does not name the limit:\n%s", said)
	}
	lab.Run(t, "bob", "scancel", other)
	assertSizes(t, lab, "bob", job, 1, 3)
	tries := slices.DeleteFunc(p.journal(job), func(e entry) bool { return e.Verb != "expand" })
	if len(tries) > 2 { // the sidecar may make the first attempt before it has read how much of the limit is used
		t.Errorf("it was tried without a check: %v", tries)
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	late := lab.Submit(t, "bob", walkScript("2x10s,4x10s", 2)) // the plug-in no longer has the file of limits
	lab.Await(t, time.Minute, "the sidecar refuses what can never grow", func() bool {
		return strings.Contains(runClient(t, lab, "scontrol", "-o", "show", "job", late), "accordion refused this job: ep=2x10s,4x10s needs more than the 3 nodes")
	})
	lift()
	assertClean(t, p)
}
