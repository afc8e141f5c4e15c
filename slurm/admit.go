package slurm

import (
	"context"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/slurm/client"
)

var _ adapter.RateLimiter = (*System)(nil)

// Admit waits until the limit on programs started per minute (Config.Clients) has room for the programs that the
// verb needs. It reserves places for these programs, for the user of the context (package fair). Readings leave a
// quarter of the places to actions. Admit fails only when ctx ends.
func (s *System) Admit(ctx context.Context, verb string) (context.Context, func(), error) {
	cost, spare := s.cost(verb), 0
	if verb == "observe" {
		spare = s.Run.Pace.Limit / 4
	}
	admitted, done, err := s.Run.Pace.Admit(ctx, cost, spare)
	if err != nil {
		return nil, nil, fmt.Errorf("waiting for one of %d client programs a minute: %w", s.Run.Pace.Limit, err)
	}
	return admitted, done, nil
}

// TryAdmit admits several verbs as Admit does, but does not wait. If there is no room, `later` is the time after
// which there may be room, and `why` is the reason.
func (s *System) TryAdmit(ctx context.Context, verbs ...string) (admitted context.Context, done func(), later time.Duration, why string) {
	cost := 0
	for _, verb := range verbs {
		cost += s.cost(verb)
	}
	admitted, done, later = s.Run.Pace.Try(ctx, cost, 0)
	if later > 0 {
		why = fmt.Sprintf("its turn among the %d client programs that may begin in a minute ([slurm] clients_per_minute)", s.Run.Pace.Limit)
	}
	return admitted, done, later, why
}

// cost returns how many programs the verb is likely to run. A reading of many jobs needs squeue. If a reading
// turns out to need a second squeue, that squeue runs without waiting for a turn.
func (s *System) cost(verb string) int {
	if !s.Run.Consoles.Speaks() {
		if cost, ok := client.CostsAlone[verb]; ok {
			return cost
		}
		return 3
	}
	if verb != "observe" {
		return client.Costs[verb]
	}
	if s.Jobs.Long() {
		return 1
	}
	return 0
}

// Clients returns the number of client programs that were started so far.
func (s *System) Clients() int64 { return s.Run.Begun() }
