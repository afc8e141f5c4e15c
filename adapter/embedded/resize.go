package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// Expand implements adapter.BatchSystem. If `name` is "", no reservation may contain any of the nodes before the end of the parent's time
// limit.
func (s *System) Expand(ctx context.Context, parent *adapter.Job, nodes []string, name string) (adapter.Key, error) {
	var key adapter.Key
	c := Call{Verb: "Expand", Job: parent.ID, Reservation: name, Nodes: nodes}
	err := s.do(ctx, c, func() error {
		return s.with(parent.Key, adapter.Running, func(j *job) error {
			if j.expands != nil {
				return errors.New("it is an expander itself")
			}
			wanted, err := s.indices(nodes)
			if err != nil {
				return err
			}
			if err := s.expandable(j, wanted, name); err != nil {
				return err
			}
			key = s.expander(j, wanted, name)
			return nil
		})
	})
	if err != nil {
		return adapter.Key{}, err
	}
	return key, nil
}

// remaining returns how many seconds of a running job's time limit are left.
func (s *System) remaining(j *job) core.Time {
	end := j.limitEnd()
	if end.IsZero() {
		return core.Forever
	}
	return max(1, core.Time(end.Sub(s.now)/time.Second))
}

// expandable returns why the nodes cannot be given to an expander of the job now, or nil.
func (s *System) expandable(j *job, nodes []int, name string) error {
	r := s.reservation(name)
	switch {
	case name != "" && r == nil:
		return fmt.Errorf("there is no reservation %q", name)
	case r != nil && r.User != j.spec.User:
		return fmt.Errorf("reservation %s is for user %s, the job is %s's", name, r.User, j.spec.User)
	case r != nil && !r.begun:
		return fmt.Errorf("%w: reservation %s has not begun", adapter.ErrBusy, name)
	}
	for _, i := range nodes {
		n := &s.nodes[i]
		switch {
		case n.holder != nil:
			return fmt.Errorf("%w: %s is held by job %d", adapter.ErrBusy, n.name, n.holder.key.ID)
		case !n.usable():
			return fmt.Errorf("%w: %s is %s", adapter.ErrBusy, n.name, n.why())
		case r != nil && !slices.Contains(r.nodes, i):
			return fmt.Errorf("%s is not in reservation %s", n.name, name)
		case r == nil && s.reservedWithin(i, s.now, s.remaining(j)):
			return fmt.Errorf("%w: %s is reserved", adapter.ErrBusy, n.name)
		}
	}
	return nil
}

// expander starts a job that holds the nodes until it is merged into its parent. The job runs no program.
func (s *System) expander(parent *job, nodes []int, reservation string) adapter.Key {
	s.last++
	e := &job{
		key: adapter.Key{ID: s.last, Submitted: s.now.Unix()}, submitted: s.now,
		spec: JobSpec{
			Name: fmt.Sprintf("%sexpand-%d", adapter.Prefix, parent.key.ID), User: parent.spec.User,
			UID: parent.spec.UID, GID: parent.spec.GID, Nodes: len(nodes), Tasks: len(nodes),
		},
		want: len(nodes), limit: s.remaining(parent), reservation: reservation, expands: parent,
	}
	s.jobs = append(s.jobs, e)
	s.start(e, nodes)
	return e.key
}

// Merge implements adapter.BatchSystem. It returns nil if the merge was already done.
func (s *System) Merge(ctx context.Context, parent, expander adapter.Key) error {
	return s.do(ctx, Call{Verb: "Merge", Job: parent.ID}, func() error {
		if slices.ContainsFunc(s.over, func(e *job) bool {
			return e.key == expander && e.mergedInto != nil && e.mergedInto.key == parent
		}) {
			return nil
		}
		return s.with(parent, adapter.Running, func(j *job) error {
			return s.with(expander, adapter.Running, func(e *job) error {
				switch {
				case e.expands != j:
					return fmt.Errorf("job %d is no expander of it", expander.ID)
				case e.stale:
					return fmt.Errorf("job %d is from before a restart and cannot be merged any more", expander.ID)
				}
				for _, i := range slices.Clone(e.nodes) {
					s.free(e, i)
					s.take(j, i)
				}
				e.mergedInto = j
				e.why, e.over = "COMPLETED", s.now
				s.remove(e)
				return nil
			})
		})
	})
}

// Shrink implements adapter.BatchSystem. A job cannot release its batch host, which is the first node
// that it received at its start.
func (s *System) Shrink(ctx context.Context, key adapter.Key, keep []string) error {
	return s.do(ctx, Call{Verb: "Shrink", Job: key.ID, Nodes: keep}, func() error {
		return s.with(key, adapter.Running, func(j *job) error {
			kept, err := s.indices(keep)
			if err != nil {
				return err
			}
			for _, i := range kept {
				if s.nodes[i].holder != j {
					return fmt.Errorf("it does not hold %s", s.nodes[i].name)
				}
			}
			if !slices.Contains(kept, j.host) {
				return fmt.Errorf("its batch host %s must be kept", s.nodes[j.host].name)
			}
			for _, i := range j.base {
				if !slices.Contains(kept, i) {
					return fmt.Errorf("node %s of its base must be kept", s.nodes[i].name)
				}
			}
			for _, i := range slices.Clone(j.nodes) {
				if !slices.Contains(kept, i) {
					s.free(j, i)
				}
			}
			s.callForPass()
			return nil
		})
	})
}
