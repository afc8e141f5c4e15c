package paper

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Each runs parts 0 to n-1 of an experiment on all cores. After each part it calls `progress` with the number
// of finished parts, from one goroutine at a time. After the first error, or when ctx ends, it starts no more
// parts, waits for the running ones, and returns the error.
func Each(ctx context.Context, n int, progress func(done int), part func(i int) error) error {
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
			if done++; progress != nil {
				progress(done)
			}
			return nil
		})
	}
	return parts.Wait()
}
