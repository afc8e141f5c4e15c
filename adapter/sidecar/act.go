package sidecar

import (
	"context"
	"fmt"
	"time"

	"accordion/adapter/decide"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core/hostlist"
)

// blind is how many readings must fail in a row before nothing more is done: one may fail for many reasons.
const blind = 2

// act does what the plan needs and the batch system does not have yet: at most one operation a job at a time.
func (s *Sidecar) act(ctx context.Context, v *plan.World) error {
	if s.failures >= blind { // nobody knows what is true: what is done now may be wrong, and loads what is in trouble
		return s.saveDirty()
	}
	defer func() { s.awaited = v.Awaited }()
	for _, r := range s.sorted() {
		if !s.fresh(r) || r.Seen == nil || s.clock.Now().Before(r.Retry) {
			continue
		}
		s.see(v, r)
		if err := s.carryOut(ctx, v, r, decide.About(r, s.situation(v))); err != nil {
			return err
		}
	}
	if err := s.tend(ctx, v); err != nil {
		return err
	}
	s.sweep(ctx, v)
	s.nudge(ctx, v)
	s.wake(ctx, v)
	return s.saveDirty()
}

// save makes a record durable.
func (s *Sidecar) save(r *managed.Job) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	r.Dirty = false
	return s.journal.Put(journal.Record{Job: int64(r.ID), Submitted: r.Submitted, Data: data})
}

func (s *Sidecar) saveDirty() error {
	for _, r := range s.sorted() {
		if r.Dirty {
			if err := s.save(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// ended is a left-over expander that was ended, or is being ended.
type ended struct {
	busy  bool
	begun int       // readings that had begun by then
	retry time.Time // where it is still there, it is ended again from then on
}

// sweepAgain is what a batch system may take to end an expander before it is told again.
const sweepAgain = 3 * time.Second

// sweep ends expanders that belong to nothing under way: a merge that lost its race, a sidecar that died in a growth, a parent
// that is over.
func (s *Sidecar) sweep(ctx context.Context, v *plan.World) {
	for _, j := range v.Strays {
		key := j.Key
		if e, told := s.strays[key]; told && (e.busy || !s.newer(e.begun) || s.clock.Now().Before(e.retry)) {
			continue
		}
		s.strays[key] = ended{busy: true}
		if s.find(j.Expands) != nil {
			s.notice(key, fmt.Sprintf("expander of job %d is left over: ended", j.Expands))
		} else { // some batch systems leave them to us when their parent ends
			s.log.Debug("an expander has outlived its parent: ended", "cluster", s.settings.Cluster, "job", j.Expands, "expander", j.ID)
		}
		s.beside(func() error { return s.acts.End(ctx, key, "left-over expander") }, func(error) {
			s.strays[key] = ended{begun: s.begun, retry: s.later(sweepAgain)}
		})
	}
}

// names writes node names as a host list.
func names(nodes []string) string { return hostlist.Compact(nodes) }
