package resize

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/slurm/client/clienttest"
	"accordion/slurm/output"
)

// mark returns the mark of job 46's companions.
func (b *fixture) mark() string { return output.MarkCompanion(b.key(46)) }

// companion adds a companion of job 46 on the nodes, as it is after a growth.
func (b *fixture) companion(id int, nodes ...string) {
	b.slurm.Add(clienttest.Job{ID: id, Name: "accordion-with-46", Nodes: nodes, Mark: b.mark(), Limit: 60})
}

func TestACompanionIsTiedToItsJobMarkedAndUntiedFromItsReservation(t *testing.T) {
	for _, release := range []string{"20.11", "22.05", "26.05"} {
		onSlurm(t, release, nil, func(b *fixture) {
			b.companions()
			e, err := b.expand("n3", "n4")
			b.ok(err)
			b.did(salloc + "with-46 --nodes=2 --nodelist=n[3-4] --mem=0 --time=60 ")
			b.ok(b.Merge(b.Context(), b.key(46), e))
			trigger := fmt.Sprintf("strigger --set --jobid=46 --fini --program=%s 47", filepath.Join(b.slurm.Bin, "scancel"))
			want := []string{"scontrol update JobId=47 AdminComment=" + b.mark(), "scontrol update JobId=47 ReservationName="}
			if release > "22" { // on 20.11 slurmctld would not start again
				want = append([]string{trigger}, want...)
			}
			b.did(want...)
			b.ok(b.Merge(b.Context(), b.key(46), e)) // a repeated call succeeds
			b.did()
			b.holds(46, "n1", "n2")
			r, joined, err := b.Together(b.Context(), b.key(46))
			b.ok(err)
			if len(joined) != 1 || joined[0].ID != 47 || !slices.Equal(output.NodesWithCompanions(r, joined), []string{"n1", "n2", "n3", "n4"}) {
				t.Errorf("the job has %v with companions %v", r.Nodes, joined)
			}
		})
	}
}

func TestWhatKeepsAnAllocationFromBecomingACompanion(t *testing.T) {
	with := func(b *fixture) adapter.Key {
		b.companions()
		e, err := b.expand("n3")
		b.ok(err)
		b.slurm.Log()
		return e
	}
	onSlurm(t, "24.11", nil, func(b *fixture) {
		e := with(b)
		b.slurm.Rule(clienttest.Rule{At: "^strigger", Times: 1, Refuse: "slurm_set_trigger: Job/step already completing or completed\n"})
		if err := b.Merge(b.Context(), b.key(46), e); !errors.Is(err, adapter.ErrGone) {
			t.Errorf("the job ends: %v", err)
		}
		b.slurm.Rule(clienttest.Rule{At: "^strigger", Times: 1, Refuse: "slurm_set_trigger: Access/permission denied\n"})
		err := b.Merge(b.Context(), b.key(46), e)
		b.says(err, "having slurmctld end companion 47 with job 46")
		if errors.Is(err, adapter.ErrGone) {
			t.Errorf("a refusal means that the job is gone: %v", err)
		}
		b.did()
		b.slurm.Rule(clienttest.Rule{At: "AdminComment", Times: 1, Refuse: "slurm_update error: Access/permission denied\n"})
		b.says(b.Merge(b.Context(), b.key(46), e), "setting AdminComment")
		b.slurm.Rule(clienttest.Rule{At: "ReservationName=$", Times: 1, Refuse: "slurm_update error: Access/permission denied\n"})
		b.says(b.Merge(b.Context(), b.key(46), e), "setting ReservationName")
		b.slurm.Change(47, func(j *clienttest.Job) { j.Mark = "" })
		b.slurm.Rule(clienttest.Rule{At: "ReservationName=$", Times: 1, After: func() { b.slurm.Change(47, func(j *clienttest.Job) { j.Mark = "mine" }) }})
		if err := b.Merge(b.Context(), b.key(46), e); !errors.Is(err, adapter.ErrGone) || !strings.Contains(err.Error(), "does not have the mark") {
			t.Errorf("a plug-in writes another mark: %v", err)
		}
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		e := with(b)
		b.slurm.Change(46, func(j *clienttest.Job) { j.State = "COMPLETED" })
		if err := b.Merge(b.Context(), b.key(46), e); !errors.Is(err, adapter.ErrGone) {
			t.Errorf("the job has ended: %v", err)
		}
		b.did()
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		e := with(b)
		r := b.record(47)
		b.slurm.Change(47, func(j *clienttest.Job) { j.State = "COMPLETING" })
		r.State, r.Why = adapter.Ending, "COMPLETING"
		if err := b.join(b.Context(), b.key(46), r); !errors.Is(err, adapter.ErrGone) || !strings.Contains(err.Error(), "the companion is COMPLETING") {
			t.Errorf("the companion has ended: %v", err)
		}
		b.slurm.Rule(clienttest.Rule{At: "^squeue|show job$", Refuse: "slurm_load_jobs error: Unable to contact slurm controller\n"})
		b.says(b.Merge(b.Context(), b.key(46), e), "Unable to contact")
		b.did()
	})
}

