package slurm_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/slurm/output"
)

// manageAll sets manage = "all" for the lab's partition main until the test ends.
func manageAll(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	file := filepath.Join(lab.Dir, "etc", "accordion.lua")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(file, before, 0o644); err != nil {
			t.Error(err)
		}
	})
	text := strings.Replace(string(before), "return {", `return { manage = "all",`, 1)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// gatedJobs returns the jobs that wait at the gate.
func gatedJobs(t *testing.T, lab *lab.SlurmLab) (jobs []string) {
	t.Helper()
	for line := range strings.Lines(runClient(t, lab, "squeue", "-h", "-a", "-t", "PD", "-o", "%A %v")) {
		if id, reservation, _ := strings.Cut(strings.TrimSpace(line), " "); reservation == output.Gate {
			jobs = append(jobs, id)
		}
	}
	return jobs
}

// awaitGate waits until the gate has the given state, "open" or "shut", and the plug-in can read this state.
func awaitGate(t *testing.T, lab *lab.SlurmLab, stands string) {
	t.Helper()
	lab.Await(t, time.Minute, "the gate is "+stands, func() bool {
		for line := range strings.Lines(runClient(t, lab, "scontrol", "-o", "show", "reservation")) {
			if strings.Contains(line, "ReservationName="+output.Gate+" ") && strings.Contains(line, "BurstBuffer="+stands+" ") {
				return true
			}
		}
		return false
	})
}

// releaseAll runs `accordion release-all`, as the timer does.
func releaseAll(p *process, flags ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(p.lab.Dir, "bin", "accordion"), append([]string{"release-all", "--config", p.config}, flags...)...)
	c.Env = p.lab.Env()
	out, err := c.CombinedOutput()
	return fmt.Sprint(string(out), err)
}

// On an idle machine a job starts as early as without a sidecar. If other jobs wait, the job waits until its
// planned start. When the sidecar has died, Slurm may start all jobs within two minutes. The next sidecar moves the
// jobs that still wait to the gate again.
func TestAPartitionIsWhollyTheSidecarsAndSlurmsAgainWhenThatDies(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	manageAll(t, lab)
	p := serving(t, lab, "manage = \"all\"\n[lease]\nlength = \"20s\"")
	if says := p.accordion("preflight"); !strings.Contains(says, `manage = "all": every job of partition main`) {
		t.Errorf("preflight says\n%s", says)
	}
	awaitGate(t, lab, "open")
	lab.Run(t, "root", "rm", "-f", lab.Dir+"/home/alice/first", lab.Dir+"/home/alice/evolved", lab.Dir+"/home/bob/small") // left by an earlier run
	begin := time.Now()
	lab.Submit(t, "alice", "date +%s%N >first", "-N1", "-t1")
	lab.Await(t, time.Minute, "it has begun", func() bool { return lab.File("alice", "first") != "" })
	took := time.Since(begin)
	if t.Logf("a job on the idle machine had begun %v after sbatch was called", took); took > 2*time.Second && *long {
		t.Error("want 2 s at most")
	}
	if says := p.accordion("status"); !strings.Contains(says, "every job of the partition is planned") {
		t.Errorf("status says\n%s", says)
	}

	// While jobs wait, no job may overtake another.
	evolving := lab.Submit(t, "alice", "#EP 2x10s,4x10s\nsleep 9\neval \"$(accordion step)\"\nsleep 5\necho done >evolved")
	for range 6 {
		lab.Submit(t, "alice", "sleep 3", "-N4", "-t1")
	}
	lab.Await(t, time.Minute, "jobs wait at the gate", func() bool { return len(gatedJobs(t, lab)) > 2 })
	awaitGate(t, lab, "shut") // the plug-in reads the state of the gate separately, perhaps after the first jobs wait at the gate
	small := lab.Submit(t, "bob", "echo small >small", "-n1", "-t1")
	if waits := gatedJobs(t, lab); !strings.Contains(strings.Join(waits, " "), small) {
		t.Errorf("job %s overtook waiting jobs: %v", small, waits)
	}
	if shown := runClient(t, lab, "scontrol", "-o", "show", "job", small); !strings.Contains(shown, "OverSubscribe=NO") && !strings.Contains(shown, "Exclusive=NODE") {
		t.Errorf("it does not get a whole node: %s", shown)
	}
	lab.Await(t, 3*time.Minute, "all have run", func() bool { return runClient(t, lab, "squeue", "-h", "-a", "-o", "%A") == "" })
	if lab.File("bob", "small") == "" || lab.File("alice", "evolved") == "" {
		t.Errorf("job %s or %s did not run to its end", small, evolving)
	}

	// The sidecar dies while jobs are queued.
	for range 8 {
		lab.Submit(t, "alice", "sleep 5", "-N4", "-t1")
	}
	lab.Await(t, time.Minute, "jobs wait at the gate", func() bool { return len(gatedJobs(t, lab)) > 3 })
	p.kill()
	dead := time.Now()
	if says := releaseAll(p); !strings.Contains(says, "lives: nothing is given back") {
		t.Errorf("just after kill -9 release-all prints %s", says)
	}
	lab.Await(t, 2*time.Minute, "the queue is Slurm's", func() bool {
		if says := releaseAll(p); !strings.Contains(says, "jobs are given back") {
			time.Sleep(2 * time.Second) // Slurm does not report the end of a lease
			return false
		}
		return true
	})
	if waits := gatedJobs(t, lab); len(waits) > 0 {
		t.Errorf("%v wait for a dead sidecar", waits)
	}
	passes := lab.Submit(t, "bob", "sleep 1", "-N4", "-t1")
	if waits := gatedJobs(t, lab); len(waits) > 0 {
		t.Errorf("job %s waits for a dead sidecar", passes)
	}
	t.Logf("Slurm had the queue %v after kill -9", time.Since(dead).Round(time.Second))
	for range 4 {
		lab.Submit(t, "bob", "sleep 3", "-N4", "-t1")
	}

	// The next sidecar starts.
	p.start()
	lab.Await(t, time.Minute, "the sidecar has taken jobs again", func() bool { return len(gatedJobs(t, lab)) > 0 })
	lab.Await(t, 4*time.Minute, "all have run", func() bool { return runClient(t, lab, "squeue", "-h", "-a", "-o", "%A") == "" })
	awaitAllEnded(t, p)
	p.stop()
}

