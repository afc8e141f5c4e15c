package plan

import (
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

// runs returns a running job in the given step (from 0) on the given number of nodes. `promise` has
// the promised ends of all steps.
func runs(id core.JobID, planned core.Time, step, nodes int, ep core.EP, promise ...core.Time) *managed.Job {
	r := &managed.Job{Record: managed.Record{Key: adapter.Key{ID: id}, Phase: managed.Running, Step: step, Target: step, Planned: planned, Promise: promise}, Choices: []core.EP{ep}}
	for range nodes {
		r.Nodes = append(r.Nodes, "n")
	}
	return r
}

// twoInTurn returns two jobs for a machine of 16 nodes, two of which an ordinary job holds. The
// second job grows to 12 nodes at second 45 and shrinks at second 81. The first job grows at second
// 81, too. Neither job can be a second late without moving the other.
func twoInTurn() (first, second *managed.Job) {
	first = runs(1, 0, 0, 2, core.EP{{Duration: 36, Nodes: 2}, {Duration: 27, Nodes: 3}}, 81, 108)
	second = runs(2, 2, 0, 2, core.EP{{Duration: 29, Nodes: 2}, {Duration: 36, Nodes: 12}, {Duration: 37, Nodes: 5}}, 45, 81, 118)
	return first, second
}

func keep(now core.Time, running ...*managed.Job) {
	ordinary := core.Allocation{Job: -1, Start: now, EP: core.EP{{Duration: 117, Nodes: 2}}}
	v := &World{Input: Input{Now: now}, drafts: running}
	v.keepPromises(core.Machine{Nodes: 16}, []core.Allocation{ordinary})
}

func TestPlanThatSlipsByASecondKeepsItsSequence(t *testing.T) {
	first, second := twoInTurn()
	second.Question = &managed.Question{}
	keep(45, first, second)
	if want := []core.Time{45, 82, 119}; !slices.Equal(second.Promise, want) {
		t.Errorf("the job that is about to grow is promised %v, want %v", second.Promise, want)
	}
	if want := []core.Time{82, 109}; !slices.Equal(first.Promise, want) {
		t.Errorf("the job that follows it is promised %v, want %v", first.Promise, want)
	}
}

func TestLateApplicationBreaksNoPromiseToAnotherJob(t *testing.T) {
	first, second := twoInTurn()
	keep(55, first, second) // the second job should have ended its step ten seconds ago
	if want := []core.Time{81, 108}; !slices.Equal(first.Promise, want) {
		t.Errorf("the punctual job is promised %v, want %v", first.Promise, want)
	}
	if second.Promise[1] <= 108 {
		t.Errorf("the late job is promised %v, and cannot have 12 nodes before 108", second.Promise)
	}
}

func TestResizeUnderWayEndsTheWaitPromisedBeforeIt(t *testing.T) {
	_, second := twoInTurn()
	second.Promise = []core.Time{45, 145, 182} // as if the job's growth had to wait for a long time
	second.Target, second.NextNodes = 1, make([]string, 12)
	want := core.EP{{Duration: 36, Nodes: 12}, {Duration: 37, Nodes: 5}}
	if got := second.Remaining(46); !slices.Equal(got, want) {
		t.Errorf("while it grows it is taken to hold %v, want %v", got, want)
	}
}

// A part starts when its launcher orders it, and not when a plan starts it.
func TestPartOfApplicationIsNoOrdinaryJobOfQueue(t *testing.T) {
	jobs := []adapter.Job{
		{Key: adapter.Key{ID: 1}, State: adapter.Pending, Want: 2, Limit: 60},
		{Key: adapter.Key{ID: 2}, State: adapter.Pending, Want: 2, Limit: 60, Mark: adapter.MarkPrefix + "launch=7"},
		{Key: adapter.Key{ID: 3}, State: adapter.Pending, Want: 2, Limit: 60, Held: true, Comment: "launch=7"},
		{Key: adapter.Key{ID: 4}, State: adapter.Pending, Want: 2, Limit: 60, Comment: "launch=7"}, // launch=7 is only a user's comment, so the job starts like any other
	}
	v := newWorld(Input{Now: 10, Snapshot: &adapter.Snapshot{Jobs: jobs}})
	if len(v.Queue) != 2 || v.Queue[0].Job.ID != 1 || v.Queue[1].Job.ID != 4 {
		t.Errorf("the queue is %+v, want jobs 1 and 4", v.Queue)
	}
}
