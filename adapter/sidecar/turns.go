package sidecar

import (
	"context"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/decide"
	"accordion/adapter/fair"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
)

// resizesAtOnce is how many resizes may be under way at the same time. The batch system carries out
// one after the other, so that more resizes would only wait in the batch system.
const resizesAtOnce = 2

// callsAtOnce is how many calls may be under way at the same time.
const callsAtOnce = 16

// turns shares scarce calls among the users of the jobs: resizes, and calls for reservations.
type turns struct {
	clock        adapter.Clock
	limiter      adapter.RateLimiter // nil if the batch system does not limit calls
	resizes      fair.Ledger
	reservations fair.Ledger
	retry        time.Time // when a resize that had to wait may be admitted; zero if no resize had to wait
}

// resize starts due resizes, as many as may be under way. Users with the fewest recent resizes come
// first. A resize that releases nodes for which another user's job waits counts for that other
// user.
func (s *Sidecar) resize(ctx context.Context, v *plan.World, due []*managed.Job) error {
	s.turns.retry = time.Time{}
	refused := map[fair.Asker]string{}
	for len(due) > 0 {
		first := 0
		for i, r := range due {
			if s.turns.resizes.Less(s.payer(r), s.payer(due[first])) {
				first = i
			}
		}
		r, user := due[first], s.payer(due[first])
		due = append(due[:first:first], due[first+1:]...)
		d, admitted := decide.About(r, s.situation(v)), fair.For(ctx, user) // the decision is made again, because the resizes before may have changed it
		var done func()
		if d.Do != nil && d.Do.Resize {
			var wait decide.Decision
			if s.workers.resizes >= resizesAtOnce {
				d = decide.Decision{Waits: decide.OthersFirst}
			} else if admitted, done, wait = s.turns.admit(admitted, d.Do, refused); wait.Waits != "" {
				d = wait
			}
		}
		if err := s.carryOut(admitted, v, r, d, done); err != nil {
			return err
		}
	}
	return nil
}

// payer returns the user to whom a job's resize is charged.
func (s *Sidecar) payer(r *managed.Job) uint32 {
	if user, awaited := s.jobs.awaited[r.ID]; awaited {
		return user
	}
	return r.UID
}

// admit admits a resize, or returns a decision to wait. `admitted` is the context of the resize's
// calls. If `done` is not nil, the caller calls it when these calls have ended. An asker that was
// refused before in this cycle is refused again, without asking the batch system's RateLimiter.
func (t *turns) admit(ctx context.Context, op *decide.Operation, refused map[fair.Asker]string) (admitted context.Context, done func(), wait decide.Decision) {
	if op.Shrink {
		ctx = fair.As(ctx, fair.Releasing)
	}
	if t.limiter != nil {
		if why := refused[fair.Of(ctx)]; why != "" {
			return ctx, nil, decide.Decision{Waits: why, Obstacle: managed.Turn, Limit: actions.LimitClients}
		}
		paced, done, later, why := t.limiter.TryAdmit(ctx, op.Uses...)
		if later > 0 {
			refused[fair.Of(ctx)] = why
			if again := t.clock.Now().Add(later); t.retry.IsZero() || again.Before(t.retry) {
				t.retry = again
			}
			return ctx, nil, decide.Decision{Waits: why, Obstacle: managed.Turn, Limit: actions.LimitClients}
		}
		t.resizes.Charge(fair.Of(paced).User, 1, t.clock.Now())
		return paced, done, decide.Decision{}
	}
	t.resizes.Charge(fair.Of(ctx).User, 1, t.clock.Now())
	return ctx, nil, decide.Decision{}
}
