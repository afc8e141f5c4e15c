package slurm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/slurm/output"
)

// bootedWithin bounds how long a restart of slurmctld that no call met stays unseen.
const bootedWithin = 10 * time.Second

// Observe reads the pool: the jobs, and all else. The jobs are read a few milliseconds earlier or later than the nodes; a
// node is idle only when both say so.
//
// Jobs that cannot come upon the pool are left out; of running jobs and of reservations that reach beyond it, only the
// nodes inside are told. A pending array stands for its tasks, one job each (see taskShift).
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
	jobs := s.leaveOutPreemptible(ctx, in, output.Fold(output.Whole(slices.Clone(l.jobs)))) // the list is remembered as it is
	s.split(ctx, jobs)
	s.setKinds(ctx, &in, jobs)
	for i := range jobs {
		jobs[i].Rigid = jobs[i].Ours(s.Pool, s.config.All)
		if r := &jobs[i]; r.State == adapter.Pending && adapter.RequestOf(&r.Job) != "" {
			r.Needs = r.Needed()
		}
	}
	s.rank(ctx, jobs)
	s.judge(ctx, in, l.jobs, jobs)
	snapshot, err := output.Snapshot(in, jobs, s.Pool)
	if err != nil {
		return nil, fmt.Errorf("observing Slurm: %w", err)
	}
	s.Remember(in)
	snapshot.Hidden = adapter.Hidden{Jobs: true, Reservations: true, Nodes: true, Accounts: true} // what is not known is private
	if c, err := s.Within(ctx, bootedWithin); err == nil {
		s.writeNodes(in, c)
		s.writeOperators(ctx, c)
		snapshot.Hidden, snapshot.Booted = output.Hidden(c), c.Booted()
	}
	snapshot.Remarks = append(snapshot.Remarks, s.unwrittenRemark()...)
	snapshot.At = at
	return snapshot, nil
}
