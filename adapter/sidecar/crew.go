package sidecar

import (
	"context"
	"sync"
	"time"

	"accordion/adapter/act"
	"accordion/adapter/decide"
	"accordion/adapter/managed"
)

// crew is what is under way beside the loop. Whatever ends there is told to the loop, which waits for all of it before it ends.
type crew struct {
	sync.WaitGroup
	acts     *act.Acts
	finished chan conclusion
	resizes  int       // under way
	trapped  time.Time // no resize before: the batch system said it would go wrong
}

// conclusion is how acts ended: those of a job's operation, or others.
type conclusion struct {
	job       *managed.Job // nil: they were about no managed job
	operation *decide.Operation
	err       error
	over      func(error)
}

// begin runs an operation; the loop hears how it ended.
func (c *crew) begin(ctx context.Context, r *managed.Job, op *decide.Operation) {
	r.Busy, r.BeingResized = op.Verb, op.Resize
	if op.Resize {
		c.resizes++
	}
	c.Go(func() { c.finished <- conclusion{job: r, operation: op, err: op.Acts(ctx, c.acts)} })
}

// ended notes that a job's operation is over.
func (c *crew) ended(r *managed.Job, op *decide.Operation) {
	r.Busy, r.BeingResized = "", false
	if op.Resize {
		c.resizes--
	}
}

// beside runs acts that are about no managed job; over is called when they have ended, unless the journal is broken.
func (c *crew) beside(acts func() error, over func(error)) {
	c.Go(func() { c.finished <- conclusion{err: acts(), over: over} })
}