// On a cluster where no allocation can be made smaller, the job may still release some nodes and keep others.
func TestEachNodeIsACompanionOfItsOwnWhereAllocationsCannotShrink(t *testing.T) {
	trapped := map[string]string{"AccountingStorageType": "accounting_storage/none"}
	onSlurm(t, "22.05", trapped, func(b *fixture) {
		e, err := b.expand("n3", "n4", "n5")
		b.ok(err)
		if e.ID != 47 {
			t.Errorf("the growth is named %d, want the first allocation", e.ID)
		}
		b.did(salloc+"with-46 --nodes=1 --nodelist=n3 ", salloc+"with-46 --nodes=1 --nodelist=n4 ", salloc+"with-46 --nodes=1 --nodelist=n5 ")
		b.ok(b.Merge(b.Context(), b.key(46), e))
		for id := 47; id <= 49; id++ {
			if j := b.slurm.Job(id); j.Mark != b.mark() || j.Reservation != "" {
				t.Errorf("companion %d: %+v", id, j)
			}
		}
		b.slurm.Log()
		b.slurm.Change(48, func(j *clienttest.Job) { j.Steps = []string{"4294967290", "0", "17"} })
		b.ok(b.Shrink(b.Context(), b.key(46), []string{"n1", "n2", "n3", "n5"}))
		b.did("scancel --signal=KILL 48.4294967290 48.0 48.17", "scancel 48")
	})
	onSlurm(t, "22.05", trapped, func(b *fixture) { // one node is busy, so the job gets no nodes
		b.slurm.Add(clienttest.Job{ID: 100, User: "bob", UID: 61302, Nodes: []string{"n5"}, Limit: 60})
		b.slurm.Add(clienttest.Job{ID: 200, Name: "accordion-with-46", Nodes: []string{"n6"}, Reservation: "accordion-46-0"}) // a companion from an earlier growth
		b.slurm.Add(clienttest.Job{ID: 201, Name: "accordion-with-45", Reservation: "accordion-46-1"})                        // a companion of another job
		if _, err := b.expand("n3", "n4", "n5"); !errors.Is(err, adapter.ErrBusy) {
			t.Errorf("%v", err)
		}
		all := b.slurm.Log()
		if cancelled := all[len(all)-2:]; !slices.Equal(cancelled, []string{"scancel 202", "scancel 203"}) {
			t.Errorf("%v, want the two that were made cancelled", all)
		}
	})
	onSlurm(t, "22.05", trapped, func(b *fixture) { // the first allocation is refused, so no allocation must be ended
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Refuse: "salloc: error: Requested nodes are busy\n"})
		b.slurm.Rule(clienttest.Rule{At: "show job$", Refuse: "slurm_load_jobs error: Unable to contact slurm controller\n"})
		if _, err := b.expand("n3", "n4"); !errors.Is(err, adapter.ErrBusy) || strings.Contains(err.Error(), "Unable") {
			t.Errorf("%v", err)
		}
	})
	onSlurm(t, "22.05", trapped, func(b *fixture) { // not all allocations can be made companions
		e, err := b.expand("n3", "n4")
		b.ok(err)
		b.slurm.Rule(clienttest.Rule{At: "JobId=48 AdminComment", Refuse: "slurm_update error: Access/permission denied\n"})
		b.says(b.Merge(b.Context(), b.key(46), e), "job 48: setting AdminComment")
		if b.slurm.Job(47).Mark != "" { // this companion is marked last, so if it has its mark, all companions have theirs
			t.Error("the allocation that names the growth is marked before the others")
		}
	})
}

