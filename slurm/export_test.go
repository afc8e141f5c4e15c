package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"accordion/core"
)

// BothWays reads every job that is not over by squeue, by a console's list, and by a console alone, as texts that can be
// compared: sorted, and without what the two are known to write differently.
func (s *System) BothWays(ctx context.Context) (bySqueue, byList, oneByOne []string, err error) {
	jobs, err := s.squeue(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	bySqueue = texts(jobs)
	if jobs, err = s.list(ctx); err != nil {
		return nil, nil, nil, err
	}
	byList = texts(jobs)
	for i, r := range jobs {
		one, err := s.job(ctx, r.ID)
		if err != nil {
			return nil, nil, nil, err
		}
		jobs[i] = *one
	}
	return bySqueue, byList, texts(jobs), nil
}

func texts(jobs []record) []string {
	var all []string
	for _, r := range slices.SortedFunc(slices.Values(jobs), func(a, b record) int { return cmp.Compare(a.ID, b.ID) }) {
		all = append(all, fmt.Sprintf("%d %+v", r.ID&core.JobID(1<<taskShift-1), alike(r)))
	}
	return all
}
