package status

import (
	"errors"
	"testing"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
)

// waits adds a waiting managed job. The job is planned to start at the second `start`; 0 means that it has no planned start.
func (s *fixture) waits(id int, start core.Time) *managed.Job {
	r := s.manages(id, managed.Waiting, func(r *managed.Job) {
		if start > 0 {
			r.Course = &managed.Course{Start: start, EP: r.Choices[0]}
		}
	})
	s.queueManaged(r)
	return r
}

func TestFirstPlannedStartIsAnnouncedOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		start  core.Time
		change func(*managed.Job)
		want   []string
	}{
		{"in more than a minute", t0 + 61, nil, []string{"7 planned: its start is planned in 1m1s"}},
		{"in a minute", t0 + 60, nil, nil},
		{"it has no place", 0, nil, nil},
		{"its place has no nodes", t0 + 100, func(r *managed.Job) { r.Course.Err = errors.New("no nodes") }, nil},
		{"it starts", t0 + 100, func(r *managed.Job) { r.Phase = managed.Starting }, nil},
		{"it is rigid", t0 + 100, func(r *managed.Job) { r.Request = "rigid=2x100s" }, nil},
		{"it is an application's part", t0 + 100, func(r *managed.Job) { r.Part = &managed.Part{} }, nil},
		{"it was announced", t0 + 100, func(r *managed.Job) { r.StartTold = t0 + 100 }, nil},
	} {
		s := newFixture(t)
		r := s.waits(7, c.start)
		if c.change != nil {
			c.change(r)
		}
		before := r.StartTold
		s.ok(s.AnnounceStarts(s.v))
		if len(c.want) > 0 && (r.StartTold != c.start || !r.Unsaved || s.fields[0]["start"] != c.start) || len(c.want) == 0 && r.StartTold != before {
			t.Errorf("%s: expected at %d, dirty %t, fields %v", c.name, r.StartTold, r.Unsaved, s.fields)
		}
		s.wantEvents(c.want...)
	}
	s := newFixture(t)
	s.queueSeen(s.seen(adapter.Job{Key: adapter.Key{ID: 9}, State: adapter.Pending}), t0+100, t0+200)
	s.ok(s.AnnounceStarts(s.v))
	s.wantEvents()
}

func TestAtMostFourStartsAreAnnouncedInACycle(t *testing.T) {
	s := newFixture(t)
	for id := range 6 {
		s.waits(10+id, t0+100)
	}
	s.ok(s.AnnounceStarts(s.v))
	if len(s.events) != 4 {
		t.Errorf("%d were announced", len(s.events))
	}
	s.ok(s.AnnounceStarts(s.v))
	if len(s.events) != 6 {
		t.Errorf("%d were announced in two cycles", len(s.events))
	}
	s = newFixture(t)
	s.fails = errors.New("the disk is full")
	r := s.waits(10, t0+100)
	if err := s.AnnounceStarts(s.v); !errors.Is(err, s.fails) || r.StartTold != 0 {
		t.Errorf("%v, and expected at %d", err, r.StartTold)
	}
}

func TestMoveIsAnnouncedFromAMinuteAndATenthOfTheWait(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, now core.Time // planned starts before and now, in seconds from now
		want        string
	}{
		{"a minute later", 300, 360, "7 replanned: its start is planned 1m later: the sidecar did not run meanwhile"},
		{"less", 300, 359, ""},
		{"a minute earlier", 360, 300, "7 replanned: its start is planned 1m earlier: the sidecar did not run meanwhile"},
		{"less", 360, 301, ""},
		{"a tenth of what is left", 9000, 10000, "7 replanned: its start is planned 16m40s later: the sidecar did not run meanwhile"},
		{"less than a tenth", 9001, 10000, ""},
	} {
		s := newFixture(t)
		r := s.waits(7, t0+c.now)
		r.StartTold, r.StartMove = t0+c.before, managed.StartMove{}
		s.ok(s.AnnounceStarts(s.v))
		if c.want == "" {
			s.wantEvents()
			continue
		}
		if s.fields[0]["before"] != t0+c.before || s.fields[0]["start"] != t0+c.now || s.fields[0]["cause"] != "the sidecar did not run meanwhile" {
			t.Errorf("%s: fields %v", c.name, s.fields[0])
		}
		s.wantEvents(c.want)
		if r.StartTold != t0+c.now || r.StartMove != (managed.StartMove{}) {
			t.Errorf("%s: expected in %d s, mover %v", c.name, r.StartTold-t0, r.StartMove)
		}
	}
}

// The cause of a move is found in the cycle in which the start moves, but the event may be recorded in a later cycle.
func TestCauseOfAMoveIsKeptUntilItIsAnnounced(t *testing.T) {
	s := newFixture(t)
	for id := range 4 {
		s.waits(10+id, t0+1000)
	}
	r := s.waits(20, t0+500)
	r.StartTold, r.StartMove = t0+300, managed.StartMove{Why: "n1 burned", Later: true}
	s.ok(s.AnnounceStarts(s.v)) // four other jobs are announced first
	s.events = nil
	s.ok(s.AnnounceStarts(s.v))
	s.wantEvents("20 replanned: its start is planned 3m20s later: n1 burned")

	r.StartTold, r.StartMove = t0+700, managed.StartMove{Why: "n1 burned", Later: true} // now the planned start is earlier than the announced one, so the stored reason no longer applies
	s.ok(s.AnnounceStarts(s.v))
	s.wantEvents("20 replanned: its start is planned 3m20s earlier: the sidecar did not run meanwhile")

	r.StartTold, r.StartMove = t0+500, managed.StartMove{Why: "n1 burned", Later: true} // the planned start has moved back to the announced one
	s.ok(s.AnnounceStarts(s.v))
	s.wantEvents()
	if r.StartMove != (managed.StartMove{}) {
		t.Errorf("the mover is still %v", r.StartMove)
	}
}

