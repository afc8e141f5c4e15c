// Package compare replays a workload under several policies, and shows their metrics in a table with the differences to the first policy.
//
//	easy, err := policy.Named("easy", sched.FirstCome)
//	runs, err := compare.Replay(ctx, workload, []policy.Policy{easy}, nil)
//	fmt.Print(runs[0].Metrics.Waiting.Mean)
//
// compare.go replays, text.go, rows.go and losers.go make the table and the sentences under it, shares.go repeats the comparison with other
// jobs evolving, and output.go writes the files of a replayed log. Package replay replays and measures one policy, and package report draws
// the report.
package compare

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"accordion/core/policy"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// Run is the replay under one policy.
type Run struct {
	replay.Result
	Metrics replay.Metrics
}

// Replay replays the workload under every policy, with one goroutine per core. It calls `progress` with the
// number of replayed jobs of all policies together, from several goroutines. `progress` may be nil. If the
// context ends it returns an *InterruptedError immediately. Running replays continue in the background, and
// their results are dropped.
func Replay(ctx context.Context, w workload.Workload, policies []policy.Policy, progress func(over int)) ([]Run, error) {
	var (
		runs    = make([]Run, len(policies))
		over    = make([]atomic.Int64, len(policies))
		workers errgroup.Group

		ended sync.Mutex // guards runs and done
		done  = make([]bool, len(policies))
	)
	notify := func() {
		if progress == nil {
			return
		}
		sum := int64(0)
		for i := range over {
			sum += over[i].Load()
		}
		progress(int(sum))
	}
	workers.SetLimit(runtime.GOMAXPROCS(0))
	one := func(i int) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		result := replay.RunWatched(w, policies[i], func(n int) {
			over[i].Store(int64(n))
			notify()
		})
		over[i].Store(int64(len(w.Jobs)))
		notify()
		run := Run{Result: result, Metrics: replay.Measure(w, result)}
		ended.Lock()
		runs[i], done[i] = run, true
		ended.Unlock()
		return nil
	}
	if err := until(ctx, func() {
		for i := range policies {
			workers.Go(func() error { return one(i) })
		}
		_ = workers.Wait() // only the context's error
	}); err != nil {
		ended.Lock()
		defer ended.Unlock()
		return nil, &InterruptedError{Runs: slices.Clone(runs), Done: slices.Clone(done), err: err}
	}
	return runs, nil
}

// An InterruptedError has the policies whose replays ended before the context did.
type InterruptedError struct {
	Runs []Run
	Done []bool // whether each of Runs is done
	err  error
}

// Count returns how many of all replays ended.
func (e *InterruptedError) Count() (done, of int) {
	for _, d := range e.Done {
		if d {
			done++
		}
	}
	return done, len(e.Done)
}

// Error implements error.
func (e *InterruptedError) Error() string {
	done, of := e.Count()
	return fmt.Sprintf("interrupted: %d of %d policies done", done, of)
}

// Unwrap returns why the context ended.
func (e *InterruptedError) Unwrap() error { return e.err }

// Once replays under one policy and places the jobs, without metrics.
func Once(ctx context.Context, w workload.Workload, p policy.Policy) (replay.Result, *replay.Placement, error) {
	var (
		result replay.Result
		placed *replay.Placement
		err    error
	)
	if stopped := until(ctx, func() { result, placed, err = replay.RunPlaced(w, p) }); stopped != nil {
		return replay.Result{}, nil, stopped
	}
	return result, placed, err
}

// until calls `work`, and returns when `work` has returned or the context ends. In the second case `work`
// continues in the background.
func until(ctx context.Context, work func()) error {
	done := make(chan struct{})
	go func() {
		work()
		close(done)
	}()
	select {
	case <-done:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
