package oar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/server"
)

// What a companion can be waited for to be: the hosts are its own from when it is to be launched.
var (
	placed = []string{"toLaunch", "Launching", "Running"}
	runs   = []string{"Running"}
)

// pokeAgain is after how long OAR's server is told again: a poke that was told while it was away is lost.
const pokeAgain = 1500 * time.Millisecond

// become waits until all of some companions are in one of some states.
func (s *System) become(ctx context.Context, companions []adapter.Key, wanted []string) error {
	return s.await(ctx, func(ctx context.Context) ([]string, error) {
		states, err := s.states(ctx, companions)
		if err != nil {
			return nil, err
		}
		return startUp(companions, states, wanted)
	})
}

// startUp says what OAR is to be told so that companions get into one of the wanted states: nothing when all are.
func startUp(companions []adapter.Key, states map[core.JobID]string, wanted []string) ([]string, error) {
	var words []string
	for _, c := range companions {
		switch state := states[c.ID]; {
		case slices.Contains(wanted, state):
		case state == "toLaunch" || state == "Launching":
			words = append(words, server.Begins(c.ID))
		case state == database.StateWaiting:
			words = append(words, server.Starts)
		default:
			return nil, fmt.Errorf("companion %d is %s: %w", c.ID, state, adapter.ErrBusy)
		}
	}
	return words, nil
}

// states reads OAR's states of jobs.
func (s *System) states(ctx context.Context, jobs []adapter.Key) (map[core.JobID]string, error) {
	states := map[core.JobID]string{}
	query := "SELECT job_id, state FROM jobs WHERE job_id IN (" + database.List(numbersOf(jobs)) + ")"
	err := database.Rows(ctx, s.db.Sql, "jobs' states", query, nil, func(row *sql.Rows) error {
		var id core.JobID
		var state string
		err := row.Scan(&id, &state)
		states[id] = state
		return err
	})
	return states, err
}

// over awaits the end of a job that OAR was asked to end.
func (s *System) over(job adapter.Key) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		states, err := s.states(ctx, []adapter.Key{job})
		if state := states[job.ID]; err != nil || state == "Terminated" || state == "Error" || state == "" {
			return nil, err
		}
		return []string{server.Ends}, nil
	}
}

// await tells OAR's server what needs to be told, and looks until nothing does any more. ErrBusy when that takes too long.
func (s *System) await(ctx context.Context, needs func(context.Context) ([]string, error)) error {
	late := time.NewTimer(s.timeout)
	defer late.Stop()
	look := time.NewTicker(server.LookEvery)
	defer look.Stop()
	told := time.Time{}
	for {
		words, err := needs(ctx)
		if err != nil || len(words) == 0 {
			return err
		}
		if time.Since(told) >= pokeAgain {
			told = time.Now()
			for _, word := range words {
				s.server.Notify(word)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("OAR has not done it within %v: %w", s.timeout, adapter.ErrBusy)
		case <-look.C:
		}
	}
}

// Repair asks OAR to plan: it has no nodes that it forgets, but it may not have heard of what is to start.
func (s *System) Repair(context.Context, []string) error {
	s.server.Notify(server.Starts)
	return nil
}
