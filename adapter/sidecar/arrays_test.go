package sidecar

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/decide"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// taskOf returns a waiting job that is a task of an array.
func taskOf(array, id core.JobID) *managed.Job {
	r := &managed.Job{Reading: managed.Reading{Seen: &adapter.Job{Array: array}}}
	r.ID, r.Submitted = id, 100
	return r
}

// launching is a batch system in which preparing a start takes as long as the job's time limit. It
// sends each launch to a channel.
type launching struct {
	adapter.BatchSystem
	actions.Journal
	launched chan core.JobID
}

func (launching) Reserve(context.Context, adapter.Reservation) error { return nil }
func (launching) Shape(_ context.Context, _ adapter.Key, s adapter.Shape) error {
	time.Sleep(time.Duration(s.Limit) * time.Second)
	if s.Nodes == 0 {
		return context.DeadlineExceeded
	}
	return nil
}
func (l launching) Attach(_ context.Context, job adapter.Key, _ string) error {
	l.launched <- job.ID
	return nil
}
func (launching) Release(context.Context, adapter.Key) error { return nil }
func (launching) Begin(journal.Intent) (int64, error)        { return 1, nil }
func (launching) Finish(int64, time.Time, error) (err error) { return nil }

// A task must not begin after the next task of its array, even if its own reservation and size took
// longer to write.
func TestTasksOfAnArrayAreLaunchedInTheOrderOfTheirStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		launched := make(chan core.JobID, 8)
		l := launching{launched: launched}
		c := &workers{finished: make(chan result, 16), caller: &actions.Caller{System: l, Journal: l, Meter: actions.NoMeter{}, Clock: adapter.Wall{}, Deadline: 24 * time.Hour}}
		begin := func(r *managed.Job, prepares time.Duration, nodes int) {
			c.begin(t.Context(), r, &decide.Operation{Verb: "start", Starts: true, Calls: []actions.Call{
				actions.Prepare{Job: r.Key, Shape: adapter.Shape{Nodes: nodes, Limit: core.Time(prepares / time.Second)}}, actions.Launch{Job: r.Key},
			}}, nil)
		}
		begin(taskOf(50, 51), 2*time.Second, 1)
		begin(taskOf(50, 52), time.Second, 0) // preparing this task fails
		begin(taskOf(50, 53), 0, 1)
		begin(taskOf(60, 61), 0, 1) // a task of another array
		begin(taskOf(0, 7), 0, 1)   // a job that is in no array
		begin(taskOf(50, 50), time.Second, 1)
		begin(taskOf(70, 71), time.Hour, 1) // the batch system hangs
		begin(taskOf(70, 70), 0, 1)
		var got []core.JobID
		for range 6 {
			got = append(got, <-launched)
		}
		slices.Sort(got[:2])
		if want := []core.JobID{7, 61, 51, 53, 50, 70}; !slices.Equal(got, want) {
			t.Errorf("they were launched in the order %v, want %v", got, want)
		}
		time.Sleep(2 * time.Hour)
		begin(taskOf(80, 81), 0, 1)
		if len(c.launches) != 1 {
			t.Errorf("launches of %d arrays are kept, want that of the last", len(c.launches))
		}
		c.Wait()
	})
}

func TestJobsOfOneSecondAreStartedInTheOrderOfTheQueue(t *testing.T) {
	last, first, second, older, runs := taskOf(50, 50), taskOf(50, 51), taskOf(50, 52), taskOf(0, 60), taskOf(0, 49)
	older.Submitted = 90
	queue := []plan.Waiter{{Managed: first}, {}, {Managed: second}, {Managed: older}, {Managed: last}}
	got := inOrder([]*managed.Job{older, runs, last, first, second}, queue)
	if want := []*managed.Job{older, runs, first, second, last}; !slices.Equal(got, want) {
		var ids []core.JobID
		for _, r := range got {
			ids = append(ids, r.ID)
		}
		t.Errorf("they are started in the order %v", ids)
	}
}

// On a busy machine the third task was still being adopted when later tasks started.
func TestATaskWaitsForAnEarlierOneThatIsAboutToStart(t *testing.T) {
	var o taskOrder
	at := time.Unix(1000, 0)
	due, later, ahead, other := taskOf(50, 51), taskOf(50, 52), taskOf(60, 61), taskOf(0, 7)
	for r, start := range map[*managed.Job]core.Time{due: 1004, later: 1004, ahead: 1005, other: 1004} {
		r.Phase, r.Course = managed.Waiting, &managed.Course{Start: start}
	}
	for second, want := range []bool{true, true, true, true, true, false, false} {
		o.begin()
		if o.waits(later, at) {
			t.Errorf("second %d: it waits though no earlier task does", second)
		}
		for _, r := range []*managed.Job{due, ahead, other} {
			o.note(r, 1004, at)
		}
		if got := o.waits(later, at); got != want {
			t.Errorf("second %d: it waits: %v, want %v", second, got, want)
		}
		if o.waits(taskOf(60, 62), at) || o.waits(taskOf(0, 8), at) {
			t.Errorf("second %d: a job waits for one that is none of its array, or is not due", second)
		}
		at = at.Add(time.Second)
	}
	o.begin()
	o.begin()
	o.note(due, 1004, at)
	if !o.waits(later, at) {
		t.Error("it does not wait for the next one that is about to start")
	}
}
