package slurm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output"
)

// A pending array is one record in Slurm. A task becomes a job of its own when a command changes it. The sidecar
// splits a managed array task by task and plans each task by itself. The array's number, A, stays with its last task,
// but a command for A changes all tasks. Therefore commands name a task as A_T.

// waitingTasks is how many tasks of an array wait as jobs of their own. When one of these starts, another task is
// split off.
const waitingTasks = 16

// noteTaskJob records that an array's task became a job of its own.
func (s *System) noteTaskJob(array core.JobID, task int) {
	s.Jobs.NoteSplit(array, task)
	if s.splitTasks == nil {
		s.splitTasks = map[core.JobID]map[int]bool{}
	}
	if s.splitTasks[array] == nil {
		s.splitTasks[array] = map[int]bool{}
	}
	s.splitTasks[array][task] = true
}

// missingTasks returns, for each array, the first waiting task that became a job of its own but is not in the list.
// A list can omit new jobs, because a console's list leaves out a job until squeue has verified it.
func (s *System) missingTasks(ctx context.Context, jobs []output.Record) map[core.JobID]int {
	arrays, first := output.Arrays(jobs), map[core.JobID]int{}
	for array, parted := range s.splitTasks {
		for _, r := range arrays[array] {
			switch task, err := strconv.Atoi(r.Task()); {
			case r.Several():
				for _, t := range output.FirstTasks(r.TaskIDs, waitingTasks) { // Slurm has not made this task a job of its own
					delete(parted, t)
				}
			case err == nil && !r.Unverified:
				delete(parted, task)
			}
		}
		for _, task := range slices.Sorted(maps.Keys(parted)) {
			if s.Jobs.TaskWaits(ctx, array, task) {
				first[array] = task
				break
			}
			delete(parted, task)
		}
		if len(parted) == 0 {
			delete(s.splitTasks, array)
		}
	}
	return first
}

// splitArrays makes the first tasks of managed arrays jobs of their own, a few at a time. The next reading shows
// these jobs. The rest of an array stays held, and the snapshot shows it as an ordinary job that is not planned.
func (s *System) splitArrays(ctx context.Context, jobs []output.Record) {
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
	s.throttles = most // remembered, because squeue does not report the limit of a single task
	output.BlockTasks(jobs, most, s.missingTasks(ctx, jobs), time.Now().Unix())
	for i := range jobs {
		r := &jobs[i]
		if r.State != adapter.Pending || !r.Several() || adapter.RequestOf(&r.Job) == "" {
			continue
		}
		if strings.HasPrefix(r.Mark, adapter.MarkPrefix) && !adapter.Delegated(&r.Job) {
			for _, task := range output.FirstTasks(r.TaskIDs, waitingTasks-wait[r.Array]) {
				// If the update fails, the next reading retries it. The task may be a job of its own even after a
				// failure.
				_ = s.Run.Scontrol(ctx, "update", fmt.Sprintf("JobId=%d_%d", r.Array, task), "AdminComment="+r.Mark)
				s.noteTaskJob(r.Array, task)
			}
		}
		r.Mark, r.Comment, r.Held, r.Rank = "", "", true, nil
	}
}
