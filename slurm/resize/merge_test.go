package resize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/slurm/client/clienttest"
)

// expander adds job 47, an expander of job 46 on n3 in the reservation.
func (b *fixture) expander(change func(*clienttest.Job)) adapter.Key {
	j := clienttest.Job{ID: 47, Name: "accordion-grow-46", Nodes: []string{"n3"}, Expands: 46, Reservation: "accordion-46-1"}
	if change != nil {
		change(&j)
	}
	b.slurm.Add(j)
	time.Sleep(2 * time.Second) // the second of the job's submission must have ended
	return b.key(47)
}

func (b *fixture) merge47() error { return b.Merge(b.Context(), b.key(46), b.key(47)) }

func TestTheStepsOfAnExpanderAreEndedBeforeItsMerge(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.expander(func(j *clienttest.Job) { j.Steps = []string{"4294967292"} })
		b.ok(b.merge47())
		b.did("scontrol update JobId=47 NumNodes=0", "scancel 47.4294967292", "scontrol update JobId=47 NumNodes=0")
		b.holds(46, "n1", "n2", "n3")
	})
}

// A step that never ends must not use up the client programs of a minute.
func TestAStepThatGoesOnIsEndedAgainAfterLongerAndLonger(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.expander(func(j *clienttest.Job) { j.Steps = []string{"4294967292"} })
		var told []time.Duration
		begin := time.Now()
		b.slurm.Rule(clienttest.Rule{At: "^scancel", Print: "\n", Before: func() { told = append(told, time.Since(begin)) }})
		ctx, cancel := context.WithTimeout(b.Context(), 5010*time.Millisecond)
		defer cancel()
		err := b.Merge(ctx, b.key(46), b.key(47))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "until the expander's nodes are ready") {
			t.Errorf("%v", err)
		}
		want := []time.Duration{0, 200 * time.Millisecond, 600 * time.Millisecond, 1400 * time.Millisecond, 3 * time.Second}
		if !slices.EqualFunc(told, want, func(got, want time.Duration) bool { return got >= want && got < want+5*PollInterval }) {
			t.Errorf("it was told to end after %v, want about %v", told, want)
		}
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.expander(func(j *clienttest.Job) { j.Steps = []string{"4294967292"} })
		b.slurm.Rule(clienttest.Rule{At: "^scancel", Times: 1, Refuse: "scancel: error: Job/step already completing or completed\n",
			Before: func() { b.slurm.Change(47, func(j *clienttest.Job) { j.Steps = nil }) }})
		b.ok(b.merge47()) // the step ended meanwhile
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.expander(func(j *clienttest.Job) { j.Steps = []string{"4294967292"} })
		b.slurm.Rule(clienttest.Rule{At: "^scancel", Refuse: "scancel: error: Access/permission denied\n"})
		b.says(b.merge47(), "ending the steps 47.4294967292, which Slurm created")
	})
}

func TestAnExpanderIsMergedOnceItsNodesAreReady(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings map[string]string
		before   func(*clienttest.Job)
		waits    bool
	}{
		{"its nodes boot", nil, func(j *clienttest.Job) { j.State = "CONFIGURING" }, true},
		{"a prolog runs", map[string]string{"Prolog": "/etc/prolog"}, func(j *clienttest.Job) { j.Reason = "Prolog" }, true},
		{"Slurm calls it so without one", nil, func(j *clienttest.Job) { j.Reason = "Prolog" }, false},
		{"it has a prolog, and is ready", map[string]string{"Prolog": "/etc/prolog"}, nil, false},
	} {
		onSlurm(t, "24.11", c.settings, func(b *fixture) {
			b.expander(c.before)
			begin := time.Now()
			timer := time.AfterFunc(300*time.Millisecond, func() { b.slurm.Change(47, func(j *clienttest.Job) { j.State, j.Reason = "RUNNING", "None" }) })
			defer timer.Stop()
			b.ok(b.merge47())
			if took := time.Since(begin); (took >= 300*time.Millisecond) != c.waits || took > 300*time.Millisecond+2*PollInterval {
				t.Errorf("%s: merged after %v", c.name, took)
			}
		})
	}
}

