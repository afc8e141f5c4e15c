package slurm

import (
	"slices"
	"testing"

	"accordion/adapter"
)

func TestTheFirstTasksOfAnArrayAreFound(t *testing.T) {
	for _, test := range []struct {
		tasks string
		n     int
		want  []int
	}{
		{"3", 5, []int{3}}, {"1-4%2", 3, []int{1, 2, 3}}, {"1-4%2", 9, []int{1, 2, 3, 4}}, {"7-40:3%2", 3, []int{7, 10, 13}},
		{"[1,3,5-6]", 9, []int{1, 3, 5, 6}}, {"1-4", 0, nil}, {"", 4, nil}, {"x-4", 4, nil}, {"1-y", 4, nil}, {"2,z", 4, []int{2}},
		{"0-1000000", 2, []int{0, 1}}, {"5-4", 2, nil},
	} {
		if got := firstTasks(test.tasks, test.n); !slices.Equal(got, test.want) {
			t.Errorf("the first %d of %q: %v, want %v", test.n, test.tasks, got, test.want)
		}
	}
}

func TestNoMoreTasksOfAnArrayMayStartThanItsThrottleAllows(t *testing.T) {
	task := func(id int64, tasks string, state adapter.State, held bool) record {
		r := record{array: 50, taskIDs: tasks}
		r.ID, r.State, r.Held, r.Mark = adapter.Key{}.ID+1, state, held, adapter.MarkPrefix+"ep=1x1m"
		return r
	}
	jobs := []record{
		task(51, "1", adapter.Running, false), task(52, "2", adapter.Pending, false), // the second was let go just now
		task(53, "3", adapter.Pending, true), task(54, "4", adapter.Pending, true), task(55, "5", adapter.Pending, true),
		task(50, "6-9%4", adapter.Pending, true),
	}
	s := clients(t, nil, map[string]string{"scontrol": "exit 0"})
	s.split(t.Context(), jobs)
	var blocked []bool
	for _, r := range jobs {
		blocked = append(blocked, r.Blocked)
	}
	if want := []bool{false, false, false, false, true, false}; !slices.Equal(blocked, want) {
		t.Errorf("blocked: %v, want %v", blocked, want)
	}
	if rest := jobs[5]; rest.Mark != "" || adapter.RequestOf(&rest.Job) != "" {
		t.Errorf("the rest of the array is shown as a managed job: %+v", rest.Job)
	}
}
