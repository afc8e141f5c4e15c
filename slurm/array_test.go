package slurm

import (
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output"
)

func TestNoMoreTasksOfAnArrayMayStartThanItsThrottleAllows(t *testing.T) {
	task := func(id int64, tasks string, state adapter.State, held bool) output.Record {
		r := output.Record{TaskIDs: tasks}
		r.Array, r.ID, r.State, r.Held, r.Mark, r.Priority = 50, core.JobID(id), state, held, adapter.MarkPrefix+"ep=1x1m", 1
		return r
	}
	jobs := []output.Record{
		task(51, "1", adapter.Running, false), task(52, "2", adapter.Pending, false), // the second was released just now
		task(53, "3", adapter.Pending, true), task(54, "4", adapter.Pending, true), task(55, "5", adapter.Pending, true),
		task(50, "6-9%4", adapter.Pending, true),
	}
	s := scriptedSystem(t, nil, map[string]string{"scontrol": "exit 0"})
	s.splitArrays(t.Context(), jobs)
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
