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

// workers is what is under way beside the loop. Whatever ends there is told to the loop, which waits for all of it before it ends.
type workers struct {
	sync.WaitGroup
	acts     *actions.Acts
	finished chan result
	resizes  int                          // under way
	launches map[core.JobID]chan struct{} // of each array the launch of the task that was started last: closed when it was tried
	trapped  time.Time                    // no resize before: the batch system said it would go wrong
}

// result is how acts ended: those of a job's operation, or others.
type result struct {
	job       *managed.Job // nil: they were about no managed job
	operation *decide.Operation
	got       actions.Result
	err       error
	over      func(error)
}

// begin makes the calls of an operation in another goroutine, which sends their result to the loop. It calls done, unless that is nil, when
// they have ended.
func (c *workers) begin(ctx context.Context, r *managed.Job, op *decide.Operation, done func()) {
	r.Busy, r.BeingResized = op.Verb, op.Resize
	if op.Resize {
		c.resizes++
	}
	after, launched := c.line(r, op)
	c.Go(func() {
		end := result{job: r, operation: op}
		for _, call := range op.Calls {
			if _, is := call.(actions.Launch); is {
				await(ctx, after)
			}
			if end.err = c.acts.Do(ctx, call, &end.got); end.err != nil {
				break
			}
		}
		if end.got.Launched {
			close(launched)
		} else { // the next task waits for those before this one
			c.Go(func() { await(ctx, after); close(launched) })
		}
		if done != nil {
			done()
		}
		c.finished <- end
	})
}

// line returns what the launch of an array's task waits for, nil where that is nothing, and what is to
// be closed after it.
func (c *workers) line(r *managed.Job, op *decide.Operation) (after <-chan struct{}, launched chan struct{}) {
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
	for array, tried := range c.launches { // few: of the starts under way
		select {
		case <-tried:
			delete(c.launches, array)
		default:
		}
	}
	c.launches[r.Seen.Array] = launched
	return after, launched
}

// lineLasts is how long the launch of a task waits for that of the one before it. A launch takes some
// tens of milliseconds, unless the batch system is in trouble.
const lineLasts = 3 * time.Second

// await waits until a channel is closed, for lineLasts at most; not for nil.
func await(ctx context.Context, closed <-chan struct{}) {
	if closed == nil {
		return
	}
	select {
	case <-closed:
	case <-ctx.Done():
	case <-time.After(lineLasts):
	}
}

// ended notes that a job's operation is over.
func (c *workers) ended(r *managed.Job, op *decide.Operation) {
	r.Busy, r.BeingResized = "", false
	if op.Resize {
		c.resizes--
	}
}

// beside runs acts that are about no managed job; over is called when they have ended, unless the journal is broken.
func (c *workers) beside(acts func() error, over func(error)) {
	c.Go(func() { c.finished <- result{err: acts(), over: over} })
}
