package orders

import (
	"fmt"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/sidecar"
	"accordion/core"
)

// stopped is a clock that does not advance.
type stopped struct{ at time.Time }

func (c stopped) Now() time.Time                     { return c.at }
func (stopped) After(time.Duration) <-chan time.Time { return nil }

func TestRepeatedStepIsDelayedMoreAndMore(t *testing.T) {
	clock := stopped{time.Unix(int64(now), 0)}
	k := New(nil, sidecar.PartsHost{Clock: clock})
	e := &entry{step: Step{Verb: Adopt}}
	for i, want := range []time.Duration{0, 1, 2, 4, 8, 16, 16} {
		if k.again(e); want == 0 && !e.retry.IsZero() || want > 0 && e.retry.Sub(clock.at) != want*time.Second {
			t.Errorf("done %d times it waits until %v, want %d s", i+1, e.retry, want)
		}
	}
	e.retry = clock.at.Add(endAgain)
	if k.again(e); e.retry.Sub(clock.at) != endAgain {
		t.Errorf("what waits longer by itself waits until %v", e.retry)
	}
	e.step.Verb, e.retry = Hold, time.Time{}
	if k.again(e); !e.retry.IsZero() || e.repeats != 0 {
		t.Errorf("another act is put off until %v", e.retry)
	}
}

func TestDelayedStepNeedsNoEarlyReading(t *testing.T) {
	clock := stopped{time.Unix(int64(now), 0)}
	k := New(nil, sidecar.PartsHost{Clock: clock})
	e := &entry{order: mailbox.Order{Application: 7, Job: 5, Want: mailbox.Wait}, ordered: true, step: Step{Verb: Adopt}}
	k.parts[name{7, 5}] = e
	if !k.Soon() {
		t.Error("an act is due, and nobody hurries")
	}
	if e.retry = clock.at.Add(time.Second); k.Soon() {
		t.Error("an act that is put off makes the batch system be read at once")
	}
}

func TestPreparationIsNotMissedInAReadingThatBeganBeforeIt(t *testing.T) {
	begun, taken := managed.Epoch(3), managed.Epoch(0)
	k := New(nil, sidecar.PartsHost{
		Clock: stopped{time.Unix(int64(now), 0)}, Acts: &actions.Caller{}, Take: func(adapter.Reservation) { taken = begun },
		Epochs: func() (managed.Epoch, managed.Epoch) { return begun, begun },
	})
	e := &entry{order: mailbox.Order{Application: 7, Job: 5, Want: mailbox.Prepare, Try: 1}, step: Step{Verb: Prepare, Nodes: []string{"n1"}}}
	_, done := k.prepare(t.Context(), e, &plan.World{})
	begun++ // another reading begins during the call
	done()
	if begun.Shows(taken) || e.memory.Prepared != 1 {
		t.Errorf("reading %d is taken to show what was written at %d; prepared: %d", begun, taken, e.memory.Prepared)
	}
}

// A try may be given up while its reservation is being written. Its nodes may belong to another job when the next try begins.
func TestNodesBeingPreparedBelongToTheirTryOnly(t *testing.T) {
	for _, c := range []struct {
		wrote int
		want  managed.Phase
	}{{5, managed.Starting}, {4, managed.Waiting}} {
		k := New(nil, sidecar.PartsHost{Reserved: func(string) (adapter.Reservation, bool) { return adapter.Reservation{Nodes: []string{"n1"}}, true }})
		e := &entry{
			order: mailbox.Order{Application: 1, Job: 7, Want: mailbox.Prepare, Try: 5, Hosts: 1, Walltime: 60, Limit: 90},
			job:   &adapter.Job{Key: adapter.Key{ID: 7}, State: adapter.Pending}, busy: true, writing: []string{"n1"}, wrote: c.wrote,
		}
		if planned := k.planOf(e, now); !planned || e.plan.Phase != c.want {
			t.Errorf("in try 5, while nodes for try %d are being written, it is %s in the plan, planned: %t", c.wrote, e.plan.Phase, planned)
		}
	}
}

