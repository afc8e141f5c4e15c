package sidecar_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/core"
	"accordion/shim/wire"
)

// A flaky is a batch system whose controller stops at one call and starts again some seconds later.
// A program that a job starts during the outage begins only a minute after the outage. Slurm's srun
// does the same: it is refused while the nodes are not known, and tries again after a minute.
type flaky struct {
	adapter.BatchSystem
	lasts time.Duration // duration of the outage
	stall time.Duration // delay of a program that was refused
	quick bool          // the controller is back before a call fails: only Snapshot.Booted shows the outage

	mu       sync.Mutex
	at       int // index of the call; negative if the controller stops at no call
	after    bool
	count    int
	from, to time.Time
	begun    map[adapter.Key]core.Time // when the program that runs now began
	stalled  map[adapter.Key]bool      // jobs of which a program waits
}

var errAway = errors.New("unable to contact the controller")

func newFlaky(system adapter.BatchSystem, at int, after bool) *flaky {
	return &flaky{BatchSystem: system, lasts: 3 * time.Second, stall: 66 * time.Second, at: at, after: after,
		begun: map[adapter.Key]core.Time{}, stalled: map[adapter.Key]bool{}}
}

// `set` changes the fields of f.
func (f *flaky) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// stop stops the controller.
func (f *flaky) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from, f.to = time.Now(), time.Now().Add(f.lasts)
}

func (f *flaky) stopped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.from.IsZero()
}

func (f *flaky) away() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); !f.quick && !now.Before(f.from) && now.Before(f.to) {
		return errAway
	}
	return nil
}

// call makes a call, unless the controller does not run or stops before it.
func (f *flaky) call(act func() error) error {
	f.mu.Lock()
	fatal, after := f.count == f.at, f.after
	f.count++
	f.mu.Unlock()
	if fatal && !after {
		f.stop()
	}
	if err := f.away(); err != nil {
		return err
	}
	err := act()
	if fatal && after {
		f.stop()
		return errAway // the answer of the call is lost
	}
	return err
}

func (f *flaky) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	if err := f.away(); err != nil {
		return nil, err
	}
	s, err := f.BatchSystem.Observe(ctx)
	if f.mu.Lock(); err == nil {
		if s.Booted = 1; !f.to.IsZero() && !time.Now().Before(f.to) {
			s.Booted = f.to.Unix()
		}
	}
	f.mu.Unlock()
	return s, err
}
func (f *flaky) Inspect(ctx context.Context, k adapter.Key) (*adapter.Job, error) {
	if err := f.away(); err != nil {
		return nil, err
	}
	return f.BatchSystem.Inspect(ctx, k)
}
func (f *flaky) Adopt(ctx context.Context, k adapter.Key) error {
	return f.call(func() error { return f.BatchSystem.Adopt(ctx, k) })
}
func (f *flaky) Reserve(ctx context.Context, r adapter.Reservation) error {
	return f.call(func() error { return f.BatchSystem.Reserve(ctx, r) })
}
func (f *flaky) Unreserve(ctx context.Context, name string) error {
	return f.call(func() error { return f.BatchSystem.Unreserve(ctx, name) })
}
func (f *flaky) Shape(ctx context.Context, k adapter.Key, s adapter.Shape) error {
	return f.call(func() error { return f.BatchSystem.Shape(ctx, k, s) })
}
func (f *flaky) Attach(ctx context.Context, k adapter.Key, r string) error {
	return f.call(func() error { return f.BatchSystem.Attach(ctx, k, r) })
}
func (f *flaky) Release(ctx context.Context, k adapter.Key) error {
	return f.call(func() error { return f.BatchSystem.Release(ctx, k) })
}
func (f *flaky) Detach(ctx context.Context, k adapter.Key) error {
	return f.call(func() error { return f.BatchSystem.Detach(ctx, k) })
}
func (f *flaky) Expand(ctx context.Context, j *adapter.Job, nodes []string, r string) (k adapter.Key, err error) {
	err = f.call(func() error { k, err = f.BatchSystem.Expand(ctx, j, nodes, r); return err })
	return k, err
}
func (f *flaky) Merge(ctx context.Context, j, e adapter.Key) error {
	return f.call(func() error { return f.BatchSystem.Merge(ctx, j, e) })
}
func (f *flaky) Shrink(ctx context.Context, k adapter.Key, keep []string) error {
	return f.call(func() error { return f.BatchSystem.Shrink(ctx, k, keep) })
}
func (f *flaky) Speaks(ctx context.Context, k adapter.Key) (speaks bool, err error) {
	err = f.call(func() error { speaks, err = f.BatchSystem.Speaks(ctx, k); return err })
	return speaks, err
}
func (f *flaky) Signal(ctx context.Context, k adapter.Key, signal string) error {
	return f.call(func() error { return f.BatchSystem.Signal(ctx, k, signal) })
}
func (f *flaky) Tell(ctx context.Context, k adapter.Key, text string) error {
	return f.call(func() error { return f.BatchSystem.Tell(ctx, k, text) })
}
func (f *flaky) Publish(ctx context.Context, j *adapter.Job, text string) (elsewhere string, err error) {
	err = f.call(func() error { elsewhere, err = f.BatchSystem.Publish(ctx, j, text); return err })
	return elsewhere, err
}
func (f *flaky) End(ctx context.Context, k adapter.Key, why string) error {
	return f.call(func() error { return f.BatchSystem.End(ctx, k, why) })
}

