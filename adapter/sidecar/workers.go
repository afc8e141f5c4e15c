package sidecar

import (
	"context"
	"sync"
	"time"

	"accordion/adapter/actions"
	"accordion/adapter/decide"
	"accordion/adapter/managed"
	"accordion/core"
)

// workers makes calls in other goroutines, and sends their results to the loop. The loop waits for
// all of them before it ends.
type workers struct {
	sync.WaitGroup
	caller   *actions.Caller
	finished chan result
	resizes  int                          // number of resizes under way
	launches map[core.JobID]chan struct{} // for each array, a channel that is closed when the last launch of a task was tried
	trapped  time.Time                    // no resize before this instant, because the batch system reported that it would fail
}

// A result is the result of a job's operation, or of other calls.
type result struct {
	job       *managed.Job // nil if the calls were for no managed job
	operation *decide.Operation
	got       actions.Result
	err       error
	over      func(error)
}

// begin makes the calls of an operation in another goroutine, which sends the result to the loop.
// If `done` is not nil, it is called when the calls have ended.
func (c *workers) begin(ctx context.Context, r *managed.Job, op *decide.Operation, done func()) {
	r.Underway, r.BeingResized = op.Verb, op.Resize
	if op.Resize {
		c.resizes++
	}
	after, launched := c.launchOrder(r, op)
	c.Go(func() {
		end := result{job: r, operation: op}
		for _, call := range op.Calls {
			if _, is := call.(actions.Launch); is {
				waitFor(ctx, after)
			}
			if end.err = c.caller.Do(ctx, call, &end.got); end.err != nil {
				break
			}
		}
		if end.got.Launched {
			close(launched)
		} else { // the next task does not wait for this task, but for those before it
			c.Go(func() { waitFor(ctx, after); close(launched) })
		}
		if done != nil {
			done()
		}
		c.finished <- end
	})
}

// launchOrder returns channels that order the launches of an array's tasks. The launch waits until
// `after` is closed, and does not wait if `after` is nil. The caller closes `launched` when the
// launch was tried.
func (c *workers) launchOrder(r *managed.Job, op *decide.Operation) (after <-chan struct{}, launched chan struct{}) {
	launched = make(chan struct{})
	if !op.Starts || r.Seen == nil || r.Seen.Array == 0 {
		return nil, launched
	}
	if before := c.launches[r.Seen.Array]; before != nil {
		after = before
	}
	if c.launches == nil {
		c.launches = map[core.JobID]chan struct{}{}
	}
	for array, tried := range c.launches {
		select {
		case <-tried:
			delete(c.launches, array)
		default:
		}
	}
	c.launches[r.Seen.Array] = launched
	return after, launched
}

// launchWait bounds how long the launch of a task waits for the launch of the previous task. A
// launch takes some tens of milliseconds, unless the batch system is in trouble.
const launchWait = 3 * time.Second

// waitFor waits until a channel is closed, but at most for launchWait. It does not wait for a nil
// channel.
func waitFor(ctx context.Context, closed <-chan struct{}) {
	if closed == nil {
		return
	}
	select {
	case <-closed:
	case <-ctx.Done():
	case <-time.After(launchWait):
	}
}

// ended records that a job's operation has ended.
func (c *workers) ended(r *managed.Job, op *decide.Operation) {
	r.Underway, r.BeingResized = "", false
	if op.Resize {
		c.resizes--
	}
}

// background makes calls that are for no managed job, in another goroutine. When the calls have
// ended, the loop calls the function `over` with their error, unless the journal cannot be written.
func (c *workers) background(calls func() error, over func(error)) {
	c.Go(func() { c.finished <- result{err: calls(), over: over} })
}
