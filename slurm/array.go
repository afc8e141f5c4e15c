package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
)

// The tasks of an array are jobs of their own only once something was done to them: until then a pending array is one record.
// A managed array is split task by task, so that each is planned for itself. It keeps its number, A, for its last task, and what is
// done to A is done to all of its tasks: so a task is always called A_T.

// waitingTasks is how many tasks of an array wait as jobs of their own; the others follow as these begin.
const waitingTasks = 16

// task is the number of the array's task that the job is, as a word; "" when it is none, or stands for several. What is left of an
// array may be one task, which 20.11 goes on writing as 9%2.
func (r *record) task() string {
	number, _, _ := strings.Cut(r.taskIDs, "%")
	if _, err := strconv.ParseUint(number, 10, 32); err != nil || r.array == 0 {
		return ""
	}
	return number
}

// several says whether the record stands for more than one task.
func (r *record) several() bool { return r.array != 0 && r.task() == "" }

// name is what Slurm's commands call the job.
func (s *System) name(job adapter.Key) string {
	if r := s.known.job(job.ID); r != nil && r.Key == job && r.task() != "" {
		return fmt.Sprintf("%d_%s", r.array, r.task())
	}
	return fmt.Sprint(job.ID)
}

// split makes jobs of the first tasks of managed arrays, a few at a time; the next reading shows them. What is left of an array is
// held and shown as an ordinary job, which nobody plans.
func (s *System) split(ctx context.Context, jobs []record) {
	s.splitting.Lock()
	defer s.splitting.Unlock()
	wait, run := map[int64]int{}, map[int64]int{} // tasks that wait for the plan, and those that run or are about to
	most := map[int64]int{}
	for i := range jobs {
		r := &jobs[i]
		if r.array != 0 {
			most[r.array] = max(most[r.array], r.most, throttle(r.taskIDs), s.throttles[r.array])
		}
		switch {
		case r.task() == "":
		case r.State == adapter.Running, r.State == adapter.Pending && !r.Held:
			run[r.array]++
		case r.State == adapter.Pending:
			wait[r.array]++
		}
	}
	s.throttles = most // as squeue does not tell it of a single task
	for i := range jobs {
		r := &jobs[i]
		if r.State != adapter.Pending || r.array == 0 || adapter.RequestOf(&r.Job) == "" {
			continue
		}
		if n := most[r.array]; n > 0 && r.Held && r.task() != "" {
			if run[r.array]++; run[r.array] > n {
				r.Blocked, r.Why = true, "JobArrayTaskLimit"
			}
		}
		if !r.several() {
			continue
		}
		if strings.HasPrefix(r.Mark, adapter.MarkPrefix) {
			for _, task := range firstTasks(r.taskIDs, waitingTasks-wait[r.array]) {
				// What fails is tried at the next reading: Slurm may have made a job of the task already.
				_ = s.run.Scontrol(ctx, "update", fmt.Sprintf("JobId=%d_%d", r.array, task), "AdminComment="+r.Mark)
			}
		}
		r.Mark, r.Comment, r.Held, r.Rank = "", "", true, nil
	}
}

// throttle is how many tasks of 1-9%2 may run at a time; 0: any number.
func throttle(tasks string) int {
	_, most, _ := strings.Cut(tasks, "%")
	n, err := strconv.Atoi(most)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// firstTasks is the numbers of the first n tasks of 1-7,9-20:2%3.
func firstTasks(tasks string, n int) []int {
	list, _, _ := strings.Cut(tasks, "%")
	var all []int
	for piece := range strings.SplitSeq(strings.Trim(list, "[]"), ",") {
		span, step, _ := strings.Cut(piece, ":")
		low, high, isRange := strings.Cut(span, "-")
		from, err := strconv.Atoi(low)
		if err != nil {
			return all
		}
		to, every := from, 1
		if isRange {
			if to, err = strconv.Atoi(high); err != nil {
				return all
			}
			if k, err := strconv.Atoi(step); err == nil && k > 0 {
				every = k
			}
		}
		for t := from; t <= to; t += every {
			if len(all) >= n {
				return all
			}
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}
