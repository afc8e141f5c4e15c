package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/core"
)

// faultyLink is the connection of one process of the sidecar to the batch system. Most faults occur in it.
type faultyLink struct {
	*embedded.System
	world   *world
	process *process
}

var _ adapter.BatchSystem = faultyLink{}

// fault is what happens to one call.
type fault struct {
	before, after time.Duration // time until the batch system carries out the call, and from then until the caller receives the answer
	drop          bool          // the request is lost: the caller waits until its deadline
	mute          bool          // the answer is lost
	twice         bool          // the call is carried out twice
	refuse        error         // the batch system refuses the call
	half          bool          // only the first half of the call is carried out; in a reading, the jobs are older than the rest
}

var (
	errBroken  = errors.New("connection reset")
	errLimited = errors.New("too many requests")
)

// mishaps lists the kinds of faults of calls. A kind that is impossible for a call has no effect.
var mishaps = []struct {
	name string
	make func(w *world, f *fault, verb, name string, nth int)
}{
	{"lost", func(_ *world, f *fault, _, _ string, _ int) { f.drop = true }},
	{"unanswered", func(_ *world, f *fault, _, _ string, _ int) { f.mute = true }},
	{"late", func(w *world, f *fault, _, name string, nth int) {
		f.before = deadline + w.dice.span(0, 5*time.Second, "late "+name, nth)
	}},
	{"slow", func(w *world, f *fault, _, name string, nth int) {
		f.before = w.dice.span(0, 6*time.Second, "slow "+name, nth)
		f.after = w.dice.span(0, 6*time.Second, "slow answer "+name, nth)
	}},
	{"doubled", func(_ *world, f *fault, _, _ string, _ int) { f.twice = true }},
	{"failed", func(_ *world, f *fault, _, _ string, _ int) { f.refuse = errLimited }},
	{"refused", func(_ *world, f *fault, verb, _ string, _ int) {
		switch verb {
		case "Reserve", "Expand", "Unreserve":
			f.refuse = adapter.ErrBusy
		case "Merge", "Shrink":
			f.refuse = adapter.ErrTrap
		}
	}},
	{"half", func(_ *world, f *fault, verb, _ string, _ int) { f.half = verb == "Shape" || verb == "Observe" }},
}

// faultOf draws what happens to the nth call with the name.
func (w *world) faultOf(verb, name string, nth int) (f fault, kind string) {
	f.before = w.dice.span(time.Millisecond, 60*time.Millisecond, "before "+name, nth)
	f.after = w.dice.span(time.Millisecond, 60*time.Millisecond, "after "+name, nth)
	if verb == "Merge" || verb == "Shrink" {
		f.after += w.dice.span(0, time.Second, "database "+name, nth)
	}
	m := mishaps[w.dice.below(len(mishaps), "mishap "+name, nth)]
	if !w.goesWrong(w.scenario.rate, 1000, m.name+" "+name, nth) {
		return f, ""
	}
	m.make(w, &f, verb, name, nth)
	return f, m.name
}

// do carries out one call. It calls `act` in another goroutine after a random time, so that the call is carried out even if its caller
// has given up or was killed meanwhile.
func (l faultyLink) do(ctx context.Context, verb, target string, act func(ctx context.Context, f fault) error) error {
	w := l.world
	if l.process.over() {
		return errKilled
	}
	w.judgeIntent(verb, target)
	name := verb + " " + target
	nth := w.count(name)
	f, kind := w.faultOf(verb, name, nth)
	done := make(chan error, 1)
	w.crew.Go(func() {
		time.Sleep(f.before)
		if f.drop || l.process.over() && w.dice.chance(500, "died with its caller "+name, nth) {
			w.note("%s #%d never arrives", name, nth)
			return
		}
		err := f.refuse
		if w.silent() {
			err = errBroken
		}
		if err == nil {
			err = act(context.Background(), f)
			if f.twice {
				time.Sleep(w.dice.span(time.Millisecond, time.Second, "again "+name, nth))
				again := act(context.Background(), f)
				w.note("%s #%d again: %v", name, nth, again)
			}
		}
		if verb != "Observe" || kind != "" {
			w.note("%s #%d %s -> %v", name, nth, kind, err)
		}
		time.Sleep(f.after)
		if !f.mute {
			done <- err
		}
	})
	select {
	case err := <-done:
		if err != nil && f.refuse == nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return err
	case <-ctx.Done():
		w.note("%s #%d: its caller gives up", name, nth)
		return fmt.Errorf("%s: %w", name, ctx.Err())
	case <-l.process.dead:
		return errKilled
	}
}

// on carries out one call on a job.
func (l faultyLink) on(ctx context.Context, verb string, key adapter.Key, act func(context.Context) error) error {
	l.world.judgeTouch(verb, key)
	return l.do(ctx, verb, fmt.Sprint(key.ID), func(ctx context.Context, _ fault) error { return act(ctx) })
}

