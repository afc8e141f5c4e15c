package output

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// Task returns the task number of the job. It returns "" if the job is not a task of an array, or if the record
// represents several tasks. If the rest of an array is a single task, 20.11 still prints it with a throttle, as
// 9%2.
func (r *Record) Task() string {
	number, _, _ := strings.Cut(r.TaskIDs, "%")
	if _, err := strconv.ParseUint(number, 10, 32); err != nil || r.Array == 0 {
		return ""
	}
	return number
}

// ExpandName returns the name of the job for --dependency=expand:. Usually that is the job's id. The exception is
// the task T whose job id is the array's id A. Slurm interprets A as the whole array, and rejects it while any task is
// pending. So the name of task T is A_T. Other tasks must not use this form. Slurm would accept it, but merge into the
// job whose id is A.
func (r *Record) ExpandName() string {
	if task := r.Task(); task != "" && r.ID == r.Array {
		return fmt.Sprintf("%d_%s", r.Array, task)
	}
	return fmt.Sprint(r.ID)
}

// number returns the id by which Slurm ranks the job: the array's id if the job is a task.
func (r *Record) number() core.JobID {
	if r.Array != 0 {
		return r.Array
	}
	return r.ID
}

// taskNumber returns the number of the array's task, or of the first task that the record represents. It returns 0
// for a job that is not in an array.
func (r *Record) taskNumber() int {
	if first := FirstTasks(r.TaskIDs, 1); r.Array != 0 && len(first) > 0 {
		return first[0]
	}
	return 0
}

// BlockTasks blocks waiting tasks of arrays that must not start yet. A task must wait if the throttle of its array
// is reached, or if an earlier task cannot be planned yet. As in Slurm, a task that is held, or waits for something
// other than nodes, does not block later tasks.
//
// `throttles` holds how many tasks of an array may run at the same time, if that is known. `missing` holds, for
// each array, the first waiting task that is not among the jobs.
func BlockTasks(jobs []Record, throttles, missing map[core.JobID]int, now core.Time) {
	for array, tasks := range Arrays(jobs) {
		first, some := missing[array]
		if !some {
			first = math.MaxInt
		}
		blockTasks(tasks, throttles[array], first, now)
	}
}

// Arrays returns the jobs of each array, ordered by task number.
func Arrays(jobs []Record) map[core.JobID][]*Record {
	arrays := map[core.JobID][]*Record{}
	for i := range jobs {
		if r := &jobs[i]; r.Array != 0 {
			arrays[r.Array] = append(arrays[r.Array], r)
		}
	}
	for _, tasks := range arrays {
		slices.SortStableFunc(tasks, func(a, b *Record) int { return cmp.Compare(a.taskNumber(), b.taskNumber()) })
	}
	return arrays
}

// blockTasks blocks waiting tasks of one array. The tasks are given in their order.
func blockTasks(tasks []*Record, throttle, missing int, now core.Time) {
	run := 0
	for _, r := range tasks {
		if r.Task() != "" && (r.State == adapter.Running || r.State == adapter.Pending && !r.Held) {
			run++
		}
	}
	unknown := false // true after a task that may start but cannot be planned yet
	for _, r := range tasks {
		fresh := r.HeldByUser && !r.Parked() // the task has no mark yet and must be adopted first
		if r.State != adapter.Pending || !r.Held || r.Stopped() && !fresh || r.Begin > now {
			continue
		}
		if throttle > 0 && r.Blocked && r.Why == taskLimit { // Slurm may have printed that reason before the last task ended
			r.Blocked = false
		}
		unknown = unknown || r.taskNumber() > missing
		switch {
		case r.Blocked:
		case r.Unverified, r.Several() && strings.HasPrefix(r.Mark, adapter.MarkPrefix):
			unknown = true
		case r.Several(), adapter.RequestOf(&r.Job) == "":
		case fresh:
			unknown = true
		case unknown:
			r.Blocked, r.Why = true, "waits for an earlier task of its array"
		case throttle > 0 && run >= throttle:
			r.Blocked, r.Why = true, taskLimit
		default:
			run++
		}
	}
}

// taskLimit is the reason that Slurm prints for a task that waits because its array's throttle is reached.
const taskLimit = "JobArrayTaskLimit"

// AddTasks adds tasks of arrays to a list in which squeue has folded them into another record, the record with
// their array's id. It removes their numbers from that record.
func AddTasks(jobs, tasks []Record) []Record {
	listed := make(map[core.JobID]bool, len(jobs))
	for i := range jobs {
		listed[jobs[i].ID] = true
	}
	own := map[core.JobID]map[int]bool{} // the task numbers to remove, by array
	for i := range tasks {
		r := &tasks[i]
		if r.Array == 0 || r.Task() == "" || r.ID == r.Array || listed[r.ID] {
			continue
		}
		if own[r.Array] == nil {
			own[r.Array] = map[int]bool{}
		}
		own[r.Array][r.taskNumber()] = true
		jobs, listed[r.ID] = append(jobs, *r), true
	}
	for i := range jobs {
		if r := &jobs[i]; r.ID == r.Array && len(own[r.Array]) > 0 && r.State == adapter.Pending {
			r.renumber(without(r.TaskIDs, own[r.Array]))
		}
	}
	return jobs
}

// manyTasks limits how many tasks of one array are counted one by one.
const manyTasks = 1 << 17

// without removes the numbers in `some` from the numbers of an array's tasks, such as 1-7,9%2.
func without(tasks string, some map[int]bool) string {
	left := slices.DeleteFunc(FirstTasks(tasks, manyTasks), func(t int) bool { return some[t] })
	slices.Sort(left)
	var b strings.Builder
	for i := 0; i < len(left); {
		from := i
		for i++; i < len(left) && left[i] == left[i-1]+1; i++ {
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, left[from])
		if last := left[i-1]; last != left[from] {
			fmt.Fprintf(&b, "-%d", last)
		}
	}
	if _, most, limited := strings.Cut(tasks, "%"); limited {
		b.WriteString("%" + most)
	}
	return b.String()
}

// Several reports whether the record represents more than one task.
func (r *Record) Several() bool { return r.Array != 0 && r.Task() == "" }

// Throttle returns how many tasks of an array such as 1-9%2 may run at the same time; 0 means any number.
func Throttle(tasks string) int {
	_, most, _ := strings.Cut(tasks, "%")
	n, err := strconv.Atoi(most)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// FirstTasks returns the numbers of the first n tasks of an array such as 1-7,9-20:2%3.
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

// arrayTasks returns the number of tasks of an array such as 1-7,9-20:2%3, and its throttle, or 0 if it has no
// throttle. A part that cannot be parsed counts as one task.
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
