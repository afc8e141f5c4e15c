package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/observe"
	"accordion/oar/server"
	"accordion/oar/tables"
)

// End ends a job with its companions, or a set of companions that were made together. It ends companions only after their nodes were
// cleaned. First it writes the reason into the standard error of a running job.
func (s *System) End(ctx context.Context, job adapter.Key, why string) error {
	var told *observe.Job
	var base int64
	var companions []*observe.Job
	err := s.alter(ctx, job, func(tx *sql.Tx, r *observe.Job, now core.Time) (err error) {
		if companions, err = s.companionsToEnd(ctx, tx, r); err != nil {
			return err
		}
		if base = r.BaseJob; base != 0 {
			return nil
		}
		base = int64(r.ID)
		if r.State == adapter.Running {
			told = r
		}
		if r.Over() {
			return nil
		}
		return s.db.Frag(ctx, tx, now, base)
	})
	if errors.Is(err, adapter.ErrGone) {
		return nil
	}
	if err == nil && len(companions) > 0 {
		s.server.Notify(server.Ends)
		err = s.endCompanions(ctx, base, companions)
	}
	if err != nil {
		return fmt.Errorf("ending job %d: %w", job.ID, err)
	}
	if told != nil && why != "" {
		// The job must end even if this fails.
		if err := s.say(ctx, told, "accordion ends this job: "+why); err != nil {
			s.log.Debug("the reason of a job's end could not be written to the job", "job", job.ID, "error", err)
		}
	}
	s.server.Notify(server.Ends)
	return nil
}

// endCompanions ends the job's processes on the companions' nodes and then asks OAR to end the companions. So no other job gets a node on
// which this job still has processes.
func (s *System) endCompanions(ctx context.Context, base int64, all []*observe.Job) error {
	companions := make([]int64, len(all))
	for i, c := range all {
		companions[i] = int64(c.ID)
	}
	waits, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.keeper.Cleaned(waits, base, tables.CpusetsOf(companions...)); err != nil {
		return err
	}
	return s.db.Change(ctx, func(tx *sql.Tx) error {
		now, err := s.db.Second(ctx, tx)
		if err != nil {
			return err
		}
		return s.db.Frag(ctx, tx, now, companions...)
	})
}

// companionsToEnd returns the companions that end together with job `r`. If `r` is a base, these are all of its companions. If `r` is a
// companion that was not merged, these are the companions of the same expansion, including `r` itself.
func (s *System) companionsToEnd(ctx context.Context, tx *sql.Tx, r *observe.Job) ([]*observe.Job, error) {
	base := int64(r.ID)
	if r.BaseJob != 0 {
		base = r.BaseJob
	}
	companions, err := s.companions(ctx, tx, base)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(companions, func(c *observe.Job) bool {
		return c.Over() || c.ID != r.ID && r.BaseJob != 0 && (r.Joined != "" || c.Joined != "" || c.With != r.With || c.MadeIn != r.MadeIn)
	}), nil
}
