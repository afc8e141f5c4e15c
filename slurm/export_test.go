package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/jobs/jobstest"
	"accordion/slurm/output"
)

// BothWays reads every unfinished job by squeue, by a console's list, and by a console job by job. It returns the
// jobs as comparable texts: sorted, and without known differences in form.
func (s *System) BothWays(ctx context.Context) (bySqueue, byList, oneByOne []string, err error) {
	jobs, err := s.Jobs.Squeue(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	bySqueue = texts(jobs)
	if jobs, err = s.Jobs.List(ctx); err != nil {
		return nil, nil, nil, err
	}
	byList = texts(jobs)
	for i, r := range jobs {
		one, err := s.Jobs.Job(ctx, r.ID)
		if err != nil {
			return nil, nil, nil, err
		}
		jobs[i] = *one
	}
	return bySqueue, byList, texts(jobs), nil
}

// Reconfigure frees nodes that Slurm has lost.
func (s *System) Reconfigure(ctx context.Context) error { return s.reconfigure(ctx) }

func texts(jobs []output.Record) []string {
	var all []string
	for _, r := range slices.SortedFunc(slices.Values(jobs), func(a, b output.Record) int { return cmp.Compare(a.ID, b.ID) }) {
		all = append(all, fmt.Sprintf("%d %+v", r.ID&core.JobID(1<<output.TaskShift-1), jobstest.Alike(r)))
	}
	return all
}

// On returns a System that runs Slurm's programs with `run`.
func On(c Config, run *client.Runner) *System { return systemOf(c, run) }
