package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"
)

// t0 is the second of the first cycle.
const t0 core.Time = 1_000_000

// fixture is a cluster of four nodes, with the documents that its Publisher published.
type fixture struct {
	*Publisher
	*testing.T
	v      *plan.World
	at     time.Time // the time of the cluster's clock
	events []string  // events in the form "JOB KIND: TEXT"
	fields []map[string]any
	queues []view.Queue  // the queues that were written
	views  []view.Status // the statuses that were written
	broke  []string
	spared int64
	gone   core.Time // second in which a node went away
	fails  error     // the error that every write returns; nil means that writes succeed
}

func (s *fixture) Now() time.Time                       { return s.at }
func (s *fixture) After(time.Duration) <-chan time.Time { return nil }
func (s *fixture) Broke(cause string)                   { s.broke = append(s.broke, cause) }
func (s *fixture) Spared(n int64)                       { s.spared += n }

// journalStub is a Store that keeps the published documents in its fixture.
type journalStub struct {
	fixture *fixture
}

func (s journalStub) PutQueue(data []byte) error {
	var q view.Queue
	s.fixture.queues = append(s.fixture.queues, q)
	return errors.Join(s.fixture.fails, json.Unmarshal(data, &s.fixture.queues[len(s.fixture.queues)-1]))
}

func (s journalStub) PutView(data []byte) error {
	var q view.Status
	s.fixture.views = append(s.fixture.views, q)
	return errors.Join(s.fixture.fails, json.Unmarshal(data, &s.fixture.views[len(s.fixture.views)-1]))
}

func newFixture(t *testing.T) *fixture {
	s := &fixture{T: t, at: time.Unix(t0, 0)}
	s.Publisher = &Publisher{Journal: journalStub{fixture: s}, Meter: s, Clock: s, Settings: managed.Settings{Cluster: "c", Guard: 30, StartLead: 5, Overrun: managed.Overrun{Least: 60}}}
	s.Event = func(r *managed.Job, kind, text string, fields map[string]any) error {
		s.events, s.fields = append(s.events, fmt.Sprintf("%d %s: %s", r.ID, kind, text)), append(s.fields, fields)
		return s.fails
	}
	s.LastLogged = func(adapter.Key) string { return "" }
	s.GoneSince = func(second core.Time) bool { return s.gone > 0 && s.gone >= second }
	s.world()
	return s
}

// world starts a new cycle, with idle nodes and no jobs.
func (s *fixture) world() {
	s.v = &plan.World{Index: map[string]int{}, Managed: map[adapter.Key]*managed.Job{}, Sizes: map[core.JobID]plan.Size{}}
	s.v.Input = plan.Input{Now: s.at.Unix(), Instant: s.at, Snapshot: &adapter.Snapshot{At: s.at}, Settings: s.Settings,
		OutOfService: func(n adapter.Node) bool { return n.Lost }, Fresh: func(*managed.Job) bool { return true }}
	for i := range 4 {
		name := fmt.Sprintf("n%d", i+1)
		s.v.Nodes, s.v.Index[name] = append(s.v.Nodes, name), i
		s.v.Snapshot.Nodes = append(s.v.Snapshot.Nodes, adapter.Node{Name: name, Usable: true})
	}
}

// later advances the clock and the time of the reading.
func (s *fixture) later(seconds core.Time) {
	s.at = s.at.Add(time.Duration(seconds) * time.Second)
	s.v.Now, s.v.Instant, s.v.Snapshot.At = s.at.Unix(), s.at, s.at
}

// seen adds a job to the reading of the batch system.
func (s *fixture) seen(j adapter.Job) *adapter.Job {
	if j.Submitted == 0 {
		j.Submitted = t0 - 100
	}
	if j.User == "" {
		j.User, j.Name = "alice", "run"
	}
	s.v.Snapshot.Jobs = append(s.v.Snapshot.Jobs, j)
	return &s.v.Snapshot.Jobs[len(s.v.Snapshot.Jobs)-1]
}

// manages adds a managed job that requests two nodes for 100 s and then four nodes for 200 s.
func (s *fixture) manages(id int, phase managed.Phase, change func(*managed.Job)) *managed.Job {
	choices, err := adapter.ParseRequest("ep=2x100s,4x200s")
	s.ok(err)
	state := adapter.Running
	if phase == managed.Waiting {
		state = adapter.Pending
	}
	r := managed.New(&adapter.Job{Key: adapter.Key{ID: core.JobID(id), Submitted: t0 - 100}, User: "bob", Name: "big", State: state, Limit: 360, Priority: 70}, "ep=2x100s,4x200s", choices)
	if r.Phase = phase; phase != managed.Waiting {
		r.Planned, r.Began, r.Promise, r.Nodes = t0, t0, []core.Time{t0 + 100, t0 + 300}, []string{"n1", "n2"}
	}
	if change != nil {
		change(r)
	}
	s.v.Managed[r.Key] = r
	s.v.Jobs = append(s.v.Jobs, r)
	s.seen(*r.Seen)
	if phase == managed.Running {
		s.v.Running = append(s.v.Running, r)
	}
	return r
}

// queueManaged puts a managed job into the plan's queue.
func (s *fixture) queueManaged(r *managed.Job) {
	s.v.Queue = append(s.v.Queue, plan.Waiter{Job: core.Job{ID: r.ID}, Managed: r, Seen: r.Seen})
}

// queueSeen puts an ordinary job into the plan's queue with a planned start and end. If start is 0, the job has no planned start.
func (s *fixture) queueSeen(j *adapter.Job, start, end core.Time) {
	s.v.Queue = append(s.v.Queue, plan.Waiter{Job: core.Job{ID: j.ID}, Seen: j})
	if start > 0 {
		s.v.Planned.Jobs = append(s.v.Planned.Jobs, core.Planned{Allocation: core.Allocation{Job: j.ID, Start: start, EP: core.EP{{Duration: end - start, Nodes: j.Want}}}})
	}
}

func (s *fixture) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// wantEvents fails the test unless exactly these events were recorded since the previous call of wantEvents.
func (s *fixture) wantEvents(want ...string) {
	s.Helper()
	if !slices.Equal(s.events, want) {
		s.Errorf("events\n%q\nwant\n%q", s.events, want)
	}
	s.events, s.fields = nil, nil
}