func TestAnAllocationOutsideAReservationIsNoCompanion(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.companions()
		b.slurm.Add(clienttest.Job{ID: 47, Name: "accordion-with-46", Nodes: []string{"n3"}}) // any user may give a job this name
		if all, err := b.pendingCompanions(b.Context(), 46, ""); err != nil || len(all) > 0 {
			t.Errorf("made: %v, %v", all, err)
		}
		_, joined, err := b.Together(b.Context(), b.key(46))
		if err != nil || len(joined) > 0 {
			t.Errorf("together: %v, %v", joined, err)
		}
	})
}

func TestAShrinkTakesFromCompanionsAndTheJob(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.companions()
		b.companion(47, "n3", "n4")
		b.companion(48, "n5")
		b.slurm.Add(clienttest.Job{ID: 49, Name: "accordion-with-45", Nodes: []string{"n6"}, Mark: output.MarkCompanion(adapter.Key{ID: 45, Submitted: 1})})
		b.ok(b.Shrink(b.Context(), b.key(46), []string{"n1", "n4"}))
		b.did("scontrol update JobId=47 NodeList=n4 NumNodes=1", "scancel 48", "scontrol update JobId=46 NodeList=n1 NumNodes=1")
		b.holds(46, "n1")
		b.holds(47, "n4")
		b.says(b.Shrink(b.Context(), b.key(46), []string{"n4"}), "n1 runs its script and must be kept")
		b.slurm.Rule(clienttest.Rule{At: "^squeue|show job$", Times: 1, Refuse: "slurm_load_jobs error: Unable to contact slurm controller\n"})
		b.says(b.Shrink(b.Context(), b.key(46), []string{"n1"}), "Unable to contact")
		b.slurm.Rule(clienttest.Rule{At: "^scancel", Times: 1, Refuse: "scancel: error: Access/permission denied\n"})
		b.says(b.Shrink(b.Context(), b.key(46), []string{"n1"}), "shrinking job 46 to n1: job 47: ")
	})
}

func TestACompanionIsCanceledWithItsSteps(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.companion(47, "n3")
		b.slurm.Change(47, func(j *clienttest.Job) { j.Steps = []string{"extern", "0"} })
		b.slurm.Rule(clienttest.Rule{At: "^scancel --signal", Refuse: "scancel: error: Job/step already completing or completed\n"})
		b.ok(b.CancelCompanion(b.Context(), b.key(47)))
		b.did("scancel 47")
		b.ok(b.CancelCompanion(b.Context(), b.key(47))) // this companion has ended
		b.slurm.Rule(clienttest.Rule{At: "show step 48", Times: 1, Refuse: "slurm_get_job_steps() error: Unable to contact slurm controller\n"})
		b.companion(48, "n3")
		b.slurm.Log()
		b.says(b.CancelCompanion(b.Context(), b.key(48)), "the steps of companion 48")
		b.did()
		b.slurm.Rule(clienttest.Rule{At: "show step 48", Times: 1, Print: "StepId=48.3 State=RUNNING\nStepId=480.4 State=RUNNING\nStepId=48.batch State=RUNNING\nStepId=48.5+0 State=RUNNING\n"})
		b.ok(b.CancelCompanion(b.Context(), b.key(48)))
		b.did("scancel 48")
	})
}

