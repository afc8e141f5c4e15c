package slurm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/slurm/output"
)

// bootWindow limits how long a restart of slurmctld can stay unnoticed if no call failed during the restart.
const bootWindow = 10 * time.Second

// Observe reads the pool. The jobs are read some milliseconds before or after the nodes. Therefore a node counts as
// idle only if Slurm shows it as idle and no job holds it.
//
// The snapshot omits jobs that cannot use the pool. If a running job or a reservation extends beyond the pool, the
// snapshot shows only its nodes in the pool. For a pending array the snapshot has one job for each task (see
// output.TaskShift).
func (s *System) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	at := time.Now()
	type listing struct {
		jobs []output.Record
		err  error
	}
	listed := make(chan listing, 1)
	go func() {
		jobs, err := s.Jobs.List(ctx)
		listed <- listing{jobs, err}
	}()
	in, err := s.Inventory(ctx)
	l := <-listed
	switch {
	case err != nil:
		return nil, fmt.Errorf("observing Slurm: %w", err)
	case l.err != nil:
		return nil, fmt.Errorf("observing Slurm: %w", l.err)
	}
	s.TendCompanions(ctx, l.jobs)
	jobs := s.leaveOutPreemptible(ctx, in, output.FoldCompanions(output.WithoutHalfMerges(slices.Clone(l.jobs)))) // the cached list must not change
	s.splitArrays(ctx, jobs)
	s.setKinds(ctx, &in, jobs)
	for i := range jobs {
		jobs[i].Rigid = jobs[i].LetInBySidecar(s.Pool, s.config.All)
		if r := &jobs[i]; r.State == adapter.Pending && adapter.RequestOf(&r.Job) != "" {
			r.Needs = r.PerNodeRequest()
		}
	}
	s.rank(ctx, jobs)
	s.describeManaged(ctx, in, l.jobs, jobs)
	snapshot, err := output.Snapshot(in, jobs, s.Pool)
	if err != nil {
		return nil, fmt.Errorf("observing Slurm: %w", err)
	}
	s.Remember(in)
	snapshot.Hidden = adapter.Hidden{Jobs: true, Reservations: true, Nodes: true, Accounts: true} // until the settings (PrivateData) are known, hide jobs and reservations from users
	if c, err := s.Within(ctx, bootWindow); err == nil {
		s.writeNodes(in, c)
		s.writeOperators(ctx, c)
		snapshot.Hidden, snapshot.Booted = output.Hidden(c), c.Booted()
	}
	snapshot.Remarks = append(snapshot.Remarks, s.unwrittenRemark()...)
	snapshot.At = at
	return snapshot, nil
}
