package paper

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Each does the parts 0 to n-1 of an experiment on all cores, and tells after each part how many are done, from one goroutine at a
// time. The first error, or the end of ctx, ends it when the parts under way are done.
func Each(ctx context.Context, n int, told func(done int), part func(i int) error) error {
	parts, ctx := errgroup.WithContext(ctx)
	parts.SetLimit(runtime.GOMAXPROCS(0))
	var lock sync.Mutex
	done := 0
	for i := range n {
		parts.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := part(i); err != nil {
				return err
			}
			lock.Lock()
			defer lock.Unlock()
			if done++; told != nil {
				told(done)
			}
			return nil
		})
	}
	return parts.Wait()
}