func TestWhatCannotBeMergedIsAnErrorThatSaysWhy(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.expander(func(j *clienttest.Job) { j.State = "CANCELLED" })
		if err := b.merge47(); !errors.Is(err, adapter.ErrGone) || !strings.Contains(err.Error(), "merging 47 into job 46: the expander is CANCELLED") {
			t.Errorf("a cancelled expander: %v", err)
		}
		if err := b.merge(b.Context(), siteOf(b), b.record(46), b.record(47)); !errors.Is(err, adapter.ErrGone) {
			t.Errorf("a cancelled expander, seen late: %v", err)
		}
		if err := b.Merge(b.Context(), b.key(46), adapter.Key{ID: 99, Submitted: 1}); !errors.Is(err, adapter.ErrGone) {
			t.Errorf("an expander that never was: %v", err)
		}
		b.did()
	})
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.expander(nil)
		b.slurm.Rule(clienttest.Rule{At: "NumNodes=0", Times: 1, Refuse: "slurm_update error: Access/permission denied\n"})
		b.says(b.merge47(), "Access/permission denied")
		b.slurm.Rule(clienttest.Rule{At: "NumNodes=0", Times: 1, After: func() { b.slurm.Change(46, func(j *clienttest.Job) { j.Nodes = []string{"n1", "n2"} }) }})
		b.says(b.merge47(), "the job has n[1-2] now, without n3")
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // the parent has ended, and the expander is cancelled before it is read again
		b.expander(nil)
		b.slurm.Change(46, func(j *clienttest.Job) { j.State = "COMPLETED" })
		if err := b.merge47(); !errors.Is(err, adapter.ErrGone) || len(b.lost) != 0 {
			t.Errorf("%v, lost %v", err, b.lost)
		}
		b.did()
	})
}

// Slurm accepts a merge into a job that has ended, and then no job holds the nodes.
func TestNodesThatWereMergedIntoAJobAsItEndedAreSetFree(t *testing.T) {
	ends := func(b *fixture) func() {
		return func() { b.slurm.Change(46, func(j *clienttest.Job) { j.State = "COMPLETED" }) }
	}
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.expander(nil)
		b.slurm.Rule(clienttest.Rule{At: "NumNodes=0", Before: ends(b)})
		if err := b.merge47(); !errors.Is(err, adapter.ErrGone) || !strings.Contains(err.Error(), "it ended meanwhile") {
			t.Errorf("%v", err)
		}
		if want := [][]string{{"n1", "n2", "n3"}}; !slices.EqualFunc(b.lost, want, slices.Equal[[]string]) {
			t.Errorf("freed: %v, want %v", b.lost, want)
		}
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // a sidecar that was killed between merge and check starts again
		b.expander(func(j *clienttest.Job) { j.State = "COMPLETED" })
		ends(b)()
		if err := b.merge47(); !errors.Is(err, adapter.ErrGone) || !strings.Contains(err.Error(), "it was merged, and has ended") {
			t.Errorf("%v", err)
		}
		if len(b.lost) != 1 || b.lost[0] != nil {
			t.Errorf("freed: %v, want all that are lost", b.lost)
		}
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // Slurm does not answer, so it is unknown whether nodes were lost
		b.expander(nil)
		b.slurm.Rule(clienttest.Rule{At: "show job 46", Skip: 1, Refuse: "slurm_load_jobs error: Unable to contact slurm controller\n"})
		if err := b.merge47(); err == nil || errors.Is(err, adapter.ErrGone) || len(b.lost) > 0 {
			t.Errorf("%v, lost %v", err, b.lost)
		}
	})
}

func TestAMergeEndsWhenEpilogsHaveLeftTheNodes(t *testing.T) {
	for _, c := range []struct {
		epilog string
		waits  time.Duration
	}{{"/etc/epilog", 200 * time.Millisecond}, {"(null)", 0}} {
		onSlurm(t, "24.11", map[string]string{"Epilog": c.epilog}, func(b *fixture) {
			b.expander(nil)
			b.slurm.SetNode("n3", "ALLOCATED+COMPLETING")
			b.slurm.SetNode("n5", "IDLE+COMPLETING") // a node of another job
			begin := time.Now()
			timer := time.AfterFunc(200*time.Millisecond, func() { b.slurm.SetNode("n3", "") })
			defer timer.Stop()
			b.ok(b.merge47())
			if took := time.Since(begin); took < c.waits || took > c.waits+2*PollInterval {
				t.Errorf("Epilog=%s: merged after %v, want %v", c.epilog, took, c.waits)
			}
		})
	}
	onSlurm(t, "24.11", map[string]string{"Epilog": "/etc/epilog"}, func(b *fixture) {
		b.slurm.SetNode("n3", "ALLOCATED+COMPLETING")
		ctx, cancel := context.WithTimeout(b.Context(), 1010*time.Millisecond)
		defer cancel()
		if err := b.awaitCleanedUp(ctx, []string{"n3"}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for epilogs on n3") {
			t.Errorf("%v", err)
		}
		b.slurm.Rule(clienttest.Rule{At: "show node n5", Refuse: "slurm_load_node error: Unable to contact slurm controller\n"})
		b.says(b.awaitCleanedUp(b.Context(), []string{"n5"}), "looking for epilogs on n5")
	})
}

