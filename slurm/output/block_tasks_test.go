package output

import (
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/core"
)

const nowInTest = 1000

// arrayTask returns a parked task of array 50, which the sidecar manages.
func arrayTask(id int64, tasks string, change ...func(*Record)) Record {
	r := Record{TaskIDs: tasks, Elements: tasks}
	r.ID, r.Array, r.Submitted, r.Priority = core.JobID(id), 50, 900, 7
	r.State, r.Held, r.Reservation, r.Mark = adapter.Pending, true, Park, adapter.MarkPrefix+"ep=1x1m"
	for _, c := range change {
		c(&r)
	}
	return r
}

func running(r *Record)    { r.State, r.Held, r.Reservation = adapter.Running, false, "" }
func leaving(r *Record)    { r.Held, r.Reservation = false, "accordion-51-0" }
func unverified(r *Record) { r.Unverified, r.Mark = true, "" }
func heldByUser(r *Record) {
	r.HeldByUser, r.Priority, r.Blocked, r.Why = true, 0, false, "JobHeldUser"
}
func fresh(r *Record)      { r.Reservation = "" }
func depends(r *Record)    { r.Blocked, r.Why = true, "Dependency" }
func beginsSoon(r *Record) { r.Begin = nowInTest + 100 }
func limited(r *Record)    { r.Blocked, r.Why = true, taskLimit }

// The last task has the array's number, and so comes first in Slurm's list.
func TestTasksOfAnArrayTakeTheirTurnsByTheirNumbers(t *testing.T) {
	const earlier = "waits for an earlier task of its array"
	for _, test := range []struct {
		name     string
		throttle int
		jobs     []Record
		blocked  map[core.JobID]string
		missing  int
	}{
		{"one at a time", 1, []Record{arrayTask(50, "4"), arrayTask(51, "1"), arrayTask(52, "2"), arrayTask(53, "3")},
			map[core.JobID]string{50: taskLimit, 52: taskLimit, 53: taskLimit}, 0},
		{"two at a time, one runs", 2, []Record{arrayTask(50, "4"), arrayTask(51, "1", running), arrayTask(52, "2"), arrayTask(53, "3")},
			map[core.JobID]string{50: taskLimit, 53: taskLimit}, 0},
		{"one is about to start", 1, []Record{arrayTask(50, "2"), arrayTask(51, "1", leaving)}, map[core.JobID]string{50: taskLimit}, 0},
		{"no throttle", 0, []Record{arrayTask(50, "4"), arrayTask(51, "1"), arrayTask(52, "2")}, nil, 0},
		{"the first tasks are not read yet", 0, []Record{arrayTask(50, "4"), arrayTask(51, "1", unverified), arrayTask(52, "2", unverified), arrayTask(53, "3", unverified)},
			map[core.JobID]string{50: earlier}, 0},
		{"one between is not", 0, []Record{arrayTask(50, "4"), arrayTask(51, "1"), arrayTask(52, "2"), arrayTask(53, "3", unverified)}, map[core.JobID]string{50: earlier}, 0},
		{"a later one is not", 0, []Record{arrayTask(50, "3", unverified), arrayTask(51, "1"), arrayTask(52, "2")}, nil, 0},
		{"one that became a job early", 0, []Record{arrayTask(50, "3-9"), arrayTask(51, "1"), arrayTask(52, "2"), arrayTask(53, "30")}, map[core.JobID]string{53: earlier}, 0},
		{"the rest of the array is not managed yet", 0, []Record{arrayTask(50, "3-9", func(r *Record) { r.Mark, r.Comment = "", "ep=1x1m" }), arrayTask(53, "30")}, nil, 0},
		{"the first task is not among the jobs", 0, []Record{arrayTask(50, "4"), arrayTask(52, "2")}, map[core.JobID]string{50: earlier, 52: earlier}, 1},
		{"one between is not among the jobs", 0, []Record{arrayTask(50, "4"), arrayTask(51, "1")}, map[core.JobID]string{50: earlier}, 3},
		{"the first task is to be adopted", 0, []Record{arrayTask(50, "4"), arrayTask(51, "1", heldByUser, fresh), arrayTask(52, "2", heldByUser, fresh)}, map[core.JobID]string{50: earlier}, 0},
		{"… and is not read yet", 0, []Record{arrayTask(50, "2"), arrayTask(51, "1", heldByUser, fresh, unverified)}, map[core.JobID]string{50: earlier}, 0},
		{"all tasks are to be adopted", 1, []Record{arrayTask(50, "2", heldByUser, fresh), arrayTask(51, "1", heldByUser, fresh)}, nil, 0},
		{"a held task has no turn", 1, []Record{arrayTask(50, "2"), arrayTask(51, "1", heldByUser)}, nil, 0},
		{"a held task that is not read", 1, []Record{arrayTask(50, "2"), arrayTask(51, "1", unverified, heldByUser)}, nil, 0},
		{"one that depends on another job", 1, []Record{arrayTask(50, "2"), arrayTask(51, "1", depends)}, map[core.JobID]string{51: "Dependency"}, 0},
		{"one that was requeued", 1, []Record{arrayTask(50, "2"), arrayTask(51, "1", beginsSoon)}, nil, 0},
		{"Slurm's word is old", 1, []Record{arrayTask(50, "3", limited), arrayTask(51, "1", limited), arrayTask(52, "2")},
			map[core.JobID]string{50: taskLimit, 52: taskLimit}, 0},
	} {
		missing := map[core.JobID]int{40: 0}
		if test.missing > 0 {
			missing[50] = test.missing
		}
		BlockTasks(test.jobs, map[core.JobID]int{50: test.throttle}, missing, nowInTest)
		for _, r := range test.jobs {
			why, want := "", test.blocked[r.ID]
			if r.Blocked {
				why = r.Why
			}
			if why != want {
				t.Errorf("%s: task %s is blocked by %q, want %q", test.name, r.TaskIDs, why, want)
			}
		}
	}
}