// Lengthen implements adapter.Lengthener.
func (f *flaky) Lengthen(_ context.Context, k adapter.Key, limit core.Time) error {
	return f.call(func() error { return f.BatchSystem.(*embedded.System).SetLimit(k, limit) })
}

// Programs implements adapter.ProgramReader.
func (f *flaky) Programs(_ context.Context, job adapter.Key) (adapter.Programs, error) {
	if err := f.away(); err != nil {
		return adapter.Programs{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := adapter.Programs{Waits: f.stalled[job]}
	if at, runs := f.begun[job]; runs {
		p.Begun = append(p.Begun, at)
	}
	return p, nil
}

// run runs a program of the job, as srun does.
func (f *flaky) run(ctx context.Context, h *embedded.Handle, d time.Duration) error {
	f.mu.Lock()
	wait, now := time.Duration(0), time.Now()
	if !f.from.IsZero() && !now.Before(f.from) && now.Before(f.to.Add(3*time.Second)) {
		wait = f.to.Add(f.stall).Sub(now)
		f.stalled[h.Job()] = true
	}
	f.mu.Unlock()
	if err := h.Work(ctx, wait); err != nil {
		return err
	}
	f.mu.Lock()
	delete(f.stalled, h.Job())
	f.begun[h.Job()] = time.Now().Unix()
	f.mu.Unlock()
	err := h.Work(ctx, d)
	f.mu.Lock()
	delete(f.begun, h.Job())
	f.mu.Unlock()
	return err
}

// programs returns the script of an application that runs one program in each step.
func (f *flaky) programs(work ...time.Duration) embedded.Script {
	return func(ctx context.Context, h *embedded.Handle) error {
		for i, d := range work {
			if i > 0 {
				if reply, err := h.Step(ctx, wire.Request{Step: i}); err != nil || reply.Status != wire.Resized {
					return fmt.Errorf("step %d: %v, error %w", i, reply, err)
				}
			}
			if err := f.run(ctx, h, d); err != nil {
				return err
			}
		}
		return nil
	}
}

// inFlakyWorld does what inWorld does, with a controller that stops at one call of the sidecar.
func inFlakyWorld(t *testing.T, at int, after bool, story func(w *world, f *flaky)) {
	t.Helper()
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		f := newFlaky(w.System, at, after)
		w.killing.BatchSystem, w.outer = f, f
		w.serve()
		story(w, f)
	})
}

// stepping submits an application that works for each step of its profile, less a second.
func (f *flaky) stepping(w *world, ep string) adapter.Key {
	choices, err := adapter.ParseRequest("ep=" + ep)
	if err != nil {
		w.t.Fatal(err)
	}
	var work []time.Duration
	for _, s := range choices[0] {
		work = append(work, time.Duration(s.Duration)*time.Second-time.Second)
	}
	return w.submit(embedded.JobSpec{Nodes: choices[0][0].Nodes, Comment: "ep=" + ep, Managed: true, Script: f.programs(work...)})
}

