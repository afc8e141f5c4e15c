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
)

// needsDatabase reports whether a resize without slurmdbd makes Slurm refuse all later updates of the job: from
// 21.08.8 to 24.05.
func needsDatabase(lab *lab.SlurmLab) bool { return lab.Slurm >= "21.08.8" && lab.Slurm < "24.05" }

// slurmdbd does not answer when a growth is due, in a long run for a minute. Either it is dead, or it hangs while
// its port still accepts connections.
func TestWithoutSlurmdbdNothingIsResizedUntilItIsBack(t *testing.T) {
	t.Parallel()
	t.Run("dead", func(t *testing.T) {
		t.Parallel()
		runWithoutDatabase(t, func(lab *lab.SlurmLab) (back func()) {
			lab.Do(t, "dbd-stop")
			return func() { lab.Do(t, "dbd-start") }
		})
	})
	t.Run("hung", func(t *testing.T) {
		t.Parallel()
		runWithoutDatabase(t, func(lab *lab.SlurmLab) (back func()) { return stopDatabase(t, lab) })
	})
}

func runWithoutDatabase(t *testing.T, away func(*lab.SlurmLab) (back func())) {
	lab := faultLab(t, 8)
	if !needsDatabase(lab) {
		t.Skipf("Slurm %s resizes without slurmdbd", lab.Slurm)
	}
	p := serving(t, lab, "")
	job := submitEvolving(t, lab, 27, []int{2, 4, 1})
	awaitEvent(t, p, job, "started", 2*time.Minute)
	promised := int64(0)
	lab.Await(t, time.Minute, "status promises the job's end", func() bool {
		v := p.view(job)
		if v != nil {
			promised = v.Promised
		}
		return promised > 0
	})
	awaitAccounted(t, lab)
	back, since, wait, least := away(lab), time.Now(), 35*time.Second, int64(5) // `least` is how many seconds later the promised end must be
	if *long {
		wait, least = time.Minute, 20
	}
	lab.Await(t, 2*time.Minute, "a growth is refused", func() bool {
		for _, e := range p.journal(job) {
			if e.Verb == "expand" && strings.Contains(e.Outcome, "slurmdbd does not answer") {
				return true
			}
		}
		return false
	})
	lab.Await(t, 2*time.Minute, "slurmdbd was away for long", func() bool {
		if got := heldNodes(lab, job); got != "" && !strings.HasPrefix(got, "2 ") {
			t.Errorf("without slurmdbd the job was resized: it is on %s", got)
		}
		return time.Since(since) > wait || t.Failed()
	})
	back()
	awaitEvent(t, p, job, "grew", time.Minute)
	// The sidecar writes its status at the end of the cycle that logs the growth.
	lab.Await(t, 20*time.Second, fmt.Sprintf("status promises its end %d s later than for %d", least, promised), func() bool {
		v := p.view(job)
		return v != nil && v.Promised >= promised+least
	})
	awaitEnded(t, lab, 3*time.Minute, job)
	if got := stepOutput(lab, job); got != expectedOutput(2, 4, 1) {
		t.Errorf("%q, want %q", got, expectedOutput(2, 4, 1))
	}
	assertClean(t, p)
}

// stopDatabase keeps slurmdbd from answering without ending it. The returned function lets it continue.
func stopDatabase(t *testing.T, lab *lab.SlurmLab) (goOn func()) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(lab.Dir, "pid", "slurmdbd.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGSTOP)
	}
	if err != nil {
		t.Fatal(err)
	}
	goOn = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	t.Cleanup(goOn)
	return goOn
}

// A slurmctld that ends while it waits for the database's id of a job never learns it, and refuses every later change
// of that job.
func TestAJobThatSlurmctldCannotChangeAnyMoreHoldsUpNobody(t *testing.T) {
	if !*long {
		t.Skip("takes a minute and a half; the embedded system shows it too: -args -accordion.long")
	}
	t.Parallel()
	lab := faultLab(t, 4)
	goOn := stopDatabase(t, lab)
	lost := submitEvolving(t, lab, 10, []int{4, 1}) // submitted before the sidecar starts, so that only the plug-in has held the job
	unnumbered := func() bool {
		_, said, err := lab.Exec("root", "", "scontrol", "update", "JobId="+lost, "Comment=x")
		return err != nil && strings.Contains(said, "DB index is being set")
	}
	lab.Await(t, time.Minute, "slurmctld waits for the job's database id", unnumbered)
	lab.Do(t, "ctl-stop", "--kill")
	goOn()
	lab.Do(t, "ctl-start")
	awaitNodesKnown(t, lab)
	if !unnumbered() {
		t.Skip("this slurmctld learned the job's number after its start: there is nothing to show")
	}
	p := serving(t, lab, "")
	next := submitEvolving(t, lab, 10, []int{2, 4})
	lab.Await(t, 3*time.Minute, "the job behind it has ended", func() bool { return stepOutput(lab, next) == expectedOutput(2, 4) })
	lab.Await(t, 2*time.Minute, "status says what to do", func() bool {
		v := p.view(lost)
		return v != nil && strings.Contains(v.Why, "cancel it and submit it again")
	})
	lab.Run(t, "alice", "scancel", lost)
	assertClean(t, p)
}