// shortJobs returns 500 jobs of 1 to 60 s, two per second. Run times of 1 to 2 s are as frequent as run times of 30
// to 60 s. Most jobs need one node. Every eighth job needs two to four nodes.
func shortJobs(seed uint64) []*submission {
	r := rand.New(rand.NewPCG(seed, 3))
	var all []*submission
	for i := range 500 {
		length, nodes := math.Exp(r.Float64()*math.Log(60)), 1
		if r.IntN(8) == 0 {
			nodes = 2 + r.IntN(3)
		}
		limit := 1
		if length > 50 {
			limit = 2
		}
		all = append(all, &submission{at: time.Duration(i) * 500 * time.Millisecond, user: workloadUsers[r.IntN(len(workloadUsers))], kind: "ordinary",
			script:  fmt.Sprintf("sleep %.1f", length),
			options: []string{"--partition=main", "--exclusive", fmt.Sprintf("--nodes=%d", nodes), fmt.Sprintf("--time=%d", limit)}})
	}
	return all
}

// turnarounds returns the seconds from submission to end of each job of a workload.
func turnarounds(t *testing.T, lab *lab.SlurmLab, all []*submission) []float64 {
	t.Helper()
	since := time.Now()
	submitAll(t, lab, all)
	awaitNoJobs(t, lab, 40*time.Minute)
	var took []float64
	lab.Await(t, 2*time.Minute, "accounting knows every end", everySecond(func() bool {
		took = nil
		for _, r := range readAccounts(t, lab, since) {
			if r.end > 0 {
				took = append(took, float64(r.end-r.submit))
			}
		}
		return len(took) >= len(all)
	}))
	return took
}

// Planning does not delay short jobs. The test runs the same jobs under Slurm alone with its own settings, and in a
// partition with manage = "all".
func TestShortJobsDoNotPayForAWholePartition(t *testing.T) {
	if !*long {
		t.Skip("half an hour: -accordion.long")
	}
	lab := workloadLab(t)
	alone := turnarounds(t, lab, shortJobs(*seed))
	lab.Clear(t)
	manageAll(t, lab)
	programs := filepath.Join(openFolder(t), "programs")
	begun := time.Now()
	p := serving(t, lab, fmt.Sprintf("manage = \"all\"\nbin = %q", countingClients(t, programs)))
	beside := turnarounds(t, lab, shortJobs(*seed))
	most := mostInAMinute(t, programs, begun)
	t.Logf("500 short jobs: mean turnaround %.1f s under Slurm alone, %.1f s beside the sidecar; median %.0f and %.0f s, longest %.0f and %.0f s; client programs in the fullest minute: %d",
		mean(alone), mean(beside), quantile(alone, 0.5), quantile(beside, 0.5), quantile(alone, 1), quantile(beside, 1), most)
	if ratio := mean(beside) / mean(alone); ratio > 1.02 { // accounting knows whole seconds
		t.Errorf("the mean turnaround is %.3f times that under Slurm alone", ratio)
	}
	if most > 60 {
		t.Errorf("%d client programs began in a minute, want 60 at most", most)
	}
	p.stop()
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
