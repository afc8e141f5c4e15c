package slurm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
)

// Where the pool's partitions have a higher tier than others over the same nodes (preempt/partition_prio), Slurm ends, requeues or
// suspends the jobs of those others when a managed job wants their nodes: to the plan they are not there.

// preemptible says whether Slurm makes room for managed jobs where the job is.
func (c configuration) preemptible(r *record, in inventory, pool []string) bool {
	if c["PreemptType"] != byTier || r.State != adapter.Running && r.State != adapter.Ending || adapter.RequestOf(&r.Job) != "" {
		return false
	}
	i := slices.IndexFunc(in.partitions, func(p partition) bool { return p.name == r.Partition })
	if i < 0 || slices.Contains(pool, r.Partition) {
		return false
	}
	theirs := in.partitions[i]
	lowest := func(p partition) bool { return slices.Contains(pool, p.name) && p.tier <= theirs.tier }
	return !strings.HasPrefix(theirs.preempt, "OFF") && theirs.preempt != "" && !slices.ContainsFunc(in.partitions, lowest)
}

// yield leaves out the jobs that make room, shows their nodes as idle where nobody else has them, and remembers which those are.
func (s *System) yield(ctx context.Context, in inventory, jobs []record) []record {
	c, err := s.recent(ctx)
	if err != nil || c["PreemptType"] == "" || c["PreemptType"] == "preempt/none" {
		return jobs
	}
	theirs, others := map[string]bool{}, map[string]bool{}
	kept := make([]record, 0, len(jobs))
	for i := range jobs {
		r := &jobs[i]
		yields := c.preemptible(r, in, s.config.Partitions)
		for _, n := range r.Nodes {
			if yields && r.State == adapter.Running {
				theirs[n] = true
			} else {
				others[n] = true
			}
		}
		if !yields || r.State != adapter.Running {
			kept = append(kept, *r)
		}
	}
	for i := range in.nodes {
		n := &in.nodes[i]
		if theirs[n.Name] = theirs[n.Name] && !others[n.Name]; theirs[n.Name] {
			n.Idle = n.Usable
		}
	}
	s.mu.Lock()
	s.yielding = theirs
	s.mu.Unlock()
	return kept
}

// yields says whether jobs that make room hold one of the nodes.
func (s *System) yields(nodes []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(nodes, func(n string) bool { return s.yielding[n] })
}

// roomWithin is how long jobs that make room are waited for: Slurm begins to end them at the first refusal.
const roomWithin = 10 * time.Second

// allocate makes the allocation at once or not at all, but for jobs that make room: those are waited for.
func (s *System) allocate(ctx context.Context, site site, a allocation) (*record, error) {
	r, err := s.allocateNow(ctx, site, a)
	if !s.yields(a.nodes) {
		return r, err
	}
	for end := time.Now().Add(roomWithin); errors.Is(err, adapter.ErrBusy) && time.Now().Before(end); {
		if pause(ctx, 5*glance) != nil {
			break
		}
		r, err = s.allocateNow(ctx, site, a)
	}
	return r, err
}
