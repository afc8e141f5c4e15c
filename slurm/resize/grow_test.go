package resize

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/slurm/client/clienttest"
	"accordion/slurm/output"
	"accordion/slurm/output/outputtest"
)

func TestAJobGrowsByAMergeAndShrinksOnEveryRelease(t *testing.T) {
	port := clienttest.Database(t)
	for _, release := range outputtest.Releases {
		t.Run(release, func(t *testing.T) {
			onSlurm(t, release, map[string]string{"AccountingStoragePort": port}, func(b *fixture) {
				e, err := b.expand("n3", "n4")
				b.ok(err)
				salloc := "salloc --no-shell --no-bell --chdir=/ --partition=main --job-name=accordion-grow-46 --nodes=2 --nodelist=n[3-4] --mem=0 --dependency=expand:46 --qos=normal --reservation=accordion-46-1"
				if release < "23" {
					salloc += " --priority=TOP --uid=61301 --gid=1000"
				}
				b.did(salloc + " --immediate")
				b.holds(46, "n1", "n2")
				for range 2 { // a repeated call succeeds
					b.ok(b.Merge(b.Context(), b.key(46), e))
				}
				b.did("scontrol update JobId=47 NumNodes=0")
				b.holds(46, "n1", "n2", "n3", "n4")

				shrink := "scontrol update JobId=46 NodeList=n[1,4]"
				if release > "24" {
					shrink += " NumNodes=2"
				}
				for range 2 {
					b.ok(b.Shrink(b.Context(), b.key(46), []string{"n4", "n1"}))
				}
				b.did(shrink)
				b.holds(46, "n1", "n4")
			})
		})
	}
}

func TestWithDeferTheOwnerAllocatesAndWaits(t *testing.T) {
	for _, c := range []struct{ release, scheduler, want string }{
		{"20.11", "permit_job_expansion,defer", ""},
		{"26.05", "permit_job_expansion,defer", ""},
		{"26.05", "permit_job_expansion", " --immediate"},
		{"20.11", "permit_job_expansion", " --priority=TOP --uid=61301 --gid=1000 --immediate"},
	} {
		onSlurm(t, c.release, map[string]string{"SchedulerParameters": c.scheduler}, func(b *fixture) {
			_, err := b.expand("n3")
			b.ok(err)
			if got := b.slurm.Log()[0]; !strings.HasSuffix(got, "--reservation=accordion-46-1"+c.want) {
				t.Errorf("%s with %s: %s", c.release, c.scheduler, got)
			}
		})
	}
}

func TestWhatCannotGrowIsNotAllocatedFor(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		_, err := b.expand()
		b.says(err, "no nodes")
		_, err = b.Expand(b.Context(), &adapter.Job{Key: adapter.Key{ID: 46, Submitted: 7}}, []string{"n3"}, "")
		if !errors.Is(err, adapter.ErrGone) {
			t.Errorf("another job's id: %v", err)
		}
		b.slurm.Change(46, func(j *clienttest.Job) { j.State = "SUSPENDED" })
		if _, err = b.expand("n3"); !errors.Is(err, adapter.ErrFrozen) {
			t.Errorf("a suspended job: %v", err)
		}
		b.slurm.Change(46, func(j *clienttest.Job) { j.State = "CANCELLED" })
		if _, err = b.expand("n3"); !errors.Is(err, adapter.ErrGone) {
			t.Errorf("a job that has ended: %v", err)
		}
		b.did()
	})
	onSlurm(t, "22.05", map[string]string{"AccountingStoragePort": "1"}, func(b *fixture) {
		if _, err := b.expand("n3"); !errors.Is(err, adapter.ErrTrap) {
			t.Errorf("without slurmdbd: %v", err)
		}
		if err := b.Shrink(b.Context(), b.key(46), []string{"n1"}); !errors.Is(err, adapter.ErrTrap) {
			t.Errorf("a shrink without slurmdbd: %v", err)
		}
		e := b.slurm.Add(clienttest.Job{ID: 47, Name: "accordion-grow-46", Nodes: []string{"n3"}, Expands: 46})
		if err := b.Merge(b.Context(), b.key(46), b.key(e.ID)); !errors.Is(err, adapter.ErrTrap) {
			t.Errorf("a merge without slurmdbd: %v", err)
		}
		b.did()
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.overlaps()
		b.slurm.SetNode("n4", "IDLE+DRAIN") // n4 is not a node of the job
		b.slurm.SetNode("n1", "IDLE+DOWN")
		if err := b.drainedNode(b.Context(), []string{"n1", "n2"}); err != nil {
			t.Errorf("no node of its own is drained: %v", err)
		}
		b.slurm.SetNode("n2", "ALLOCATED+DRAIN")
		if _, err := b.expand("n3"); !errors.Is(err, adapter.ErrFrozen) || !strings.Contains(err.Error(), "n2 is ALLOCATED+DRAIN") {
			t.Errorf("an own node is drained: %v", err)
		}
		b.did()
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // for a merge the job's own nodes do not matter
		b.slurm.SetNode("n2", "ALLOCATED+DRAIN")
		_, err := b.expand("n3")
		b.ok(err)
	})
}

