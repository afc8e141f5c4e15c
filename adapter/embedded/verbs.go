package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// Call is one call of an adapter.BatchSystem method, as passed to Options.Faults.
type Call struct {
	Verb        string // name of the method, such as "Reserve" or "Merge"
	Job         core.JobID
	Reservation string
	Nodes       []string
}

func (c Call) String() string {
	out := c.Verb
	if c.Job != 0 {
		out += " job " + strconv.FormatInt(int64(c.Job), 10)
	}
	if c.Reservation != "" {
		out += " reservation " + c.Reservation
	}
	return out
}

// Fault is what goes wrong with one call. The zero value means that nothing goes wrong.
type Fault struct {
	Delay  time.Duration // time to wait before the batch system carries out the call
	Refuse error         // if not nil, the call is not carried out, and returns this error
	Lose   error         // if not nil, the call is carried out, but returns this error instead of its result
}

// do carries out one call: it simulates the fault, advances the state to now, and calls act.
func (s *System) do(ctx context.Context, c Call, act func() error) error {
	var fault Fault
	if s.options.Faults != nil {
		fault = s.options.Faults(c)
	}
	if fault.Delay > 0 {
		select {
		case <-ctx.Done():
		case <-s.clock.After(fault.Delay):
		}
	}
	err := ctx.Err()
	if err == nil {
		err = fault.Refuse
	}
	if err == nil {
		s.enter()
		err = act()
		s.leave()
	}
	if fault.Lose != nil {
		err = fault.Lose
	}
	if err != nil {
		return fmt.Errorf("embedded batch system: %v: %w", c, err)
	}
	return nil
}

// pending carries out one call on a pending job.
func (s *System) pending(ctx context.Context, verb string, key adapter.Key, act func(*job) error) error {
	return s.do(ctx, Call{Verb: verb, Job: key.ID}, func() error { return s.with(key, adapter.Pending, act) })
}

func (s *System) with(key adapter.Key, state adapter.State, act func(*job) error) error {
	j, err := s.find(key)
	if err != nil {
		return err
	}
	if j.state != state {
		return fmt.Errorf("%w: it is %s, not %s", adapter.ErrGone, j.state, state)
	}
	return act(j)
}

