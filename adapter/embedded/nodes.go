package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
)

func (n *node) why() string {
	switch {
	case n.down:
		return "down"
	case n.drained && n.holder != nil:
		return "draining"
	case n.drained:
		return "drained"
	case n.holder == nil:
		return "idle"
	case n.holder.state == adapter.Ending:
		return "completing"
	}
	return "allocated"
}

// KillNode makes a node fail. The job on the node ends with the reason NODE_FAIL, unless JobSpec.Requeue or JobSpec.NoKill lets it return
// to the queue or continue without the node.
func (s *System) KillNode(name string) error {
	return s.change(name, func(n *node) {
		n.down = true
		j := n.holder
		switch {
		case j == nil || j.state != adapter.Running:
		case j.spec.NoKill && s.index[name] != j.host:
			s.free(j, s.index[name])
		case j.requeue:
			s.requeue(j)
		default:
			s.finish(j, "NODE_FAIL")
		}
	})
}

// DrainNode drains a node: the job on the node continues, but no other job can start there.
func (s *System) DrainNode(name string) error {
	return s.change(name, func(n *node) { n.drained = true })
}

// ReviveNode makes a node usable again.
func (s *System) ReviveNode(name string) error {
	return s.change(name, func(n *node) { n.down, n.drained = false, false })
}

// Stop holds a waiting job as if an operator held it (scontrol hold).
func (s *System) Stop(key adapter.Key) error { return s.setStopped(key, true) }

// Unstop removes an operator's hold.
func (s *System) Unstop(key adapter.Key) error { return s.setStopped(key, false) }

func (s *System) setStopped(key adapter.Key, stopped bool) error {
	s.enter()
	defer s.leave()
	j, err := s.find(key)
	if err == nil && j.state != adapter.Pending {
		err = adapter.ErrGone
	}
	if err != nil {
		return fmt.Errorf("hold job %d: %w", key.ID, err)
	}
	j.stopped = stopped
	s.callForPass()
	return nil
}

// SetLimit changes a job's time limit, in seconds. It simulates an administrator, or an owner who shortens the limit of a job.
func (s *System) SetLimit(key adapter.Key, limit core.Time) error {
	s.enter()
	defer s.leave()
	j, err := s.find(key)
	if err != nil || limit < 1 {
		return fmt.Errorf("a limit of %d s for job %d: %w", limit, key.ID, cmp.Or(err, errors.New("give 1 or more")))
	}
	j.limit = limit
	s.callForPass()
	return nil
}

func (s *System) change(name string, act func(*node)) error {
	s.enter()
	defer s.leave()
	i, known := s.index[name]
	if !known {
		return fmt.Errorf("there is no node %q; they are n1 to n%d", name, len(s.nodes))
	}
	act(&s.nodes[i])
	s.callForPass()
	return nil
}

// requeue puts a running job back into the queue. As in Slurm, the job is not held.
func (s *System) requeue(j *job) {
	if j.kill != nil {
		j.kill()
	}
	for _, i := range slices.Clone(j.nodes) {
		s.free(j, i)
	}
	j.state, j.why = adapter.Pending, "NODE_FAIL"
	j.started, j.endsAt, j.reservation = time.Time{}, time.Time{}, ""
}

// Quiet waits until no job is pending, running or ending. Held jobs count as pending. Quiet returns the error of ctx if ctx ends first.
func (s *System) Quiet(ctx context.Context) error {
	for {
		s.enter()
		left := len(s.jobs)
		s.leave()
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %d jobs of the embedded batch system: %w", left, ctx.Err())
		case <-s.clock.After(time.Second):
		}
	}
}
