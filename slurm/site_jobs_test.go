package slurm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/slurm/output"
)

// manyClients allows more client programs a minute than the default, because these jobs come and go within seconds.
const manyClients = "clients_per_minute = 300"

// state returns a job's state in squeue, also after its end. It returns "" if Slurm has forgotten the job.
func state(t *testing.T, lab *lab.SlurmLab, job string) string {
	t.Helper()
	out, _, _ := lab.Exec("root", "", "squeue", "-h", "-j", job, "-t", "all", "-o", "%T")
	return out
}

func TestTheTasksOfAnArrayEvolveOneByOneAsManyAsItsThrottleAllows(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "")
	p := serving(t, lab, manyClients)
	lab.Run(t, "bob", "rm", "-f", "log", "cancelled") // left by an earlier run
	array := lab.Submit(t, "bob", `#!/bin/bash
#EP 1x1m,2x20s
echo begin >>log
while [ ! -e cancelled ]; do sleep 0.2; done
set -- 2`+walkScriptBody+"echo end >>log\n", "--array=1-5%2", "-o", "task-%a.out")
	doomed := array + "_4"
	lab.Await(t, time.Minute, "two tasks run, and the others wait for these as jobs of their own", func() bool {
		return len(p.managed("running")) == 2 && len(p.managed("blocked")) == 3 && state(t, lab, doomed) == "PENDING"
	})
	lab.Run(t, "bob", "scancel", doomed)
	lab.Run(t, "bob", "touch", "cancelled")
	lab.Await(t, 2*time.Minute, "no task is left", func() bool { return runClient(t, lab, "squeue", "-h", "-u", "bob", "-o", "%A") == "" })
	running := 0
	for line := range strings.Lines(lab.File("bob", "log")) {
		if running++; strings.TrimSpace(line) == "end" {
			running -= 2
		}
		if running > 2 {
			t.Errorf("%d tasks ran at a time:\n%s", running, lab.File("bob", "log"))
		}
	}
	for task := 1; task <= 5; task++ {
		got, want := strings.Count("\n"+lab.File("bob", fmt.Sprintf("task-%d.out", task)), "\nstep "), 2
		if task == 4 {
			want = 0
		}
		if got != want {
			t.Errorf("task %d went through %d steps, want %d\n%s", task, got, want, lab.File("bob", fmt.Sprintf("task-%d.out", task)))
		}
	}

	again := lab.Submit(t, "bob", walkScript("1x20s,2x20s", 2)+"sleep 600\n", "--array=1-3", "-o", "/dev/null")
	lab.Await(t, time.Minute, "a task runs", func() bool { return strings.Contains(state(t, lab, again), "RUNNING") })
	lab.Run(t, "bob", "scancel", again)
	lab.Await(t, time.Minute, "all of the array is gone", func() bool { return runClient(t, lab, "squeue", "-h", "-u", "bob", "-o", "%A") == "" })
	assertClean(t, p)
}

func TestARequeuedJobIsTakenUpAgainAtItsFirstSize(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "")
	p := serving(t, lab, manyClients)
	job := lab.Submit(t, "alice", `#!/bin/bash
#EP 1x20s,3x60s
set -- 2`+walkScriptBody+"[ ${SLURM_RESTART_COUNT:-0} -gt 0 ] || exec sleep 600\n", "--requeue", "--open-mode=append")
	lab.Await(t, time.Minute, "it has grown", func() bool { return len(walkedNodes(lab, "alice", job)) == 2 })
	lab.Run(t, "root", "scontrol", "requeue", job)
	// Slurm delays the requeued job by two minutes. The sidecar accepts the job again, because Slurm gives it a new
	// time of submission.
	lab.Await(t, time.Minute, "it is accepted again, and parked", func() bool {
		return len(p.events(job, "accepted")) == 2 && runClient(t, lab, "squeue", "-h", "-j", job, "-o", "%t %v") == "PD "+output.Park
	})
	lab.Run(t, "root", "scontrol", "update", "JobId="+job, "StartTime=now")
	assertSizes(t, lab, "alice", job, 1, 3, 1, 3)
	assertClean(t, p)
}

