package slurm

import (
	"context"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/slurm/limits"
	"accordion/slurm/output"
)

// A merge makes slurmctld count the expander as a running job of its association and QOS for ever: with a limit on jobs its owner is
// locked out after some growths. Only reading the configuration again (`scontrol reconfigure`) counts anew. That is done
// when no managed job runs, or at once when a limit on jobs is near, unless a job runs that cannot bear it (see reconfigure); not
// oftener than Config.Reconfigure and countsEvery allow.

// countsEvery is the least pause between two such readings that nobody is in need of.
const countsEvery = 10 * time.Minute

// recount has slurmctld count its jobs anew where that is due. What fails is tried again after the next reading.
func (s *System) recount(ctx context.Context, rules limits.Policies, jobs []output.Record) {
	s.mu.Lock()
	certain := s.miscount.See(s.rulesAt, rules.Miscounted(jobs))
	s.mu.Unlock()
	if !certain || slices.ContainsFunc(jobs, func(r output.Record) bool { return r.Role() == output.Expander && r.State == adapter.Running }) {
		return
	}
	if scriptElsewhere(jobs) != 0 {
		return
	}
	calm := !slices.ContainsFunc(jobs, func(r output.Record) bool { return r.State == adapter.Running && adapter.RequestOf(&r.Job) != "" })
	s.mending.Lock()
	rested := time.Since(s.reconfigured) >= min(countsEvery, 10*s.config.Reconfigure)
	s.mending.Unlock()
	if calm && rested || rules.Pressed(jobs) {
		_ = s.reconfigure(ctx)
	}
}

// miscounting says whether slurmctld was last seen to count jobs that are not there.
func (s *System) miscounting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.miscount.Jobs > 0
}
