package oar

import (
	"accordion/oar/observe"

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

// Observe reads the pool at one instant: the hosts with resources of type default, the jobs on these hosts, and the jobs that wait in our
// queue. It leaves out besteffort jobs, because OAR ends them when other jobs need their nodes. If OAR waits for a besteffort job's
// checkpoint, the job's nodes count as reserved for that time. Jobs of other queues count as holders of their nodes. Advance reservations,
// and the plans of queues with a higher priority, count as reservations of others.
func (s *System) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	var snapshot *adapter.Snapshot
	var shown []*observe.Job
	var yielding []observe.BesteffortJob
	err := s.db.AtOneInstant(ctx, s.db.Sql, func(tx *sql.Tx) (err error) {
		if snapshot, shown, yielding, err = s.read.Snapshot(ctx, tx); err != nil {
			return err
		}
		return s.keeper.Look(ctx, tx)
	})
	if err == nil {
		s.launchFirstCompanions(ctx, shown)
	}
	s.notifyIfLate(shown...)
	if err == nil {
		err = s.notifyAtReservation(ctx)
	}
	if err == nil {
		err = s.keepHealthy(ctx, shown)
	}
	if err == nil {
		err = s.lengthen(ctx, shown)
	}
	if err == nil {
		err = s.makeWay(ctx, yielding, snapshot.Reservations)
	}
	if err == nil {
		snapshot.OwnSizing.Eligible = s.read.EligibleNodes(ctx)
		snapshot.Soft, err = s.read.QueuesBefore(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("observing OAR: %w", err)
	}
	for i := range snapshot.Jobs {
		s.users.Name(ctx, &snapshot.Jobs[i])
	}
	return snapshot, nil
}

// Inspect reads one job, whatever its state.
func (s *System) Inspect(ctx context.Context, job adapter.Key) (*adapter.Job, error) {
	r, err := s.read.Job(ctx, s.db.Sql, job)
	if err != nil {
		return nil, err
	}
	s.notifyIfLate(r)
	s.users.Name(ctx, &r.Job)
	return &r.Job, nil
}

// notifyEvery is the minimum time between two notifications about jobs that were released and have not started.
const notifyEvery = 2500 * time.Millisecond

// repeatFor is how long OAR is asked for passes after a job has started without a pass. Otherwise jobs that were submitted just after the
// previous pass would wait up to ten seconds, because the start caused no pass.
const repeatFor = 3 * notifyEvery

// notifyIfLate asks OAR for a pass if the companions of a running job's first step still wait and could not be
// launched directly. OAR 2.5 does not start these companions before their base runs, and starts no pass of its own
// when the base has started. notifyIfLate also repeats the request for jobs that were released a while ago and still
// wait. If a request comes within SCHEDULER_MIN_TIME_BETWEEN_2_CALLS of a pass, OAR acts on it only at the next
// request, or after up to ten seconds.
func (s *System) notifyIfLate(shown ...*observe.Job) {
	now := time.Now()
	last := time.Unix(0, s.lastNotified.Load())
	if passDue(now.Sub(time.Unix(0, s.passSkipped.Load())), now.Sub(last)) {
		last = now
		s.lastNotified.Store(now.UnixNano())
		s.server.Notify(server.Starts)
	}
	for _, r := range shown {
		word, slow := lateNotification(r, now.Sub(last))
		if slow {
			last = now
			s.lastNotified.Store(now.UnixNano())
		}
		if word != "" {
			s.server.Notify(word)
		}
	}
}

// passDue reports whether to ask OAR for a pass. `began` is the time since a job last started without a pass, and
// `told` is the time since the last notification.
func passDue(began, told time.Duration) bool { return began < repeatFor && told >= notifyEvery }

// lateNotification returns the command to send to OAR's server about a job, or "" if none is needed. `since` is the time since the last
// notification about a slow job. The result `slow` is set if the command is such a notification.
func lateNotification(r *observe.Job, since time.Duration) (word string, slow bool) {
	first := func(state string) bool { return len(firstCompanions(r, state)) > 0 }
	successor := func(c *observe.Job) bool { return c.Joined == observe.Grown && c.OARState == database.StateWaiting }
	switch {
	case r.OARState == "Running" && first(database.StateWaiting):
		return server.Starts, false
	case r.OARState == "Running" && since >= notifyEvery && slices.ContainsFunc(r.Companions, successor):
		return server.Starts, true
	case !r.Released || since < notifyEvery:
	case r.OARState == database.StateWaiting:
		return server.Starts, true
	case r.OARState == "toLaunch": // the notification may have been lost
		return server.Begins(r.ID), true
	case r.OARState == "Running" && first("toLaunch"): // the notification for a companion may have been lost; a pass starts all jobs that are to be launched
		return server.Starts, true
	}
	return "", false
}

// notifyAtReservation schedules a pass for the second in which the next advance reservation of any queue begins. OAR itself runs a pass
// only after an event or once a minute. If the job of an advance reservation starts late, OAR deducts the delay from its walltime.
func (s *System) notifyAtReservation(ctx context.Context) error {
	now := time.Now().Unix()
	query := fmt.Sprintf("SELECT COALESCE(MIN(start_time), 0) FROM jobs WHERE state = %s AND reservation = 'Scheduled' AND start_time >= %d", s.db.Arg(1), now)
	next, err := database.Value[core.Time](ctx, s.db.Sql, "the next advance reservation", query, database.StateWaiting)
	if err == nil {
		s.server.NotifyAt(next)
	}
	return err
}