// Observe makes one reading. With the fault `half`, the reading has the jobs of one instant, and
// everything else of a later instant.
func (l faultyLink) Observe(ctx context.Context) (snapshot *adapter.Snapshot, err error) {
	var read *adapter.Snapshot
	err = l.do(ctx, "Observe", "", func(ctx context.Context, f fault) error {
		first, err := l.System.Observe(ctx)
		if err != nil || !f.half {
			read = first
			return err
		}
		time.Sleep(l.world.dice.span(time.Millisecond, 2*time.Second, "torn reading", int(first.At.UnixNano())))
		later, err := l.System.Observe(ctx)
		if err == nil {
			first.Nodes, first.Reservations = later.Nodes, later.Reservations
			read = first
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return read, nil
}

func (l faultyLink) Inspect(ctx context.Context, key adapter.Key) (*adapter.Job, error) {
	var read *adapter.Job
	err := l.do(ctx, "Inspect", fmt.Sprint(key.ID), func(ctx context.Context, _ fault) (err error) {
		read, err = l.System.Inspect(ctx, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return read, nil
}

func (l faultyLink) Adopt(ctx context.Context, key adapter.Key) error {
	return l.on(ctx, "Adopt", key, func(ctx context.Context) error { return l.System.Adopt(ctx, key) })
}

func (l faultyLink) Refuse(ctx context.Context, key adapter.Key, why string) error {
	return l.on(ctx, "Refuse", key, func(ctx context.Context) error { return l.System.Refuse(ctx, key, why) })
}

func (l faultyLink) Reserve(ctx context.Context, r adapter.Reservation) error {
	return l.do(ctx, "Reserve", r.Name, func(ctx context.Context, _ fault) error {
		err := l.System.Reserve(ctx, r)
		if err == nil {
			l.world.adopt(r.Name)
		}
		return err
	})
}

func (l faultyLink) Unreserve(ctx context.Context, name string) error {
	return l.do(ctx, "Unreserve", name, func(ctx context.Context, _ fault) error {
		err := l.System.Unreserve(ctx, name)
		if err == nil {
			l.world.adopt(name)
		}
		return err
	})
}

func (l faultyLink) Make(ctx context.Context, application int64, user string, hosts int, limit core.Time) (adapter.Key, error) {
	var key adapter.Key
	err := l.do(ctx, "Make", fmt.Sprint(application), func(ctx context.Context, _ fault) error {
		made, err := l.System.Make(ctx, application, user, hosts, limit)
		if err == nil {
			key = made
		}
		return err
	})
	if err != nil {
		return adapter.Key{}, err
	}
	return key, nil
}

// Shape changes size and time limit. With the fault `half`, it changes only the size.
func (l faultyLink) Shape(ctx context.Context, key adapter.Key, s adapter.Shape) error {
	l.world.judgeTouch("Shape", key)
	return l.do(ctx, "Shape", fmt.Sprint(key.ID), func(ctx context.Context, f fault) error {
		if !f.half {
			return l.System.Shape(ctx, key, s)
		}
		job, err := l.System.Inspect(ctx, key)
		if err == nil {
			err = l.System.Shape(ctx, key, adapter.Shape{Nodes: s.Nodes, Limit: job.Limit})
		}
		return errors.Join(err, errBroken)
	})
}

func (l faultyLink) Attach(ctx context.Context, key adapter.Key, name string) error {
	return l.on(ctx, "Attach", key, func(ctx context.Context) error { return l.System.Attach(ctx, key, name) })
}

func (l faultyLink) Release(ctx context.Context, key adapter.Key) error {
	return l.on(ctx, "Release", key, func(ctx context.Context) error { return l.System.Release(ctx, key) })
}

func (l faultyLink) Hold(ctx context.Context, key adapter.Key) error {
	return l.on(ctx, "Hold", key, func(ctx context.Context) error { return l.System.Hold(ctx, key) })
}

func (l faultyLink) Detach(ctx context.Context, key adapter.Key) error {
	return l.on(ctx, "Detach", key, func(ctx context.Context) error { return l.System.Detach(ctx, key) })
}

func (l faultyLink) Expand(ctx context.Context, job *adapter.Job, nodes []string, name string) (adapter.Key, error) {
	var key adapter.Key
	err := l.on(ctx, "Expand", job.Key, func(ctx context.Context) error {
		made, err := l.System.Expand(ctx, job, nodes, name)
		if err == nil {
			key = made
		}
		return err
	})
	if err != nil {
		return adapter.Key{}, err
	}
	return key, nil
}

func (l faultyLink) Merge(ctx context.Context, job, expander adapter.Key) error {
	return l.on(ctx, "Merge", job, func(ctx context.Context) error { return l.System.Merge(ctx, job, expander) })
}

func (l faultyLink) Shrink(ctx context.Context, key adapter.Key, keep []string) error {
	return l.on(ctx, "Shrink", key, func(ctx context.Context) error { return l.System.Shrink(ctx, key, keep) })
}

func (l faultyLink) Speaks(ctx context.Context, key adapter.Key) (_ bool, err error) {
	var heard bool
	if err = l.on(ctx, "Speaks", key, func(ctx context.Context) (err error) {
		heard, err = l.System.Speaks(ctx, key)
		return err
	}); err != nil {
		return false, err
	}
	return heard, nil
}

func (l faultyLink) Signal(ctx context.Context, key adapter.Key, signal string) error {
	return l.on(ctx, "Signal", key, func(ctx context.Context) error { return l.System.Signal(ctx, key, signal) })
}

func (l faultyLink) Tell(ctx context.Context, key adapter.Key, text string) error {
	return l.on(ctx, "Tell", key, func(ctx context.Context) error { return l.System.Tell(ctx, key, text) })
}

func (l faultyLink) Publish(ctx context.Context, job *adapter.Job, text string) (_ string, err error) {
	var elsewhere string
	if err = l.on(ctx, "Publish", job.Key, func(ctx context.Context) (err error) {
		elsewhere, err = l.System.Publish(ctx, job, text)
		return err
	}); err != nil {
		return "", err
	}
	return elsewhere, nil
}

func (l faultyLink) Repair(ctx context.Context, nodes []string) error {
	return l.do(ctx, "Nudge", strings.Join(nodes, ","), func(ctx context.Context, _ fault) error { return l.System.Repair(ctx, nodes) })
}

func (l faultyLink) End(ctx context.Context, key adapter.Key, why string) error {
	return l.on(ctx, "End", key, func(ctx context.Context) error { return l.System.End(ctx, key, why) })
}