// Observe implements adapter.BatchSystem.
func (s *System) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	var snap *adapter.Snapshot
	err := s.do(ctx, Call{Verb: "Observe"}, func() error {
		snap = &adapter.Snapshot{At: s.now, Nodes: make([]adapter.Node, 0, len(s.nodes)), Jobs: make([]adapter.Job, 0, len(s.jobs))}
		for i := range s.nodes {
			n := &s.nodes[i]
			snap.Nodes = append(snap.Nodes, adapter.Node{Name: n.name, Usable: n.usable(), Lost: n.down, Idle: n.holder == nil, Why: n.why()})
		}
		for _, j := range s.queue() {
			snap.Jobs = append(snap.Jobs, s.show(j))
		}
		for _, j := range s.jobs {
			if j.state != adapter.Pending {
				snap.Jobs = append(snap.Jobs, s.show(j))
			}
		}
		for _, r := range s.reservations {
			out := r.Reservation
			out.Nodes = slices.Clone(r.Nodes)
			snap.Reservations = append(snap.Reservations, out)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return snap, nil
}

// Inspect implements adapter.BatchSystem. It returns a job until Options.MinJobAge after the job's end.
func (s *System) Inspect(ctx context.Context, key adapter.Key) (*adapter.Job, error) {
	var out adapter.Job
	err := s.do(ctx, Call{Verb: "Inspect", Job: key.ID}, func() error {
		if j, err := s.find(key); err == nil {
			out = s.show(j)
			return nil
		}
		for _, j := range s.over {
			if j.key == key && s.now.Sub(j.over) < s.options.MinJobAge {
				out = s.show(j)
				return nil
			}
		}
		return adapter.ErrGone
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Adopt implements adapter.BatchSystem. The comment becomes the mark.
func (s *System) Adopt(ctx context.Context, key adapter.Key) error {
	return s.pending(ctx, "Adopt", key, func(j *job) error {
		j.held, j.byUser = true, false
		j.mark = adapter.MarkPrefix + j.spec.Comment
		return nil
	})
}

// Refuse implements adapter.BatchSystem.
func (s *System) Refuse(ctx context.Context, key adapter.Key, why string) error {
	return s.pending(ctx, "Refuse", key, func(j *job) error {
		j.output = append(j.output, why)
		s.end(j, "CANCELLED")
		return nil
	})
}

// Reserve implements adapter.BatchSystem. It ignores jobs whose time limits end before r.Start and, if r.OverManaged is set, managed jobs.
func (s *System) Reserve(ctx context.Context, r adapter.Reservation) error {
	return s.do(ctx, Call{Verb: "Reserve", Reservation: r.Name, Nodes: r.Nodes}, func() error { return s.reserve(r) })
}

// Unreserve implements adapter.BatchSystem. It returns adapter.ErrBusy while a job runs in the reservation.
func (s *System) Unreserve(ctx context.Context, name string) error {
	return s.do(ctx, Call{Verb: "Unreserve", Reservation: name}, func() error { return s.unreserve(name) })
}

// Shape implements adapter.BatchSystem.
func (s *System) Shape(ctx context.Context, key adapter.Key, shape adapter.Shape) error {
	return s.pending(ctx, "Shape", key, func(j *job) error {
		if shape.Nodes < 1 || shape.Nodes > len(s.nodes) || shape.Limit < 1 || shape.Limit > longest && shape.Limit != core.Forever {
			return fmt.Errorf("%d nodes for %d seconds on a machine of %d", shape.Nodes, shape.Limit, len(s.nodes))
		}
		j.want, j.limit, j.requeue = shape.Nodes, shape.Limit, false
		return nil
	})
}

// Attach implements adapter.BatchSystem.
func (s *System) Attach(ctx context.Context, key adapter.Key, name string) error {
	return s.do(ctx, Call{Verb: "Attach", Job: key.ID, Reservation: name}, func() error {
		return s.with(key, adapter.Pending, func(j *job) error {
			r := s.reservation(name)
			if r == nil {
				return fmt.Errorf("there is no reservation %q", name)
			}
			if r.User != j.spec.User {
				return fmt.Errorf("reservation %s is for user %s, the job is %s's", name, r.User, j.spec.User)
			}
			j.reservation = name
			s.callForPass()
			return nil
		})
	})
}

// Release implements adapter.BatchSystem. It returns nil for a job that has started.
func (s *System) Release(ctx context.Context, key adapter.Key) error {
	return s.do(ctx, Call{Verb: "Release", Job: key.ID}, func() error {
		j, err := s.find(key)
		if err == nil && j.state == adapter.Pending {
			j.held, j.byUser = false, false
			s.callForPass()
		}
		return err
	})
}

// Hold implements adapter.BatchSystem.
func (s *System) Hold(ctx context.Context, key adapter.Key) error {
	return s.pending(ctx, "Hold", key, func(j *job) error {
		j.held, j.byUser, j.reservation = true, false, ""
		return nil
	})
}

// Detach implements adapter.BatchSystem.
func (s *System) Detach(ctx context.Context, key adapter.Key) error {
	return s.do(ctx, Call{Verb: "Detach", Job: key.ID}, func() error {
		return s.with(key, adapter.Running, func(j *job) error {
			j.reservation, j.orphaned = "", time.Time{}
			return nil
		})
	})
}

// End implements adapter.BatchSystem.
func (s *System) End(ctx context.Context, key adapter.Key, why string) error {
	return s.do(ctx, Call{Verb: "End", Job: key.ID}, func() error {
		j, err := s.find(key)
		if errors.Is(err, adapter.ErrGone) {
			return nil
		}
		if j.state != adapter.Ending {
			j.output = append(j.output, why)
			s.end(j, "CANCELLED")
		}
		return nil
	})
}

// Repair implements adapter.BatchSystem. It does nothing, because this batch system never shows a node in a wrong state.
func (s *System) Repair(ctx context.Context, nodes []string) error {
	return s.do(ctx, Call{Verb: "Nudge", Nodes: nodes}, func() error { return nil })
}
