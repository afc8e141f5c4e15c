package scheduler

import (
	"context"
	"fmt"
	"time"

	"accordion/core"
	"accordion/oar/database"
)

// Launch is a job that starts in the second of a pass. Its String is the line by which a scheduler asks OAR to launch the job even before
// the pass has ended.
type Launch struct {
	Job       int64
	Choice    int64 // the configuration's ID: its moldable_id
	Resources []int64
}

// String returns the line for the scheduler's standard output. The rows of OAR's plan must be written before it is
// printed.
func (l Launch) String() string {
	line := fmt.Appendf(nil, "SCHEDRUN JOB_ID=%d MOLDABLE_JOB_ID=%d RESOURCES=", l.Job, l.Choice)
	for i, r := range l.Resources {
		if i > 0 {
			line = append(line, ',')
		}
		line = fmt.Append(line, r)
	}
	return string(line)
}

const (
	// nextLook is a lower bound for the time between the end of a scheduler and the moment when the next pass reads the clock. OAR starts
	// two Perl programs meanwhile, which takes a quarter of a second on the machines of 2026.
	nextLook = 100 * time.Millisecond
	// longestRest is the longest wait. With correct clocks, the second of a pass is never more than two seconds ahead of the clock. For a
	// pass that is an hour ahead, the scheduler does not wait.
	longestRest = time.Second
)

// waitAfter returns how long a scheduler must wait so that OAR does not sleep in its next pass. `now` is the second of the pass, and `at`
// is the time at which the scheduler has finished. OAR never plans two passes for the same second, so if passes come faster than one a
// second, their seconds run ahead of the clock. If a pass begins two or more seconds before the second of the previous pass, OAR sleeps for
// that time. Meanwhile it holds locks that every launch and every end of a job needs.
func waitAfter(now core.Time, at time.Time) time.Duration {
	stay := time.Unix(now-1, 0).Sub(at) - nextLook
	if stay < 0 || stay > longestRest {
		return 0
	}
	return stay
}

// early returns the written starts that OAR can launch immediately, and the time by the database's clock.
func (d store) early(ctx context.Context, now core.Time, starts []start) (launches []Launch, at time.Time, err error) {
	resources := map[int64][]int64{}
	var choices []int64
	for _, s := range starts {
		if s.at <= now {
			resources[s.moldable] = s.resources
			choices = append(choices, s.moldable)
		}
	}
	if len(choices) > 0 {
		if launches, err = d.launchable(ctx, now, choices); err != nil {
			return nil, at, err
		}
	}
	for i, l := range launches {
		launches[i].Resources = resources[l.Choice]
	}
	microseconds, err := database.Value[float64](ctx, d.Sql, "the database's clock", d.Microseconds())
	return launches, time.UnixMicro(int64(microseconds)), err
}

// launchable returns the jobs that start in the given configurations and meet the conditions that OAR checks after a pass. They must still
// wait (a user may have held a job meanwhile), their resources must be unchanged, and the plan must still be the current one.
func (d store) launchable(ctx context.Context, now core.Time, choices []int64) ([]Launch, error) {
	query := `SELECT j.job_id, m.moldable_id FROM moldable_job_descriptions m JOIN jobs j ON j.job_id = m.moldable_job_id
		WHERE m.moldable_id IN (` + database.List(choices) + `) AND j.state = 'Waiting' AND NOT EXISTS (
			SELECT 1 FROM gantt_jobs_resources g JOIN resources r ON r.resource_id = g.resource_id WHERE g.moldable_job_id = m.moldable_id
			AND (r.state <> 'Alive' OR r.next_state IN ('Dead', 'Suspected', 'Absent')))
		AND EXISTS (SELECT 1 FROM gantt_jobs_predictions p WHERE p.moldable_job_id = 0 AND p.start_time = ` + fmt.Sprint(now) + `)
		ORDER BY j.job_id`
	return database.All(ctx, d.Sql, "the jobs that start now", query, nil, func(l *Launch) []any { return []any{&l.Job, &l.Choice} })
}