// A scontrol that is not a console fails for a job without steps. A console only prints a message.
func TestACompanionWithoutStepsIsCanceledWithoutAConsole(t *testing.T) {
	onSlurm(t, "22.05", nil, func(b *fixture) {
		b.companion(47, "n3")
		b.Resizer.Run.Consoles.NoteSilent(time.Now())
		b.ok(b.CancelCompanion(b.Context(), b.key(47)))
		b.did("scancel 47")
	})
}

func TestCompanionsHaveTheLimitOfTheirJobAndAreSuspendedWithIt(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *fixture)
		want   []string
	}{
		{"all is done", func(*fixture) {}, nil},
		{"it ends before its job", func(b *fixture) { b.slurm.Change(47, func(j *clienttest.Job) { j.Limit = 30 }) }, []string{"scontrol update JobId=47 TimeLimit=60"}},
		{"its job's limit was raised", func(b *fixture) { b.slurm.Change(46, func(j *clienttest.Job) { j.Limit = 180 }) }, []string{"scontrol update JobId=47 TimeLimit=120"}},
		{"it was not untied", func(b *fixture) { b.slurm.Change(47, func(j *clienttest.Job) { j.Reservation = "accordion-46-1" }) }, []string{"scontrol update JobId=47 ReservationName="}},
		{"its job is suspended", func(b *fixture) { b.slurm.Change(46, func(j *clienttest.Job) { j.State = "SUSPENDED" }) }, []string{"scontrol suspend 47"}},
		{"its job goes on", func(b *fixture) { b.slurm.Change(47, func(j *clienttest.Job) { j.State = "SUSPENDED" }) }, []string{"scontrol resume 47"}},
		{"its job has ended", func(b *fixture) { b.slurm.Change(46, func(j *clienttest.Job) { j.State = "COMPLETING" }) }, nil},
		{"it has ended", func(b *fixture) { b.slurm.Change(47, func(j *clienttest.Job) { j.State = "COMPLETING" }) }, nil},
		{"it is no companion", func(b *fixture) { b.slurm.Change(47, func(j *clienttest.Job) { j.Name = "mine" }) }, nil},
		{"one is refused", func(b *fixture) {
			b.companion(48, "n4")
			for _, id := range []int{47, 48} {
				b.slurm.Change(id, func(j *clienttest.Job) { j.Limit = 30 })
			}
			b.slurm.Rule(clienttest.Rule{At: "JobId=47", Refuse: "slurm_update error: Access/permission denied\n"})
		}, []string{"scontrol update JobId=48 TimeLimit=60"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onSlurm(t, "24.11", nil, func(b *fixture) {
				b.companion(47, "n3")
				c.change(b)
				time.Sleep(time.Second)
				jobs, err := b.Jobs.List(b.Context())
				b.ok(err)
				b.TendCompanions(b.Context(), jobs)
				b.did(c.want...)
			})
		})
	}
}

func TestSlurmUserIsReadWithItsNumber(t *testing.T) {
	for text, want := range map[string]uint32{"slurm(64030)": 64030, "root(0)": 0, "slurm": 1, "": 1, "slurm(x)": 1, "s(99999999999)": 1} {
		as, err := slurmUser(output.Configuration{"SlurmUser": text})
		if (err != nil) != (want == 1) || err == nil && as.Uid != want {
			t.Errorf("%q: %v, %v", text, as, err)
		}
	}
	onSlurm(t, "24.11", map[string]string{"SlurmUser": "slurm"}, func(b *fixture) {
		b.says(b.endCompanionWith(b.Context(), b.key(46), b.key(46)), `SlurmUser is "slurm": it has no user id`)
	})
}