func TestTasksOfAnArrayAreRankedByTheirNumbersAmongJobsOfOneRank(t *testing.T) {
	ordinary := func(id int64, submitted core.Time, priority int64) Record {
		r := Record{}
		r.ID, r.Submitted, r.State, r.Priority = core.JobID(id), submitted, adapter.Pending, priority
		return r
	}
	jobs := []Record{
		ordinary(52, 900, 7), arrayTask(50, "4"), arrayTask(53, "2"), arrayTask(54, "3", func(r *Record) { r.Priority = 9 }), arrayTask(51, "1"),
		ordinary(49, 900, 7), ordinary(60, 899, 7), arrayTask(55, "10"),
		arrayTask(57, "0", func(r *Record) { r.Submitted = 950 }), // this task was requeued
	}
	var got []core.JobID
	for _, j := range ranked(jobs) {
		got = append(got, j.ID)
	}
	if want := []core.JobID{54, 60, 49, 51, 53, 50, 55, 52, 57}; !slices.Equal(got, want) {
		t.Errorf("they are ranked %v, want %v", got, want)
	}
}

func TestTasksThatWereFoldedIntoTheirArrayAreJobsAgain(t *testing.T) {
	job := func(id core.JobID) Record { r := Record{}; r.ID, r.State = id, adapter.Pending; return r }
	runs := arrayTask(70, "9", running)
	runs.Array = 70
	for _, test := range []struct {
		list, tasks []Record
		want        map[core.JobID]string
	}{
		{[]Record{arrayTask(50, "1-9%2"), job(7)}, []Record{arrayTask(51, "1"), arrayTask(52, "2"), arrayTask(55, "5")},
			map[core.JobID]string{50: "3-4,6-9%2", 51: "1", 52: "2", 55: "5", 7: ""}},
		{[]Record{arrayTask(50, "1-2")}, []Record{arrayTask(51, "1"), arrayTask(50, "2")}, map[core.JobID]string{50: "2", 51: "1"}},
		{[]Record{arrayTask(50, "2-3"), arrayTask(51, "1")}, []Record{arrayTask(51, "1")}, map[core.JobID]string{50: "2-3", 51: "1"}},
		{[]Record{arrayTask(50, "2-3")}, nil, map[core.JobID]string{50: "2-3"}},
		{[]Record{runs}, []Record{arrayTask(51, "1")}, map[core.JobID]string{70: "9", 51: "1"}},
	} {
		got := AddTasks(test.list, test.tasks)
		for _, r := range got {
			if want, there := test.want[r.ID]; !there || r.TaskIDs != want || r.State == adapter.Pending && r.Elements != want {
				t.Errorf("job %d is %q (%q), want %q", r.ID, r.TaskIDs, r.Elements, want)
			}
		}
		if len(got) != len(test.want) {
			t.Errorf("%d jobs, want %d", len(got), len(test.want))
		}
	}
}