// The controller stops at each call for a job in turn, before the call and after it. The job runs
// all of its steps: the delay does not count as late.
func TestAJobIsNotEndedForATimeInWhichTheBatchSystemDidNotAnswer(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := range 60 {
			reached := true
			t.Run(fmt.Sprintf("call %d, after it: %t", at+1, after), func(t *testing.T) {
				inFlakyWorld(t, at, after, func(w *world, f *flaky) {
					job := f.stepping(w, "2x20s,5x20s,3x20s")
					w.quiet(600)
					reached = f.stopped()
					if r := w.record(job); r.Why != "COMPLETED" || w.steps(job) != "2 5 3" {
						t.Errorf("it ended as %s with %s nodes, want COMPLETED and 2 5 3\noutput:\n%s\n%s", r.Why, w.steps(job), strings.Join(r.Output, "\n"), w.journalled())
					}
					w.clean()
				})
			})
			if !reached {
				if at < 10 {
					t.Errorf("only %d calls were seen in a job's life", at)
				}
				break
			}
		}
	}
}

// If no call failed during a short restart, the second in which the controller started still shows
// the restart.
func TestARestartOfTheBatchSystemThatNoCallMetCountsAgainstNoJob(t *testing.T) {
	inFlakyWorld(t, -1, false, func(w *world, f *flaky) {
		f.set(func() { f.quick = true })
		job := f.stepping(w, "2x20s,5x20s,3x20s")
		w.at(22)
		f.stop()
		w.quiet(600)
		r := w.record(job)
		if r.Why != "COMPLETED" || w.steps(job) != "2 5 3" {
			t.Errorf("it ended as %s with %s nodes, want COMPLETED and 2 5 3\n%s", r.Why, w.steps(job), w.journalled())
		}
		for _, want := range []string{"accordion: the batch system did not answer from 00:00:24 to 00:00:25: what that costs this job is added to the time that it may use"} {
			if !strings.Contains(strings.Join(r.Output, "\n"), want) {
				t.Errorf("its output is\n%s\nwant %q in it", strings.Join(r.Output, "\n"), want)
			}
		}
		for _, want := range []string{"the batch system did not answer for a while, which cost the application 6", " outage ", " excused "} {
			if !strings.Contains(w.journalled(), want) {
				t.Errorf("the journal has no %q\n%s", want, w.journalled())
			}
		}
		w.clean()
	})
}

// The sidecar is killed during the outage, and knows of the outage after its restart.
func TestAnOutageCountsAgainstNoJobAfterARestartOfTheSidecar(t *testing.T) {
	for _, second := range []int{29, 40, 55, 80, 91} {
		inFlakyWorld(t, -1, false, func(w *world, f *flaky) {
			job := f.stepping(w, "2x20s,5x20s,3x20s")
			w.at(24)
			f.stop()
			w.at(second)
			w.halt()
			time.Sleep(2 * time.Second)
			w.serve()
			w.quiet(600)
			if r := w.record(job); r.Why != "COMPLETED" || w.steps(job) != "2 5 3" {
				t.Errorf("the sidecar was away from second %d on: it ended as %s with %s nodes, want COMPLETED and 2 5 3\n%s", second, r.Why, w.steps(job), w.journalled())
			}
			w.clean()
		})
	}
}

// The time that an outage adds to a step is bounded. An application that hangs is ended, and the
// job's output has the reason.
func TestAnApplicationThatHangsAfterAnOutageIsEnded(t *testing.T) {
	inFlakyWorld(t, -1, false, func(w *world, f *flaky) {
		f.set(func() { f.stall = time.Hour })
		job := f.stepping(w, "2x20s,5x20s")
		w.at(24)
		f.stop()
		w.quiet(900)
		r := w.record(job)
		if r.Why != "CANCELLED" || !strings.Contains(strings.Join(r.Output, "\n"), "raise its duration in the profile") {
			t.Errorf("it ended as %s; its output is\n%s", r.Why, strings.Join(r.Output, "\n"))
		}
		if over := r.End.Sub(w.begin); over < 190*time.Second || over > 240*time.Second {
			t.Errorf("it ended after %v, want 27 s, 150 s after the outage and its allowance of 30 s\n%s", over, w.journalled())
		}
		w.clean()
	})
}

// The batch system ends a job at its limit. The limit is raised by the delay of the outage, even in
// the last step.
func TestAJobsLimitIsRaisedByWhatAnOutageCosts(t *testing.T) {
	inFlakyWorld(t, -1, false, func(w *world, f *flaky) {
		f.set(func() { f.stall = 130 * time.Second })
		job := f.stepping(w, "2x20s,3x20s")
		w.at(24)
		f.stop()
		w.quiet(600)
		if r := w.record(job); r.Why != "COMPLETED" || r.Limit <= 100 {
			t.Errorf("it ended as %s with a limit of %d s, want COMPLETED and more than 100 s\n%s", r.Why, r.Limit, w.journalled())
		}
		w.clean()
	})
}
