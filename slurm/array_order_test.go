package slurm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

func TestTasksOfAnArrayBeginInOrderAndTheLastGrowsWhileOthersWait(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "")
	p := serving(t, lab, manyClients)
	assertTasksInTurn(t, lab)
	assertClean(t, p)
}

// assertTasksInTurn submits arrays among other managed jobs and checks that their tasks start in order. Then one
// task is requeued while the last task, whose id is the array's, runs. Both tasks grow.
func assertTasksInTurn(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	const short = "#EP 1x10s\nsleep 1"
	for range 6 {
		lab.Submit(t, "bob", short)
	}
	one := lab.Submit(t, "alice", short, "--array=1-3%1", "-o", "/dev/null")
	all := lab.Submit(t, "alice", short, "--array=1-5", "-o", "/dev/null")
	for range 6 {
		lab.Submit(t, "bob", short)
	}
	lab.Await(t, 2*time.Minute, "no job is left", func() bool { return retryAs(t, lab, "root", "squeue", "-h", "-u", "alice,bob", "-o", "%i") == "" })
	assertStartOrder(t, lab, one, 3)
	assertStartOrder(t, lab, all, 5)

	lab.Run(t, "alice", "rm", "-f", "again-1.out", "again-2.out") // left by an earlier run
	again := lab.Submit(t, "alice", "#EP 1x20s,2x20s\nsleep 5\neval \"$(accordion step)\"\necho task $SLURM_ARRAY_TASK_ID on $SLURM_JOB_NUM_NODES",
		"--array=1-2", "--requeue", "--open-mode=append", "-o", "again-%a.out")
	said := func(task int) string { return lab.File("alice", fmt.Sprintf("again-%d.out", task)) }
	lab.Await(t, time.Minute, "both tasks run", func() bool {
		return len(strings.Fields(retryAs(t, lab, "root", "squeue", "-h", "-t", "R", "-j", again, "-o", "%i"))) == 2
	})
	retryAs(t, lab, "root", "scontrol", "requeue", again+"_1")
	lab.Await(t, time.Minute, "the last task grows", func() bool { return strings.Contains(said(2), "task 2 on") })
	if !strings.Contains(said(2), "task 2 on 2") {
		t.Errorf("the last task says %q", said(2))
	}
	if state := retryAs(t, lab, "root", "squeue", "-h", "-j", again+"_1", "-o", "%T"); state != "PENDING" {
		t.Errorf("the requeued task was %q when the last one grew, and not waiting", state)
	}
	retryAs(t, lab, "root", "scontrol", "update", "JobId="+again+"_1", "StartTime=now") // Slurm delays a requeued job by two minutes
	lab.Await(t, time.Minute, "the requeued task grows, too", func() bool { return strings.Contains(said(1), "task 1 on") })
	if !strings.Contains(said(1), "task 1 on 2") || strings.Contains(said(1), "task 2") {
		t.Errorf("the requeued task says %q", said(1))
	}
	var accepted []string
	for _, e := range ofKind(entries(t, lab.Run(t, "root", "accordion", "journal", "--json")+"\n"), "accepted") {
		if task := fmt.Sprint(e.Args["task"]); strings.HasPrefix(task, again+"_") {
			accepted = append(accepted, task)
		}
	}
	slices.Sort(accepted) // the last task may be accepted before the others
	if want := []string{again + "_1", again + "_1", again + "_2"}; !slices.Equal(accepted, want) {
		t.Errorf("by the journal %v were accepted, want %v", accepted, want)
	}
}

// assertStartOrder checks in accounting that the tasks from 1 on started in order. Slurm may delay the start of a
// task because a node was not ready. The sidecar then holds back the later tasks for at most 5 s, so after that
// they may start earlier than the delayed task.
func assertStartOrder(t *testing.T, lab *lab.SlurmLab, array string, tasks int) {
	t.Helper()
	var begun []string
	lab.Await(t, time.Minute, "accounting knows all tasks", func() bool {
		begun = begun[:0]
		for task := range tasks {
			at := retryAs(t, lab, "root", "sacct", "-X", "-n", "-P", "-o", "Start", "-j", fmt.Sprintf("%s_%d", array, task+1))
			begun = append(begun, at)
		}
		return !slices.ContainsFunc(begun, func(at string) bool { return !strings.HasPrefix(at, "20") })
	})
	delayed := map[string]bool{}
	for _, e := range ofKind(entries(t, lab.Run(t, "root", "accordion", "journal", "--json")+"\n"), "promise broken") {
		delayed[fmt.Sprint(e.Job)] = e.Args["cause"] == "batch system"
	}
	var prompt []string
	for task, at := range begun {
		if raw := retryAs(t, lab, "root", "sacct", "-X", "-n", "-P", "-o", "JobIDRaw", "-j", fmt.Sprintf("%s_%d", array, task+1)); !delayed[raw] {
			prompt = append(prompt, at)
		}
	}
	if !slices.IsSorted(prompt) {
		t.Errorf("the tasks of array %s began at %v\n%s", array, begun, retryAs(t, lab, "root", "sacct", "-X", "-o", "JobID,JobIDRaw,Start,State", "-j", array))
	}
}