// moved returns the cause in the event about the move of a waiting job's start. The functions before and after prepare the cycle before
// and the cycle after the move.
func moved(t *testing.T, before, after func(*fixture), later bool) string {
	t.Helper()
	s := newFixture(t)
	before(s)
	s.waits(7, t0+1000)
	var views []view.Job
	for _, r := range s.v.Jobs {
		views = append(views, JobOf(r))
	}
	s.ok(s.PublishQueue(s.v, views))
	s.later(10)
	s.world()
	after(s)
	r := s.waits(7, t0+2000)
	if r.StartTold = t0 + 1000; !later {
		r.StartTold = t0 + 3000
	}
	s.ok(s.AnnounceStarts(s.v))
	if len(s.fields) != 1 {
		t.Fatalf("events %v", s.events)
	}
	return s.fields[0]["cause"].(string)
}

func TestCausesOfAMovedStart(t *testing.T) {
	none := func(*fixture) {}
	runs := func(end core.Time) func(*fixture) {
		return func(s *fixture) {
			s.seen(adapter.Job{Key: adapter.Key{ID: 9}, User: "carol", State: adapter.Running, Started: t0 - 50, Limit: end - t0 + 50, Nodes: []string{"n3"}})
		}
	}
	ended := func(state adapter.State) func(*fixture) {
		return func(s *fixture) {
			s.seen(adapter.Job{Key: adapter.Key{ID: 9}, User: "carol", State: state, Started: t0 - 50, Limit: 550, Nodes: []string{"n3"}})
		}
	}
	lost := func(n int) func(*fixture) {
		return func(s *fixture) {
			for i := range n {
				s.v.Snapshot.Nodes[i].Lost = true
			}
		}
	}
	closed := func(s *fixture) {
		s.v.Snapshot.Reservations = []adapter.Reservation{{Name: "upgrade", Nodes: []string{"n1", "n2"}, Start: t0 + 500, End: t0 + 900}}
	}
	queued := func(users ...string) func(*fixture) {
		return func(s *fixture) {
			for i, user := range users {
				s.queueSeen(s.seen(adapter.Job{Key: adapter.Key{ID: core.JobID(30 + i)}, User: user, State: adapter.Pending, Want: 1, Limit: 100}), t0+900, t0+1000)
			}
		}
	}
	big := func(end core.Time) func(*fixture) {
		return func(s *fixture) { s.manages(40, managed.Running, func(r *managed.Job) { r.Promise[1] = end }) }
	}
	for _, c := range []struct {
		name          string
		before, after func(*fixture)
		later         bool
		want          string
	}{
		{"nothing is known", none, none, true, "what runs before it was planned again"},
		{"a node was lost", none, lost(1), true, "1 node went out of service"},
		{"nodes were lost", lost(1), lost(3), true, "2 nodes went out of service"},
		{"nodes came back", lost(3), lost(1), false, "2 nodes came back into service"},
		{"nodes came back, and it is later", lost(3), lost(1), true, "what runs before it was planned again"},
		{"nodes are lost as before", lost(1), lost(1), true, "what runs before it was planned again"},
		{"a reservation", none, closed, true, "reservation upgrade was made over 2 nodes"},
		{"a reservation as before", closed, closed, true, "what runs before it was planned again"},
		{"a job came before it", none, queued("carol"), true, "job 30 of carol came before it in the queue"},
		{"jobs came, and it is earlier", none, queued("carol"), false, "what runs before it was planned again"},
		{"a job waits as before", queued("carol"), queued("carol"), true, "what runs before it was planned again"},
		{"a job left the queue", queued("carol"), none, false, "job 30 of carol left the queue"},
		{"three came", none, queued("a", "b", "c"), true, "job 30 of a came before it in the queue, job 31 of b came before it in the queue, and 1 more changes"},
		{"a job came behind it", none, func(s *fixture) {}, true, "what runs before it was planned again"},
		{"an ordinary job ended before its time", runs(t0 + 500), none, false, "job 9 of carol ended 8m10s before its time"},
		{"… as Slurm says", runs(t0 + 500), ended(adapter.Done), false, "job 9 of carol ended 8m10s before its time"},
		{"… and is cleaned up after", runs(t0 + 500), ended(adapter.Ending), false, "job 9 of carol ended 8m10s before its time"},
		{"it ended at its time", runs(t0 + 40), none, false, "what runs before it was planned again"},
		{"it ended a second before that", runs(t0 + 41), none, false, "job 9 of carol ended 31s before its time"},
		{"one without a limit", runs(t0 + core.Forever), none, false, "job 9 of carol ended before its time"},
		{"it still runs", runs(t0 + 500), runs(t0 + 500), false, "what runs before it was planned again"},
		{"it is past its limit", runs(t0 - 20), runs(t0 - 20), true, "job 9 of carol is past its limit and holds its nodes"},
		{"its limit has passed, and it may go on for its guard", runs(t0 - 19), runs(t0 - 19), true, "what runs before it was planned again"},
		{"a managed job needs its nodes for longer", big(t0 + 300), big(t0 + 350), true, "job 40 of bob needs its nodes for 50s longer than promised"},
		{"a managed job ends sooner", big(t0 + 300), big(t0 + 250), false, "job 40 of bob is over 50s earlier than promised"},
		{"a managed job as before", big(t0 + 300), big(t0 + 300), true, "what runs before it was planned again"},
		{"a managed job has ended", big(t0 + 300), none, false, "job 40 of bob ended 4m50s before its time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := moved(t, c.before, c.after, c.later); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
