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

// OAR's states in which awaitStates counts a companion as ready. A companion owns its hosts from the state toLaunch on.
var (
	placed = []string{"toLaunch", "Launching", "Running"}
	runs   = []string{"Running"}
)

// notifyAgain is the pause before OAR's server is notified again, because notifications are lost while the server is down.
const notifyAgain = 1500 * time.Millisecond

// awaitStates waits until every companion is in one of the wanted states.
func (s *System) awaitStates(ctx context.Context, companions []adapter.Key, wanted []string) error {
	return s.await(ctx, func(ctx context.Context) ([]string, error) {
		states, err := s.states(ctx, companions)
		if err != nil {
			return nil, err
		}
		return notificationsFor(companions, states, wanted)
	})
}

// notificationsFor returns the commands to send to OAR's server so that the companions reach one of the wanted states. It returns no
// commands if all companions have reached one, and ErrBusy if a companion will never reach one.
func notificationsFor(companions []adapter.Key, states map[core.JobID]string, wanted []string) ([]string, error) {
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

// states reads the states of jobs, in OAR's words.
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

// ended returns a function for await, with which await waits until the job has ended. The caller has already asked OAR
// to end the job.
func (s *System) ended(job adapter.Key) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		states, err := s.states(ctx, []adapter.Key{job})
		if state := states[job.ID]; err != nil || state == "Terminated" || state == "Error" || state == "" {
			return nil, err
		}
		return []string{server.Ends}, nil
	}
}

// await calls `needs` repeatedly and sends the returned commands to OAR's server, until `needs` returns no commands.
// After s.timeout it returns ErrBusy.
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
		if time.Since(told) >= notifyAgain {
			told = time.Now()
			for _, word := range words {
				s.server.Notify(word)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("OAR did not complete it within %v: %w", s.timeout, adapter.ErrBusy)
		case <-look.C:
		}
	}
}

// Repair asks OAR for a pass. Under OAR no node needs repair, but the notification to start a job may have been lost.
func (s *System) Repair(context.Context, []string) error {
	s.server.Notify(server.Starts)
	return nil
}
