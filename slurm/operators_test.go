package slurm_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter/view"
	"accordion/slurm/output"
)

// Operators change managed jobs on a real Slurm. Bob is an operator by his AdminLevel.
func TestOperatorsHoldReleaseChangeRequeueAndSuspendManagedJobs(t *testing.T) {
	t.Parallel()
	lab := faultLab(t, 4)
	retryAs(t, lab, "root", "sacctmgr", "-i", "modify", "user", "bob", "set", "adminlevel=Operator")
	p := serving(t, lab, "growth = \"companions\"\nlimits = \""+filepath.Join(lab.Dir, "etc", "accordion_limits.lua")+"\"")
	hog := lab.Submit(t, "alice", "sleep 600", "-N4", "-t15")
	state := func(job string) string { return tryClient(lab, "squeue", "-h", "-j", job, "-o", "%t %v %r") }
	lab.Await(t, time.Minute, "the machine is full", func() bool { return strings.HasPrefix(state(hog), "R ") })
	work := func(steps int) string { return "#!/bin/bash\n#EP 2x8s,4x8s\n" + stepScript(steps, 7) }
	byRoot, byBob := lab.Submit(t, "alice", work(2)), lab.Submit(t, "alice", work(2))
	var nice []string
	for _, n := range []string{"--nice=300", "--nice=100", "--nice=200"} {
		nice = append(nice, lab.Submit(t, "alice", work(2), n))
	}
	parked := func(job string) bool { return strings.HasPrefix(state(job), "PD "+output.Park) }
	lab.Await(t, time.Minute, "all wait", func() bool {
		return !slices.ContainsFunc(append([]string{byRoot, byBob}, nice...), func(j string) bool { return !parked(j) })
	})
	lab.Await(t, time.Minute, "operators are written for the plug-in", func() bool { return exists(lab.Dir, "etc", "accordion_operators.lua") })

	// Slurm's priorities and `accordion queue` have the same order. sprio omits jobs that wait for a reservation in
	// the future.
	queue := func() (ids []string, all map[string]view.Entry) {
		var q view.Queue
		if err := json.Unmarshal([]byte(p.accordion("queue", "--json")), &q); err != nil {
			t.Fatal(err)
		}
		all = map[string]view.Entry{}
		for _, e := range q.Jobs {
			id := fmt.Sprint(e.ID)
			if all[id] = e; e.Rank > 0 {
				ids = append(ids, id)
			}
		}
		return ids, all
	}
	want := []string{byRoot, byBob, nice[1], nice[2], nice[0]}
	lab.Await(t, time.Minute, "queue ranks them by nice", func() bool { got, _ := queue(); return slices.Equal(got, want) })
	if got := strings.Fields(tryClient(lab, "squeue", "-h", "-t", "PD", "-S", "-p,i", "-o", "%A")); !slices.Equal(got, want) {
		t.Errorf("squeue has %v, want %v", got, want)
	}

	// One job is held by root and one by an operator. The owner can neither release nor change them.
	retryAs(t, lab, "root", "scontrol", "hold", byRoot)
	retryAs(t, lab, "bob", "scontrol", "uhold", byBob)
	for _, job := range []string{byRoot, byBob} {
		awaitEvent(t, p, job, "stopped", time.Minute)
		for _, change := range [][]string{{"release", job}, {"update", "JobId=" + job, "Nice=5"}, {"update", "JobId=" + job, "TimeLimit=1"}} {
			if _, said, err := lab.Exec("alice", "", append([]string{"scontrol"}, change...)...); err == nil {
				t.Errorf("the owner may %v: %q", change, said)
			}
		}
	}
	for _, change := range [][]string{{"Nice=50"}, {"TimeLimit=9"}, {"StartTime=now"}} {
		for _, user := range []string{"root", "bob"} {
			retryAs(t, lab, user, "scontrol", "update", "JobId="+byRoot, change[0])
		}
	}
	lab.Run(t, "alice", "scancel", hog)
	awaitEnded(t, lab, 3*time.Minute, nice[1])
	for job, by := range map[string]string{byRoot: "an operator", byBob: "its owner or an operator"} {
		if got := state(job); !strings.HasPrefix(got, "PD "+output.Park+" JobHeld") {
			t.Errorf("job %s, which was held: %q", job, got)
		}
		if _, all := queue(); all[job].Phase != "held" || all[job].Why != "held by "+by+"; it goes on after scontrol release "+job {
			t.Errorf("job %s is shown as %s: %s", job, all[job].Phase, all[job].Why)
		}
		if got := p.accordion("explain", job); !strings.Contains(got, "It is held by "+by) {
			t.Errorf("explain says\n%s", got)
		}
		if got := reservations(t, lab); strings.Contains(got, "accordion-"+job+"-") {
			t.Errorf("job %s has reservations:\n%s", job, got)
		}
	}
	retryAs(t, lab, "bob", "scontrol", "release", byRoot)
	awaitEnded(t, lab, 3*time.Minute, append(nice, byRoot)...)
	if got := stepOutput(lab, byRoot); !strings.HasPrefix(got, "step 1 on 2 step 2 on ") || !strings.HasSuffix(got, "done") {
		t.Errorf("released it said %q", got)
	}

	// A job runs with a companion and is suspended and resumed. Then an operator requeues and holds it.
	retryAs(t, lab, "bob", "scontrol", "update", "JobId="+byBob, "Nice=0")
	retryAs(t, lab, "bob", "scontrol", "release", byBob)
	long := lab.Submit(t, "alice", "#!/bin/bash\n#EP 1x5s,2x10m\n"+stepScriptEnding(2, 4, "sleep 600"), "--requeue")
	awaitEnded(t, lab, 3*time.Minute, byBob)
	awaitEvent(t, p, long, "grew", 2*time.Minute)
	companion := tryClient(lab, "squeue", "-h", "-n", output.WithPrefix+long, "-o", "%A")
	for _, verb := range []string{"suspend", "resume"} {
		retryAs(t, lab, "bob", "scontrol", verb, long)
		short := map[string]string{"suspend": "S", "resume": "R"}[verb]
		lab.Await(t, time.Minute, "the companion "+verb+"s", func() bool { return tryClient(lab, "squeue", "-h", "-j", companion, "-o", "%t") == short })
		awaitEvent(t, p, long, map[string]string{"suspend": "suspended", "resume": "resumed"}[verb], time.Minute)
	}
	retryAs(t, lab, "bob", "scontrol", "update", "JobId="+long, "Requeue=1")
	retryAs(t, lab, "bob", "scontrol", "requeuehold", long)
	awaitEvent(t, p, long, "requeued", time.Minute)
	awaitEvent(t, p, long, "stopped", time.Minute)
	if over := p.events(long, "ended"); len(over) > 0 {
		t.Errorf("the journal says of the requeued job: %v", over)
	}
	lab.Await(t, time.Minute, "it waits as managed jobs do, and is held", func() bool { return parked(long) })
	lab.Run(t, "alice", "scancel", long)
	awaitEnded(t, lab, time.Minute, long)
	assertClean(t, p)
}
