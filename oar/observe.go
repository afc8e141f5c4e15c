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

// Observe reads the pool at one instant: the hosts with resources of type default, the jobs on
// them, and the jobs that wait in our queue. Besteffort jobs are left out, because OAR ends them
// where others want their nodes. Where OAR waits for their checkpoints, the nodes are kept from us
// for as long. Jobs of any other queue are holders. What queues of a higher priority have planned,
// and advance reservations, are the reservations of others.
func (s *System) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	var snapshot *adapter.Snapshot
	var shown []*observe.Job
	var yielding []observe.Yielding
	err := s.db.AtOneInstant(ctx, s.db.Sql, func(tx *sql.Tx) (err error) {
		if snapshot, shown, yielding, err = s.read.Snapshot(ctx, tx); err != nil {
			return err
		}
		return s.keeper.Look(ctx, tx)
	})
	if err == nil {
		s.beginFirst(ctx, shown)
	}
	s.hasten(shown...)
	if err == nil {
		err = s.remind(ctx)
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
		snapshot.Molds.Reach = s.read.Reach(ctx)
		snapshot.Soft, err = s.read.Soft(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("observing OAR: %w", err)
	}
	for i := range snapshot.Jobs {
		s.users.Name(ctx, &snapshot.Jobs[i])
	}
	return snapshot, nil
}

// Inspect reads one job as it is now, whatever has become of it.
func (s *System) Inspect(ctx context.Context, job adapter.Key) (*adapter.Job, error) {
	r, err := s.read.Job(ctx, s.db.Sql, job)
	if err != nil {
		return nil, err
	}
	s.hasten(r)
	s.users.Name(ctx, &r.Job)
	return &r.Job, nil
}

// hastenEvery is the least time between two words about a job that was released and has not begun.
const hastenEvery = 2500 * time.Millisecond

// sparedFor is for how long OAR is told to plan now and then after a job began without a pass. Others that were submitted just after the pass
// before would wait up to ten seconds for the next, which the start would have brought on.
const sparedFor = 3 * hastenEvery

// hasten has OAR plan where a job runs and its first companions wait still, and could not be begun at once: OAR 2.5 does not begin them before
// their job runs, and does not look again when it does. So too where a job was released a while ago and waits still: a word that comes sooner
// after a pass than SCHEDULER_MIN_TIME_BETWEEN_2_CALLS is laid aside until the next comes, or for up to ten seconds.
func (s *System) hasten(shown ...*observe.Job) {
	now := time.Now()
	last := time.Unix(0, s.hastened.Load())
	if madeUp(now.Sub(time.Unix(0, s.spared.Load())), now.Sub(last)) {
		last = now
		s.hastened.Store(now.UnixNano())
		s.server.Notify(server.Starts)
	}
	for _, r := range shown {
		word, slow := unplanned(r, now.Sub(last))
		if slow {
			last = now
			s.hastened.Store(now.UnixNano())
		}
		if word != "" {
			s.server.Notify(word)
		}
	}
}

// madeUp says whether OAR is to plan so long after a job began without a pass, and so long after it was told so last.
func madeUp(began, told time.Duration) bool { return began < sparedFor && told >= hastenEvery }

// unplanned is what OAR is told for a job as it is read, so long after it was told so last for one that was only slow; and whether this is
// one of those.
func unplanned(r *observe.Job, since time.Duration) (word string, slow bool) {
	first := func(state string) bool { return len(firstOnes(r, state)) > 0 }
	successor := func(c *observe.Job) bool { return c.Joined == observe.Grown && c.OARState == database.StateWaiting }
	switch {
	case r.OARState == "Running" && first(database.StateWaiting):
		return server.Starts, false
	case r.OARState == "Running" && since >= hastenEvery && slices.ContainsFunc(r.Companions, successor):
		return server.Starts, true
	case !r.Released || since < hastenEvery:
	case r.OARState == database.StateWaiting:
		return server.Starts, true
	case r.OARState == "toLaunch": // the word may have been lost
		return server.Begins(r.ID), true
	case r.OARState == "Running" && first("toLaunch"): // or that for a companion: a pass begins whatever is to be launched
		return server.Starts, true
	}
	return "", false
}

// remind has OAR plan for the second in which the next advance reservation begins, of whatever queue: by itself it plans when
// something happens, and else once a minute. What such a job begins late is taken from its walltime.
func (s *System) remind(ctx context.Context) error {
	now := time.Now().Unix()
	query := fmt.Sprintf("SELECT COALESCE(MIN(start_time), 0) FROM jobs WHERE state = %s AND reservation = 'Scheduled' AND start_time >= %d", s.db.Arg(1), now)
	next, err := database.Value[core.Time](ctx, s.db.Sql, "the next advance reservation", query, database.StateWaiting)
	if err == nil {
		s.server.NotifyAt(next)
	}
	return err
}
