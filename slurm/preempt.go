package slurm

import (
	"context"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/slurm/growth"
	"accordion/slurm/output"
)

// The pool's partitions may have a higher tier than other partitions over the same nodes (preempt/partition_prio).
// Then Slurm cancels, requeues or suspends the jobs of the other partitions for a managed job. The plan therefore
// ignores those jobs.

// preemptible reports whether Slurm preempts the job for managed jobs.
func preemptible(c output.Configuration, r *output.Record, in output.Inventory, pool []string) bool {
	if c["PreemptType"] != growth.ByTier || r.State != adapter.Running && r.State != adapter.Ending || adapter.RequestOf(&r.Job) != "" {
		return false
	}
	i := slices.IndexFunc(in.Partitions, func(p output.Partition) bool { return p.Name == r.Partition })
	if i < 0 || slices.Contains(pool, r.Partition) {
		return false
	}
	theirs := in.Partitions[i]
	lowest := func(p output.Partition) bool { return slices.Contains(pool, p.Name) && p.Tier <= theirs.Tier }
	return !strings.HasPrefix(theirs.Preempt, "OFF") && theirs.Preempt != "" && !slices.ContainsFunc(in.Partitions, lowest)
}

// leaveOutPreemptible returns the jobs without the jobs that Slurm would preempt. It marks the nodes that only such
// jobs hold as idle, and passes these nodes to Cluster.GiveWay.
func (s *System) leaveOutPreemptible(ctx context.Context, in output.Inventory, jobs []output.Record) []output.Record {
	c, err := s.Recent(ctx)
	if err != nil || c["PreemptType"] == "" || c["PreemptType"] == "preempt/none" {
		return jobs
	}
	theirs, others := map[string]bool{}, map[string]bool{}
	kept := make([]output.Record, 0, len(jobs))
	for i := range jobs {
		r := &jobs[i]
		yields := preemptible(c, r, in, s.Pool)
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
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if theirs[n.Name] = theirs[n.Name] && !others[n.Name]; theirs[n.Name] {
			n.Idle = n.Usable
		}
	}
	s.GiveWay(theirs)
	return kept
}
