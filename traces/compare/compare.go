// Package compare replays one workload under several policies side by side, and puts their metrics into one table with the
// differences to the first.
//
//	easy, err := replay.ParsePolicy("easy", sched.FirstCome)
//	runs, err := compare.Replay(ctx, workload, []replay.Policy{easy}, nil)
//	fmt.Print(runs[0].Metrics.Waiting.Mean)
//
// Package replay decides and measures. Package report draws the pictures of its Report.
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

// Run is one policy's replay.
type Run struct {
	replay.Result
	Metrics replay.Metrics
}

// Replay replays the workload under every policy, as many at a time as there are cores. It tells how many jobs are over, of
// all policies together, from time to time and from several goroutines; told may be nil. When the context ends it returns
// an *InterruptedError at once; replays under way go on, for nobody.
func Replay(ctx context.Context, w workload.Workload, policies []policy.Policy, told func(over int)) ([]Run, error) {
	var (
		runs    = make([]Run, len(policies))
		over    = make([]atomic.Int64, len(policies))
		workers errgroup.Group

		ended sync.Mutex // guards runs, and done: which of them are there
		done  = make([]bool, len(policies))
	)
	tell := func() {
		if told == nil {
			return
		}
		sum := int64(0)
		for i := range over {
			sum += over[i].Load()
		}
		told(int(sum))
	}
	workers.SetLimit(runtime.GOMAXPROCS(0))
	one := func(i int) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		result := replay.RunWatched(w, policies[i], func(n int) {
			over[i].Store(int64(n))
			tell()
		})
		over[i].Store(int64(len(w.Jobs)))
		tell()
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
		_ = workers.Wait() // of ctx
	}); err != nil {
		ended.Lock()
		defer ended.Unlock()
		return nil, &InterruptedError{Runs: slices.Clone(runs), Done: slices.Clone(done), err: err}
	}
	return runs, nil
}

// An InterruptedError says which policies were replayed before the context ended.
type InterruptedError struct {
	Runs []Run
	Done []bool // of Runs
	err  error
}

// Count returns how many replays ended, and of how many.
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

// Once is one replay that is placed and not measured.
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

// until does the work and returns when it is done, or with an error as soon as the context ends; then the work goes on, for
// nobody.
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
