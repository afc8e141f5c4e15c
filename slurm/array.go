package slurm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output"
)

// The tasks of an array are jobs of their own only once something was done to them: until then a pending array is one record.
// A managed array is split task by task, so that each is planned for itself. It keeps its number, A, for its last task, and what is
// done to A is done to all of its tasks: so a task is always called A_T.

// waitingTasks is how many tasks of an array wait as jobs of their own; the others follow as these begin.
const waitingTasks = 16

// split makes jobs of the first tasks of managed arrays, a few at a time; the next reading shows them. What is left of an array is
// held and shown as an ordinary job, which nobody plans.
func (s *System) split(ctx context.Context, jobs []output.Record) {
	s.splitting.Lock()
	defer s.splitting.Unlock()
	wait := map[core.JobID]int{} // tasks that wait for the plan
	most := map[core.JobID]int{}
	for i := range jobs {
		r := &jobs[i]
		if r.Array != 0 {
			most[r.Array] = max(most[r.Array], r.AtOnce, output.Throttle(r.TaskIDs), s.throttles[r.Array])
		}
		if r.Task() != "" && r.State == adapter.Pending && r.Held {
			wait[r.Array]++
		}
	}
	s.throttles = most // as squeue does not tell it of a single task
	output.TakeTurns(jobs, most, time.Now().Unix())
	for i := range jobs {
		r := &jobs[i]
		if r.State != adapter.Pending || !r.Several() || adapter.RequestOf(&r.Job) == "" {
			continue
		}
		if strings.HasPrefix(r.Mark, adapter.MarkPrefix) && !adapter.Delegated(&r.Job) {
			for _, task := range output.FirstTasks(r.TaskIDs, waitingTasks-wait[r.Array]) {
				// What fails is tried at the next reading: Slurm may have made a job of the task already.
				_ = s.Run.Scontrol(ctx, "update", fmt.Sprintf("JobId=%d_%d", r.Array, task), "AdminComment="+r.Mark)
			}
		}
		r.Mark, r.Comment, r.Held, r.Rank = "", "", true, nil
	}
}
