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

// resizesAtOnce is how many resizes may be under way: the batch system does them one after the other anyway, and more of them
// only wait there instead of here.
const resizesAtOnce = 2

// actsAtOnce is how many acts may be under way between intent and outcome.
const actsAtOnce = 16

// turns shares scarce calls among the users of the jobs: resizes, and calls for reservations.
type turns struct {
	clock        adapter.Clock
	pacer        adapter.RateLimiter // nil: the batch system sets no bound
	resizes      fair.Ledger
	reservations fair.Ledger
	again        time.Time // when a resize that was put off may find room
}

// resize starts the resizes that are due, as far as there is room for them. Users with the fewest
// lately come first. A resize that releases nodes for which another user waits takes that user's
// turn.
func (s *Sidecar) resize(ctx context.Context, v *plan.World, due []*managed.Job) error {
	s.turns.again = time.Time{}
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
		d, admitted := decide.About(r, s.situation(v)), fair.For(ctx, user) // those before it may have changed what is decided
		var done func()
		if d.Do != nil && d.Do.Resize {
			var wait decide.Decision
			if s.workers.resizes >= resizesAtOnce {
				d = decide.Decision{Waits: decide.OthersFirst}
			} else if admitted, done, wait = s.turns.take(admitted, d.Do, refused); wait.Waits != "" {
				d = wait
			}
		}
		if err := s.carryOut(admitted, v, r, d, done); err != nil {
			return err
		}
	}
	return nil
}

// payer returns the user whose turn a job's resize takes.
func (s *Sidecar) payer(r *managed.Job) uint32 {
	if user, awaited := s.jobs.awaited[r.ID]; awaited {
		return user
	}
	return r.UID
}

// take lets a resize begin with the context that it returns, or returns what it waits for. done, where it is not nil, is called when the
// resize has ended. An asker that was refused before in this cycle is refused again without asking.
func (t *turns) take(ctx context.Context, op *decide.Operation, refused map[fair.Asker]string) (admitted context.Context, done func(), wait decide.Decision) {
	if op.Shrink {
		ctx = fair.As(ctx, fair.Releasing)
	}
	if t.pacer != nil {
		if why := refused[fair.Of(ctx)]; why != "" {
			return ctx, nil, decide.Decision{Waits: why, Obstacle: managed.Turn, Limit: actions.LimitClients}
		}
		paced, done, later, why := t.pacer.TryAdmit(ctx, op.Uses...)
		if later > 0 {
			refused[fair.Of(ctx)] = why
			if again := t.clock.Now().Add(later); t.again.IsZero() || again.Before(t.again) {
				t.again = again
			}
			return ctx, nil, decide.Decision{Waits: why, Obstacle: managed.Turn, Limit: actions.LimitClients}
		}
		t.resizes.Charge(fair.Of(paced).User, 1, t.clock.Now())
		return paced, done, decide.Decision{}
	}
	t.resizes.Charge(fair.Of(ctx).User, 1, t.clock.Now())
	return ctx, nil, decide.Decision{}
}
