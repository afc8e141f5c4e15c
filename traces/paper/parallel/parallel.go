// Package parallel does the parts of an experiment on all cores.
package parallel

import (
	"context"
	"runtime"
	"sync"
)

// Do does the parts 0 to n-1 on all cores, in any order, and tells after each how many are done, from one goroutine
// at a time. The first error, or ctx's, ends it when the parts under way are done.
func Do(ctx context.Context, n int, told func(done int), part func(i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var (
		lock       sync.Mutex
		next, done int
		workers    sync.WaitGroup
	)
	take := func() (i int, ok bool) {
		lock.Lock()
		defer lock.Unlock()
		next++
		return next - 1, next <= n && ctx.Err() == nil
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := part(i); err != nil {
					stop(err)
					return
				}
				lock.Lock()
				if done++; told != nil {
					told(done)
				}
				lock.Unlock()
			}
		})
	}
	workers.Wait()
	if done == n {
		return nil
	}
	return context.Cause(ctx)
}
