package output

import (
	"slices"
	"testing"

	"accordion/core"
)

func TestOnlyTheTaskWithTheNumberOfItsArrayIsExpandedAsATask(t *testing.T) {
	for _, test := range []struct {
		id, array core.JobID
		tasks     string
		want      string
	}{
		{46, 0, "", "46"}, {46, 46, "2", "46_2"}, {46, 46, "0%3", "46_0"},
		{47, 46, "1", "47"}, // expand:46_1 would merge into the job with the number 46
		{46, 46, "2-9%2", "46"}, {46, 46, "", "46"},
	} {
		r := Record{TaskIDs: test.tasks}
		r.ID, r.Array = test.id, test.array
		if got := r.ExpandName(); got != test.want {
			t.Errorf("job %d, task %q of %d: expand:%s, want expand:%s", test.id, test.tasks, test.array, got, test.want)
		}
	}
}

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
		if got := FirstTasks(test.tasks, test.n); !slices.Equal(got, test.want) {
			t.Errorf("the first %d of %q: %v, want %v", test.n, test.tasks, got, test.want)
		}
	}
}

func TestArrayTasksAreCounted(t *testing.T) {
	for text, want := range map[string][2]int{
		"7": {1, 0}, "1-7": {7, 0}, "7-40:3%2": {12, 2}, "1,3,5-6": {4, 0}, "[1-3]": {3, 0}, "3-1": {1, 0}, "": {1, 0},
		"1,3,...%3": {3, 3}, "0-4294967295": {1, 0}, "1-3:0": {3, 0}, "1-2%x": {2, 0},
	} {
		if tasks, throttle := arrayTasks(text); tasks != want[0] || throttle != want[1] {
			t.Errorf("%q: %d tasks, %d at a time; want %v", text, tasks, throttle, want)
		}
	}
}
