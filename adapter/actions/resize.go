package actions

import (
	"context"
	"errors"
	"fmt"

	"accordion/adapter"
	"accordion/adapter/fair"
)

// growBy allocates nodes to an expander inside the reservation, and merges them into the job. It
// returns the allocations that the job has after the merge. If the merge's answer was lost, growBy
// reads the job's size to find out whether the merge was done.
func (a *Caller) growBy(ctx context.Context, job *adapter.Job, add []string, reservation string) ([]adapter.Part, error) {
	var expander adapter.Key
	err := a.do(ctx, job.Key, "expand", map[string]any{"nodes": names(add), "reservation": reservation}, func(ctx context.Context) (err error) {
		expander, err = a.System.Expand(ctx, job, add, reservation)
		return err
	})
	if err != nil {
		return nil, err
	}
	var parts []adapter.Part
	err = a.do(ctx, job.Key, "merge", map[string]any{"expander": expander.ID}, func(ctx context.Context) (err error) {
		if err = a.System.Merge(ctx, job.Key, expander); err == nil {
			parts, err = a.verify(ctx, job.Key, len(job.Nodes)+len(add))
		}
		return err
	})
	if err == nil {
		return parts, nil
	}
	if Broken(err) != nil {
		return nil, err
	}
	if !errors.Is(err, adapter.ErrGone) {
		if parts, lost := a.verify(ctx, job.Key, len(job.Nodes)+len(add)); lost == nil {
			return parts, nil // the merge was done, and only its answer was lost
		}
	}
	ended := a.do(ctx, job.Key, "end", map[string]any{"expander": expander.ID, "why": "merge failed"}, func(ctx context.Context) error {
		return a.System.End(ctx, expander, "merge failed")
	})
	return nil, errors.Join(err, ended)
}

// shrinkTo releases all of the job's nodes except the nodes to keep, and verifies the result. It
// returns the allocations that the job then has.
func (a *Caller) shrinkTo(ctx context.Context, job adapter.Key, keep []string) (parts []adapter.Part, err error) {
	err = a.do(fair.As(ctx, fair.Releasing), job, "shrink", map[string]any{"keep": names(keep)}, func(ctx context.Context) (err error) {
		if err = a.System.Shrink(ctx, job, keep); err == nil {
			parts, err = a.verify(ctx, job, len(keep))
		}
		return err
	})
	return parts, err
}

// verify reads the job again, and returns its allocations. It returns an error unless the job runs
// on `nodes` nodes.
func (a *Caller) verify(ctx context.Context, job adapter.Key, nodes int) ([]adapter.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Deadline)
	defer cancel()
	now, err := a.System.Inspect(ctx, job)
	if err != nil {
		return nil, err
	}
	if now.State != adapter.Running || len(now.Nodes) != nodes {
		return nil, fmt.Errorf("job %d is %s on %d nodes after the resize, not running on %d: %w", job.ID, now.State, len(now.Nodes), nodes, adapter.ErrGone)
	}
	return now.Parts, nil
}