const (
	widenFlags = "scontrol update reservation ReservationName=accordion-46-1 Flags+=IGNORE_JOBS"
	widenNodes = "scontrol update reservation ReservationName=accordion-46-1 Nodes=n[1-3]"
	salloc     = "salloc --no-shell --no-bell --chdir=/ --partition=main --job-name=accordion-"
)

func TestAGrowthByOverlapMergesTwice(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.overlaps()
		e, err := b.expand("n3")
		b.ok(err)
		b.ok(b.Merge(b.Context(), b.key(46), e))
		b.did(salloc+"grow-46 --nodes=1 --nodelist=n3 ", widenFlags, widenNodes,
			salloc+"over-46 --nodes=3 --nodelist=n[1-3] --mem=1 ", "scontrol update JobId=48 NumNodes=0", "scontrol update JobId=47 NumNodes=0")
		b.holds(46, "n1", "n2", "n3")
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // after a kill between the two merges, only the second merge is made
		b.overlaps()
		b.expander(nil)
		b.slurm.Change(46, func(j *clienttest.Job) { j.Nodes = []string{"n1", "n2", "n3"} })
		b.ok(b.merge47())
		b.did("scontrol update JobId=47 NumNodes=0")
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // one call ends the steps of both expanders
		b.overlaps()
		b.expander(func(j *clienttest.Job) { j.Steps = []string{"4294967292"} })
		b.slurm.Rule(clienttest.Rule{At: "^salloc", After: func() { b.slurm.Change(48, func(j *clienttest.Job) { j.Steps = []string{"4294967292"} }) }})
		b.ok(b.merge47())
		if all := b.slurm.Log(); !slices.ContainsFunc(all, func(one string) bool { return one == "scancel 47.4294967292 48.4294967292" }) {
			t.Errorf("%v", all)
		}
	})
}

func TestAGrowthByOverlapThatFailsHalfwayIsUndone(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) { // the second allocation fails
		b.overlaps()
		b.expander(nil)
		b.slurm.Rule(clienttest.Rule{At: "^salloc", Refuse: "salloc: error: Requested nodes are busy\n"})
		if err := b.merge47(); !errors.Is(err, adapter.ErrBusy) {
			t.Errorf("%v", err)
		}
		b.did(widenFlags, widenNodes)
		b.holds(46, "n1", "n2")
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // the first merge fails
		b.overlaps()
		b.expander(nil)
		b.slurm.Rule(clienttest.Rule{At: "JobId=48 NumNodes=0", Refuse: "slurm_update error: Access/permission denied\n"})
		b.says(b.merge47(), "permission denied")
		b.did(widenFlags, widenNodes, salloc+"over-46", "scancel 48")
		b.holds(46, "n1", "n2")
	})
	onSlurm(t, "24.11", nil, func(b *fixture) { // the second merge fails
		b.overlaps()
		b.expander(nil)
		b.slurm.Rule(clienttest.Rule{At: "JobId=47 NumNodes=0", Refuse: "slurm_update error: Access/permission denied\n"})
		if err := b.merge47(); !errors.Is(err, adapter.ErrGone) || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%v", err)
		}
		b.did(widenFlags, widenNodes, salloc+"over-46", "scontrol update JobId=48 NumNodes=0", "scontrol update JobId=46 NodeList=n[1-2] NumNodes=2")
		b.holds(46, "n1", "n2")
	})
	for _, change := range []string{"Flags", "Nodes="} {
		onSlurm(t, "24.11", nil, func(b *fixture) {
			b.overlaps()
			b.expander(nil)
			b.slurm.Rule(clienttest.Rule{At: "^scontrol update reservation .*" + change, Refuse: "Error updating the reservation: Requested reservation is invalid\n"})
			b.says(b.merge47(), "reservation accordion-46-1: "+change)
			if slices.ContainsFunc(b.slurm.Log(), func(one string) bool { return strings.HasPrefix(one, "salloc") }) {
				t.Errorf("%s was refused, but it is allocated", change)
			}
		})
	}
}