func TestWhatSallocRefusesAndWhatItMeans(t *testing.T) {
	const failed = "salloc: error: Job submit/allocate failed: "
	for _, c := range []struct {
		said    string
		want    error
		words   string
		limited int
		did     []string
	}{
		{failed + "Requested nodes are busy\n", adapter.ErrBusy, "expanding job 46 by n3", 0, nil},
		{failed + "Partition in DOWN state\n", adapter.ErrShut, "", 0, nil},
		{failed + "Job can not start due to maintenance reservation.\n", adapter.ErrReserved, "", 0, nil},
		{failed + "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n", adapter.ErrLimit, "", 1, nil},
		{failed + "Job dependency problem\n", nil, "permit_job_expansion", 0, nil},
		{"salloc: error: is not for users\n", nil, "an older Accordion", 0, nil},
		{"salloc: Pending job allocation 99\nsalloc: job 99 queued and waiting for resources\n", adapter.ErrBusy, "", 0, []string{"scancel 99"}},
		{failed + "Something new\n", nil, "Something new", 0, nil},
	} {
		onSlurm(t, "24.11", nil, func(b *fixture) {
			b.slurm.Rule(clienttest.Rule{At: "^salloc", Refuse: c.said})
			_, err := b.expand("n3")
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%q: %v, want %v %q", c.said, err, c.want, c.words)
			}
			for _, other := range []error{adapter.ErrBusy, adapter.ErrShut, adapter.ErrReserved, adapter.ErrLimit, adapter.ErrGone} {
				if errors.Is(err, other) && !errors.Is(c.want, other) {
					t.Errorf("%q: %v is %v too", c.said, err, other)
				}
			}
			if b.limited != c.limited {
				t.Errorf("%q: limits are read again %d times, want %d", c.said, b.limited, c.limited)
			}
			b.did(c.did...)
		})
	}
	onSlurm(t, "24.11", nil, func(b *fixture) { // Slurm's answer does not show that the partition is down
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Refuse: failed + "Requested partition configuration not available now\n"})
		_, err := b.expand("n3")
		if !errors.Is(err, adapter.ErrBusy) {
			t.Errorf("a partition that is up: %v", err)
		}
		b.slurm.SetPartition("main", "State", "DOWN")
		if _, err = b.expand("n3"); !errors.Is(err, adapter.ErrShut) {
			t.Errorf("a partition that is down: %v", err)
		}
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // the job ends during the growth
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Before: func() { b.slurm.Change(46, func(j *clienttest.Job) { j.State = "COMPLETED" }) }})
		if _, err := b.expand("n3"); !errors.Is(err, adapter.ErrGone) || !strings.Contains(err.Error(), "dependency problem") {
			t.Errorf("the job has ended: %v", err)
		}
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Refuse: "salloc: Pending job allocation 99\nsalloc: queued and waiting for resources\n"})
		b.slurm.Rule(clienttest.Rule{At: "^scancel", Refuse: "scancel: error: Unable to contact slurm controller\n"})
		_, err := b.expand("n3")
		b.says(err, "allocation 99, which waits")
	})
}

func TestGarbageOfSallocIsAnError(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Times: 1, Print: "salloc: Granted job allocation 46\n"}) // salloc's line is on the wrong stream, standard output
		if _, err := b.expand("n3"); !errors.Is(err, output.ErrForm) {
			t.Errorf("nothing on standard error: %v", err)
		}
		b.slurm.Rule(clienttest.Rule{At: "show job 47$", Refuse: "slurm_load_jobs error: Invalid job id specified\n"})
		_, err := b.expand("n3")
		b.says(err, "job 47 was created, but cannot be read")
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Refuse: "salloc: Granted job allocation 99999999999999999999\n"})
		_, err := b.expand("n3")
		b.says(err, "out of range")
	})
}