func TestAJobGrowsOnNodesOfOneKindAndHasItsGPUsOnAll(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "")
	p := serving(t, lab, manyClients)
	thin := []string{"n1", "n2", "n3"}
	for _, test := range []struct{ says, ep, option string }{
		{"more nodes than the pool has of one sort", "1x20s,4x20s", "--constraint=fat"},
		{"write one feature", "1x20s,2x20s", "--constraint=[thin|fat]"},
		{"--gpus-per-node", "1x20s,2x20s", "--gpus=4"},
	} {
		job, said, err := lab.Sbatch("carol", walkScript(test.ep, 2), test.option)
		if err != nil && (strings.Contains(said, test.says) || strings.Contains(said, "Requested node configuration is not available")) {
			continue // the plug-in rejected the job, because it still had an earlier sidecar's list of the nodes
		}
		lab.Await(t, time.Minute, test.option+" is refused: "+test.says, func() bool {
			return strings.Contains(runClient(t, lab, "scontrol", "-o", "show", "job", job), test.says)
		})
	}
	jobs := map[string]string{}
	for _, option := range []string{"--constraint=thin", "--gpus-per-node=2"} {
		jobs[option] = lab.Submit(t, "carol", walkScript("1x20s,3x20s", 2)+"accordion run -n3 --ntasks-per-node=1 sh -c 'echo gpus $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES'\n", option)
	}
	for option, job := range jobs {
		assertSizes(t, lab, "carol", job, 1, 3)
		nodes := slices.Concat(walkedNodes(lab, "carol", job)...)
		onThin := 0
		for _, n := range nodes {
			if slices.Contains(thin, n) {
				onThin++
			}
		}
		if gpus := strings.Contains(option, "gpus"); gpus && onThin != 0 || !gpus && onThin != len(nodes) {
			t.Errorf("%s: it was on %v", option, nodes)
		}
	}
	if out := outputOf(lab, "carol", jobs["--gpus-per-node=2"]); strings.Count(out, " 0,1\n") != 3 {
		t.Errorf("want two GPUs on each of three nodes:\n%s", out)
	}
	assertClean(t, p)
}

func TestAManagedJobPreemptsThoseOfALowerTierForItsStartAndItsGrowth(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"+
		"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 OverSubscribe=YES:2 PriorityTier=2 PreemptMode=OFF State=UP\n"+
		"PartitionName=shared Nodes=ALL MaxTime=INFINITE DefaultTime=10 OverSubscribe=NO PriorityTier=1 PreemptMode=REQUEUE State=UP")
	p := serving(t, lab, manyClients)
	var low []string
	for range 6 {
		low = append(low, lab.Submit(t, "bob", sleeps, "-p", "shared", "-N1", "--exclusive", "--requeue"))
	}
	restarts := func(job string) int {
		_, rest, _ := strings.Cut(runClient(t, lab, "scontrol", "-o", "show", "job", job), "Restarts=")
		n, _ := strconv.Atoi(strings.Fields(rest)[0])
		return n
	}
	lab.Await(t, time.Minute, "jobs of the lower tier have all nodes", func() bool {
		return strings.Count(runClient(t, lab, "squeue", "-h", "-u", "bob", "-t", "R", "-o", "%A"), "\n") == 5
	})
	job := lab.Submit(t, "alice", walkScript("2x20s,4x20s", 2))
	assertSizes(t, lab, "alice", job, 2, 4)
	preempted := 0
	for _, id := range low {
		if restarts(id) > 0 {
			preempted++
		}
	}
	if preempted != 4 {
		t.Errorf("%d of six jobs were preempted, want 4", preempted)
	}
	lab.Run(t, "bob", append([]string{"scancel"}, low...)...)
	assertClean(t, p)
}

func TestNodesThatArePoweredDownAreWokenAheadAndNeverMergedWhileTheyBoot(t *testing.T) {
	t.Parallel()
	lab := siteLab(t, "")
	program := filepath.Join(lab.Dir, "etc", "power")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	lab.Change(t, fmt.Sprintf("SuspendProgram=%s\nResumeProgram=%s\nSuspendTime=36000\nSuspendTimeout=3\nResumeTimeout=30", program, program))
	t.Cleanup(func() {
		_, _, _ = lab.Exec("root", "", "scontrol", "update", "NodeName=n[4-6]", "State=RESUME")
		lab.Change(t, "")
	})
	off, on := "powered_down", "powering_up"
	if lab.Slurm < "21" {
		off, on = "power_down", "power_up"
	}
	in := func(states string) []string {
		return strings.Fields(runClient(t, lab, "sinfo", "-h", "-p", "shared", "-N", "-t", states, "-o", "%N"))
	}
	lab.Run(t, "root", "scontrol", "update", "NodeName=n[4-6]", "State=POWER_DOWN")
	lab.Await(t, time.Minute, "three nodes are powered down", func() bool { return len(in(off)) == 3 })
	p := serving(t, lab, manyClients)
	job := lab.Submit(t, "alice", "#!/bin/bash\n#EP 2x30s,5x20s\nset -- 2\nsleep 29\n"+walkScriptBody)
	booted := map[string]time.Time{}
	lab.Await(t, 2*time.Minute, "the nodes that it grows by boot, each while it is on two", func() bool {
		for _, n := range in(on) {
			// If a node registers before slurmctld has run ResumeProgram, slurmctld does not count the node as
			// booted.
			if time.Since(booted[n]) > 10*time.Second {
				booted[n] = time.Now()
				if v := p.view(job); v == nil || v.Size > 2 {
					t.Errorf("%s is the job's while it boots", n)
				}
				lab.Do(t, "node-boot", n)
			}
		}
		return state(t, lab, job) == "COMPLETED"
	})
	assertSizes(t, lab, "alice", job, 2, 5)
	if len(booted) < 2 {
		t.Errorf("%d nodes were booted, want two at least", len(booted))
	}
	for _, grew := range p.events(job, "grew") {
		if late, _ := grew.Args["lateness"].(float64); late > 5 {
			t.Errorf("it grew %.1f s late: the nodes were not woken ahead", late)
		}
	}
}