// With PrologFlags=Alloc a node starts no step of a job that slurmctld has not announced to it.
func TestNodesAreIntroducedToAJobBeforeTheyAreMerged(t *testing.T) {
	onSlurm(t, "24.11", map[string]string{"PrologFlags": "Alloc"}, func(b *fixture) {
		b.overlaps()
		b.expander(nil)
		b.ok(b.merge47())
		b.did(widenFlags, widenNodes,
			salloc+"over-46 --nodes=1 --nodelist=n3 --mem=1 ", "scontrol update JobId=48 NumNodes=0", "scontrol update JobId=46 NodeList=n[1-2] NumNodes=2",
			salloc+"over-46 --nodes=3 --nodelist=n[1-3] --mem=1 ", "scontrol update JobId=49 NumNodes=0", "scontrol update JobId=47 NumNodes=0")
		b.holds(46, "n1", "n2", "n3")
	})
	for _, c := range []struct{ at, words string }{{"^salloc", "Requested nodes are busy"}, {"NodeList=", "Requested nodes are busy"}, {"show node n3", "looking for epilogs"}} {
		onSlurm(t, "24.11", map[string]string{"PrologFlags": "Alloc"}, func(b *fixture) {
			b.overlaps()
			b.expander(nil)
			b.slurm.Rule(clienttest.Rule{At: c.at, Refuse: "slurm_update error: Requested nodes are busy\n"})
			b.says(b.merge47(), c.words)
			if n := len(b.slurm.Job(49).Nodes); n > 0 {
				t.Errorf("%s was refused, but the sidecar goes on", c.at)
			}
		})
	}
}

func TestUndoTakesTheNodesThatOnlyTheFirstMergeGave(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.ok(b.Undo(b.Context(), b.key(46), []string{"n3"}))       // the job has none of these nodes
		b.ok(b.Undo(b.Context(), b.key(46), []string{"n1", "n2"})) // the job would have no node left
		b.did()
		b.ok(b.Undo(b.Context(), b.key(46), []string{"n2", "n3"}))
		b.did("scontrol update JobId=46 NodeList=n1 NumNodes=1")
		b.holds(46, "n1")
		if err := b.Undo(b.Context(), adapter.Key{ID: 46, Submitted: 1}, []string{"n1"}); !errors.Is(err, adapter.ErrGone) {
			t.Errorf("another job's id: %v", err)
		}
	})
}

// On 22.05 a merge takes slurmctld 0.3 s. Most of that time is after the second that slurmctld records for the
// change.
func TestTheSecondOfALateAnswerIsSlurms(t *testing.T) {
	for _, c := range []struct {
		name   string
		slurms func(asked int64) int64
		delay  time.Duration
		want   int64 // seconds after the request
	}{
		{"asked and answered in one second", func(asked int64) int64 { return asked - 5 }, 0, 0},
		{"Slurm notes the second in which it was asked", func(asked int64) int64 { return asked }, 2 * time.Second, 0},
		{"Slurm notes the second after", func(asked int64) int64 { return asked + 1 }, 2 * time.Second, 1},
		{"Slurm has noted nothing", func(int64) int64 { return 0 }, 2 * time.Second, 2},
		{"Slurm's clock is ahead", func(asked int64) int64 { return asked + 100 }, 2 * time.Second, 2},
		{"Slurm does not know the job any more", nil, 2 * time.Second, 2},
	} {
		onSlurm(t, "24.11", nil, func(b *fixture) {
			job := b.key(46)
			asked := time.Now().Unix()
			b.slurm.Change(46, func(j *clienttest.Job) {
				if c.slurms == nil {
					j.Submitted++
				} else {
					j.Resized = c.slurms(asked)
				}
			})
			if got := b.changedAt(b.Context(), job, asked, asked+int64(c.delay/time.Second)); got != asked+c.want {
				t.Errorf("%s: %d s after it was asked, want %d", c.name, got-asked, c.want)
			}
		})
	}
}

func TestAChangeThatChangedNothingNeedsNoSecondOfItsOwn(t *testing.T) {
	onSlurm(t, "24.11", nil, func(b *fixture) {
		b.expander(nil)
		b.slurm.Rule(clienttest.Rule{At: "update", Times: 2, Refuse: "slurm_update error: Job step already exists\n"})
		if err := b.resize(b.Context(), b.record(46), b.key(47), hasSteps, "NumNodes=0"); err == nil {
			t.Fatal("a refused merge returns no error")
		}
		if len(b.pace.last) != 0 {
			t.Errorf("it is noted: %v", b.pace.last)
		}
		if err := b.resize(b.Context(), b.record(46), b.key(46), nil, "NodeList=n1"); err == nil || len(b.pace.last) != 1 {
			t.Errorf("%v; noted %v, want the second: it may have been done", err, b.pace.last)
		}
		ctx, cancel := context.WithTimeout(b.Context(), time.Millisecond)
		defer cancel()
		b.says(b.resize(ctx, b.record(46), b.key(46), nil, "NodeList=n1"), fmt.Sprintf("the second after job %d's last change", 46))
	})
}