func TestASallocThatHangsIsEndedAtItsTimeLimitAndWhatItQueuedIsCancelled(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Delay: time.Hour})
		begin := time.Now()
		_, err := b.expand("n3")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) < 20*time.Second || time.Since(begin) > 21*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
	})
}

func TestPreemptedJobsAreAwaitedForTenSeconds(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Times: 3, Refuse: "salloc: error: Requested nodes are busy\n"})
		if _, err := b.expand("n3"); !errors.Is(err, adapter.ErrBusy) {
			t.Fatalf("no job is preempted, and it is tried again: %v", err)
		}
		b.GiveWay(map[string]bool{"n4": true})
		if _, err := b.expand("n3"); !errors.Is(err, adapter.ErrBusy) {
			t.Fatalf("no job on n3 is preempted, and it is tried again: %v", err)
		}
		begin := time.Now()
		e, err := b.expand("n3", "n4")
		b.ok(err)
		if took := time.Since(begin); e.ID != 47 || took != 100*time.Millisecond {
			t.Errorf("job %d after %v, want 47 after a tenth of a second", e.ID, took)
		}
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.GiveWay(map[string]bool{"n3": true})
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Refuse: "salloc: error: Requested nodes are busy\n"})
		begin := time.Now()
		if _, err := b.expand("n3"); !errors.Is(err, adapter.ErrBusy) || time.Since(begin) != preemptionWait {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		ctx, cancel := context.WithTimeout(b.Context(), 1050*time.Millisecond)
		defer cancel()
		begin = time.Now()
		_, err := b.Expand(ctx, &adapter.Job{Key: b.key(46)}, []string{"n3"}, "accordion-46-1")
		if !errors.Is(err, adapter.ErrBusy) || time.Since(begin) != 1050*time.Millisecond {
			t.Errorf("an act of a second: after %v: %v", time.Since(begin), err)
		}
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.GiveWay(map[string]bool{"n3": true})
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Refuse: "salloc: error: Partition in DOWN state\n"})
		begin := time.Now()
		if _, err := b.expand("n3"); !errors.Is(err, adapter.ErrShut) || time.Since(begin) != 0 {
			t.Errorf("a partition that is down is waited for: after %v: %v", time.Since(begin), err)
		}
	})
}

func TestAShrinkThatCannotBeIsRefusedBeforeAnythingIsDone(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.says(b.Shrink(b.Context(), b.key(46), []string{"n1", "n3"}), "it does not hold n3 (it holds n[1-2])")
		b.says(b.Shrink(b.Context(), b.key(46), []string{"n2"}), "n1 runs its script and must be kept")
		b.did()
		b.slurm.Rule(clienttest.Rule{At: "^scontrol update", Times: 1, Print: "\n"})
		b.says(b.Shrink(b.Context(), b.key(46), []string{"n1"}), "Slurm left it n[1-2]")
		b.slurm.Rule(clienttest.Rule{At: "^scontrol update", Times: 1, Refuse: "slurm_update error: Job has already finished\n"})
		if err := b.Shrink(b.Context(), b.key(46), []string{"n1"}); !errors.Is(err, adapter.ErrGone) {
			t.Errorf("the job has ended: %v", err)
		}
		b.slurm.Rule(clienttest.Rule{At: "show job 46", Skip: 1, Times: 1, Refuse: "slurm_load_jobs error: Zero Bytes were transmitted or received\n"})
		b.says(b.Shrink(b.Context(), b.key(46), []string{"n1"}), "shrinking job 46 to n1: ")
		if err := b.Shrink(b.Context(), adapter.Key{ID: 46, Submitted: 1}, []string{"n1"}); !errors.Is(err, adapter.ErrGone) {
			t.Errorf("another job's id: %v", err)
		}
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // without a script any node may be released
		b.slurm.Change(46, func(j *clienttest.Job) { j.Batch = false })
		b.ok(b.Shrink(b.Context(), b.key(46), []string{"n2"}))
		b.holds(46, "n2")
	})
}