// A call for an earlier try may be carried out after the call for the next try, and even after the sidecar that made it was killed.
func TestNodesReservedLateByAnEarlierTryAreNotInThePlan(t *testing.T) {
	late := []string{"n4", "n5"}
	k := New(nil, sidecar.PartsHost{Reserved: func(string) (adapter.Reservation, bool) { return adapter.Reservation{Nodes: late}, true }})
	for _, want := range []mailbox.Want{mailbox.Prepare, mailbox.Start} {
		for _, prepared := range [][]string{late, {"n5", "n6"}} {
			e := &entry{
				order:  mailbox.Order{Application: 1, Job: 7, Want: want, Try: 2, Hosts: 2, Walltime: 60, Limit: 90},
				job:    &adapter.Job{Key: adapter.Key{ID: 7}, State: adapter.Pending},
				memory: Memory{Prepared: 2, Nodes: prepared},
			}
			k.planOf(e, now)
			if has, is := len(e.plan.Nodes) > 0, managed.SameNodes(prepared, late); has != is {
				t.Errorf("%v: prepared are %v, reserved %v; in the plan it has %v", want, prepared, late, e.plan.Nodes)
			}
		}
	}
}

func TestAJobThatCannotBeChangedForHalfAMinuteIsReplaced(t *testing.T) {
	frozen := fmt.Errorf("shaping: %w", adapter.ErrFrozen)
	away := fmt.Errorf("%w (%w)", frozen, adapter.ErrTrap)
	type refusal struct {
		after core.Time // seconds
		err   error
	}
	for _, c := range []struct {
		name string
		all  []refusal
		want bool
	}{
		{"once", []refusal{{0, frozen}}, false},
		{"twice in half a minute", []refusal{{0, frozen}, {29, frozen}}, false},
		{"for half a minute", []refusal{{0, frozen}, {30, frozen}}, true},
		{"for as long, and otherwise in between", []refusal{{0, frozen}, {20, adapter.ErrBusy}, {30, frozen}}, true},
		{"for long, but it is not the job's fault", []refusal{{0, away}, {60, away}}, false},
		{"since that is over", []refusal{{0, away}, {60, frozen}}, false},
	} {
		clock := &stopped{}
		k := New(nil, sidecar.PartsHost{Clock: clock})
		e := &entry{order: mailbox.Order{Application: 7, Job: 5, Want: mailbox.Prepare, Try: 1}, step: Step{Verb: Prepare}}
		for _, r := range c.all {
			clock.at = time.Unix(int64(now+r.after), 0)
			k.failed(e, r.err)
		}
		if e.memory.Stiff != c.want {
			t.Errorf("refused %s: replaced %t, want %t", c.name, e.memory.Stiff, c.want)
		}
	}
}

func TestReplacementOfAnUnchangeableJobIsNotEnded(t *testing.T) {
	k := New(nil, sidecar.PartsHost{Epochs: func() (managed.Epoch, managed.Epoch) { return 0, 0 }})
	e := &entry{order: mailbox.Order{Application: 7, User: "ada"}, ordered: true, job: &adapter.Job{Key: adapter.Key{ID: 8}, State: adapter.Pending}, memory: Memory{Frozen: now - 60, Stiff: true}}
	k.parts[name{7, 0}] = e
	same, other := *e.job, made7
	same.Mark, same.User, other.User = made7.Mark, "ada", "ada"
	if k.findJobs(now, map[int64][]*adapter.Job{7: {&same}}); !e.memory.Stiff {
		t.Error("the same job can be changed, though nothing was heard of it")
	}
	if k.findJobs(now, map[int64][]*adapter.Job{7: {&other}}); e.memory.Stiff || e.memory.Frozen != 0 {
		t.Errorf("of job %d it is remembered that it could not be changed: %+v", e.job.ID, e.memory)
	}
}
