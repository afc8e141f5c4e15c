package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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
		r.Why = strings.ReplaceAll(r.Why, " ", "_") // scontrol writes it as one word
		if len(r.Nodes) > 0 {
			r.maxNodes = 0 // of a running job scontrol tells what it has
		}
		all = append(all, fmt.Sprintf("%d %+v", r.ID&core.JobID(1<<taskShift-1), r))
	}
	return all
}

// NeededSqueue says whether the last list of jobs was squeue's.
func (s *System) NeededSqueue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.asked
}
