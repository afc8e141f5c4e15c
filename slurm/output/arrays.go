package output

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Task is the number of the array's task that the job is, as a word; "" when it is none, or stands for several. What is left of an
// array may be one task, which 20.11 goes on writing as 9%2.
func (r *Record) Task() string {
	number, _, _ := strings.Cut(r.TaskIDs, "%")
	if _, err := strconv.ParseUint(number, 10, 32); err != nil || r.Array == 0 {
		return ""
	}
	return number
}

// ExpandName returns the name that --dependency=expand: takes for the job. It is the job's number,
// but for the task that has its array's number A: Slurm takes A for all tasks and refuses while one
// of them waits, so that task is A_T. No other task may be called so. Slurm would allow the
// expander, but merge it into the job that has the number A.
func (r *Record) ExpandName() string {
	if task := r.Task(); task != "" && int64(r.ID) == r.Array {
		return fmt.Sprintf("%d_%s", r.Array, task)
	}
	return fmt.Sprint(r.ID)
}

// Several says whether the record stands for more than one task.
func (r *Record) Several() bool { return r.Array != 0 && r.Task() == "" }

// Throttle is how many tasks of 1-9%2 may run at a time; 0: any number.
func Throttle(tasks string) int {
	_, most, _ := strings.Cut(tasks, "%")
	n, err := strconv.Atoi(most)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// FirstTasks is the numbers of the first n tasks of 1-7,9-20:2%3.
func FirstTasks(tasks string, n int) []int {
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

// arrayTasks counts the tasks of 1-7,9-20:2%3 and reads its throttle (0: none). What it cannot read counts as one.
func arrayTasks(s string) (tasks, throttle int) {
	list, limit, _ := strings.Cut(s, "%")
	throttle, _ = strconv.Atoi(limit)
	for piece := range strings.SplitSeq(strings.Trim(list, "[]"), ",") {
		span, step, _ := strings.Cut(piece, ":")
		low, high, isRange := strings.Cut(span, "-")
		a, errA := strconv.ParseUint(low, 10, 31)
		b, errB := strconv.ParseUint(high, 10, 31)
		every, errS := strconv.ParseUint(step, 10, 31)
		if errS != nil || every == 0 {
			every = 1
		}
		if !isRange || errA != nil || errB != nil || b < a {
			tasks++
			continue
		}
		tasks = min(tasks+int((b-a)/every)+1, 1<<31)
	}
	return tasks, max(throttle, 0)
}
