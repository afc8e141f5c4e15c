package scheduler

import (
	"context"
	"fmt"
	"time"

	"accordion/core"
	"accordion/core/sched"
	"accordion/oar/database"
	"accordion/oar/tables"
)

// PlanBy reads a queue and plans it by a policy, as Schedule does, but writes nothing. It returns the configuration and the resources of
// each planned job.
func PlanBy(ctx context.Context, db *database.DB, queue string, now core.Time, by sched.Policy) (map[int64]int64, map[int64][]int64, error) {
	d := store{tables.Tables{DB: db}}
	s, err := d.read(ctx, queue, now)
	if err != nil {
		return nil, nil, err
	}
	never := func() bool { return false }
	t := translator{conf: db.Conf, planner: by, now: now, state: s, eligible: newEligibility(d.eligible, time.Minute, never)}
	p, err := t.translate(ctx)
	if err != nil {
		return nil, nil, err
	}
	chosen, has := map[int64]int64{}, map[int64][]int64{}
	plan := p.plan(now, never)
	if err := p.check(now, plan); err != nil {
		return nil, nil, err
	}
	for i, one := range plan {
		if p.jobs[i].ID != one.Job {
			return nil, nil, fmt.Errorf("place %d of the plan is job %d's, not %d's", i, one.Job, p.jobs[i].ID)
		}
		if one.Why == "" {
			chosen[one.Job], has[one.Job] = p.jobs[i].Choices[one.Choice].ID, p.names(one.Resources)
		}
	}
	return chosen, has, nil
}
