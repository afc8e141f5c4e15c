package slurm

import (
	"context"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/slurm/limits"
	"accordion/slurm/output"
)

// After a merge slurmctld counts the expander forever as a running job of its association and QOS. If there is a
// limit on jobs, the owner cannot run another job after some growths. Only `scontrol reconfigure` corrects the
// count.
//
// The sidecar runs `scontrol reconfigure` when no managed job runs, or without delay when a limit on jobs is near.
// It does not run it while it would harm a running job (see reconfigure), nor more often than Config.Reconfigure
// and countsEvery allow.

// countsEvery is the shortest pause between two corrections of the counts if no limit is near.
const countsEvery = 10 * time.Minute

// recount makes slurmctld count its jobs again if a correction is due. A failure is retried after the next reading.
func (s *System) recount(ctx context.Context, rules limits.Policies, jobs []output.Record) {
	s.mu.Lock()
	certain := s.miscount.Record(s.rulesAt, rules.Miscounted(jobs))
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
	if calm && rested || rules.NearLimit(jobs) {
		_ = s.reconfigure(ctx)
	}
}

// miscounting reports whether slurmctld was last seen to count jobs that do not exist.
func (s *System) miscounting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.miscount.Jobs > 0
}
