// Package actions calls a batch system. It writes each call into the journal before the call is
// made, and the outcome afterwards. It decides nothing. `accordion journal` prints the calls under
// the same names.
//
//	caller := &actions.Caller{System: slurm, Journal: j, Meter: meter, Clock: adapter.Wall{}, Log: log, Cluster: "lab", Deadline: deadline}
//	var got actions.Result
//	err := caller.Do(ctx, actions.Grow{Job: job, Add: []string{"n4", "n5"}, Reservation: reservation}, &got)
package actions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/fair"
	"accordion/adapter/journal"
	"accordion/core/hostlist"
)

// A Caller makes calls at one batch system. Its methods may be called from several goroutines.
type Caller struct {
	System   adapter.BatchSystem
	Journal  Journal
	Meter    Meter
	Clock    adapter.Clock
	Log      hclog.Logger
	Cluster  string
	Deadline time.Duration // deadline of each call
	// Ends is closed when the sidecar shuts down. A call that has not begun by then is not made.
	Ends <-chan struct{}
	// Gate bounds how many calls run at the same time, and lets users take turns. A nil Gate sets
	// no bound.
	Gate *fair.Gate
	// Term is the time for which the sidecar holds the cluster's lease. No call begins after the
	// term, and a call that lasts longer is canceled. Term is nil if there is no lease.
	Term *Term
}

// A JournalError reports that the journal cannot be written. After such an error no call may be
// made.
type JournalError struct{ Err error }

func (e *JournalError) Error() string { return e.Err.Error() }
func (e *JournalError) Unwrap() error { return e.Err }

// Broken returns the error inside a JournalError that err wraps, and nil if err wraps no
// JournalError.
func Broken(err error) error {
	var broken *JournalError
	if errors.As(err, &broken) {
		return broken.Err
	}
	return nil
}

// do makes one call with a deadline. It writes the intent before the call, and the outcome after
// it.
func (a *Caller) do(ctx context.Context, job adapter.Key, verb string, args map[string]any, call func(context.Context) error) error {
	ctx, admitted, err := a.admit(ctx, verb)
	if err != nil {
		return err
	}
	defer admitted()
	leave, err := a.enter(ctx)
	if err != nil {
		return fmt.Errorf("%s: not begun: %w", verb, err)
	}
	defer leave()
	if a.Term != nil && a.Term.Left() <= 0 {
		return fmt.Errorf("%s: %w", verb, ErrNoLease)
	}
	id, err := a.Journal.Begin(journal.Intent{
		At: a.Clock.Now(), Cluster: a.Cluster, Job: int64(job.ID), Submitted: job.Submitted, Verb: verb, Args: args,
	})
	if err != nil {
		return &JournalError{err}
	}
	err = a.within(ctx, verb, call)
	if failure := a.Journal.Finish(id, a.Clock.Now(), err); failure != nil {
		return &JournalError{failure}
	}
	return err
}

// `within` makes a call with a deadline, which is never later than the end of the lease's term. The
// deadline is computed after the intent was written, because writing may take long.
func (a *Caller) within(ctx context.Context, verb string, call func(context.Context) error) error {
	lasts := a.Deadline
	if a.Term != nil {
		if lasts = min(lasts, a.Term.Left()); lasts <= 0 {
			return fmt.Errorf("%s: %w", verb, ErrNoLease)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	begin := a.Clock.Now()
	err := call(ctx)
	a.Meter.Call(verb, a.Clock.Now().Sub(begin), err)
	return err
}

// Observe reads the batch system, and returns how long the reading took.
func (a *Caller) Observe(ctx context.Context) (reading *adapter.Snapshot, took time.Duration, err error) {
	ctx, admitted, err := a.admit(fair.As(ctx, fair.Reading), "observe")
	if err != nil {
		return nil, 0, err
	}
	defer admitted()
	ctx, cancel := context.WithTimeout(ctx, a.Deadline)
	defer cancel()
	begin := a.Clock.Now()
	reading, err = a.System.Observe(ctx)
	took = adapter.Elapsed(a.Clock, begin, a.Clock.Now())
	a.Meter.Call("observe", took, err)
	return reading, took, err
}

// admit waits until the batch system's RateLimiter admits the call. The wait does not count toward
// the call's deadline. If the sidecar shuts down, admit returns an error.
func (a *Caller) admit(ctx context.Context, verb string) (context.Context, func(), error) {
	pacer, ok := a.System.(adapter.RateLimiter)
	if !ok {
		return ctx, func() {}, nil
	}
	waiting, stop := a.untilEnd(ctx)
	defer stop()
	begin := a.Clock.Now()
	admitted, done, err := pacer.Admit(waiting, verb)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: not begun: %w", verb, err)
	}
	if waited := a.Clock.Now().Sub(begin); waited >= time.Second && verb != "observe" {
		a.Meter.Limited(LimitClients)
		a.Log.Info("an act waited for its turn: the client programs of this minute were used up", "cluster", a.Cluster,
			"verb", verb, "seconds", waited.Seconds())
	}
	return context.WithoutCancel(admitted), done, nil
}

// enter waits until the gate admits the call. The caller calls `leave` after the call, which makes
// room for another one.
func (a *Caller) enter(ctx context.Context) (leave func(), err error) {
	if a.Gate == nil {
		return func() {}, nil
	}
	waiting, stop := a.untilEnd(ctx)
	defer stop()
	return a.Gate.Enter(waiting)
}

// untilEnd returns a context that also ends when the sidecar shuts down.
func (a *Caller) untilEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	waiting, stop := context.WithCancel(ctx)
	go func() {
		select {
		case <-a.Ends:
			stop()
		case <-waiting.Done():
		}
	}()
	return waiting, stop
}

// names returns node names as a host list.
func names(nodes []string) string { return hostlist.Compact(nodes) }
