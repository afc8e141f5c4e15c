package status

import (
	"errors"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"

	"github.com/google/go-cmp/cmp"
)

func TestStatusIsWrittenWhenItChangesAndEvery15Seconds(t *testing.T) {
	s := newFixture(t)
	write := func(want bool, why string) {
		t.Helper()
		before := len(s.views)
		s.ok(s.Publish(s.v))
		if got := len(s.views) > before; got != want {
			t.Errorf("%s: written %t, want %t", why, got, want)
		}
	}
	write(true, "the first")
	s.at = s.at.Add(15*time.Second - time.Nanosecond)
	write(false, "nothing has changed")
	s.at = s.at.Add(time.Nanosecond)
	write(true, "after a quarter of a minute")
	s.v.Snapshot.Soft = "root"
	s.later(1)
	write(true, "a change")
	if got := s.views[2]; got.Soft != "root" || got.At != s.v.Now || got.Cluster != "c" || got.Manage != "" || got.Outages != nil {
		t.Errorf("%+v", got)
	}
	s.Settings.All = true
	s.Outages = func() ([]view.Outage, core.Time) { return []view.Outage{{From: 5}}, 6 }
	write(true, "settings")
	if got := s.views[3]; got.Manage != "all" || len(got.Outages) != 1 || got.Booted != 6 {
		t.Errorf("%+v", got)
	}
	s.fails = errors.New("the disk is full")
	s.v.Snapshot.Soft = ""
	if err := s.Publish(s.v); !errors.Is(err, s.fails) {
		t.Errorf("%v", err)
	}
	s.at = s.at.Add(time.Hour)
	s.v.Nodes = nil
	if err := s.Publish(s.v); !errors.Is(err, s.fails) {
		t.Errorf("%v", err)
	}
}

func TestStatusHasManagedJobsAndSubmittedParts(t *testing.T) {
	s := newFixture(t)
	s.manages(7, managed.Running, func(r *managed.Job) { r.Unreserved = true })
	s.manages(8, managed.Running, func(r *managed.Job) { r.Unreserved, r.Step, r.Target = true, 1, 1 }) // the job is in its last step, so that being over the limit has no effect
	waiting := s.waits(9, t0+100)
	s.v.OverLimit = func(string) bool { return true }
	part := s.manages(10, managed.Waiting, func(r *managed.Job) { r.Part = &managed.Part{} })
	unmade := s.manages(11, managed.Waiting, func(r *managed.Job) { r.Part = &managed.Part{Unmade: true} })
	s.v.Jobs, s.v.Parts = s.v.Jobs[:3], []*managed.Job{part, unmade}
	s.ok(s.Publish(s.v))
	var ids []core.JobID
	unreserved := map[core.JobID]bool{}
	for _, j := range s.views[0].Jobs {
		ids = append(ids, j.ID)
		unreserved[j.ID] = j.Unreserved
	}
	if diff := cmp.Diff([]core.JobID{7, 8, 9, 10}, ids); diff != "" || !unreserved[7] || unreserved[8] || !unreserved[9] || unreserved[10] {
		t.Errorf("%v, unreserved %v", ids, unreserved)
	}
	waiting.Course = &managed.Course{EP: core.EP{{Duration: 10, Nodes: 4}}} // a plan in which the job does not grow
	s.later(1)
	s.ok(s.Publish(s.v))
	if s.views[1].Jobs[2].Unreserved {
		t.Error("a job is shown as unreserved that does not grow")
	}
}

func TestJobOf(t *testing.T) {
	twice := core.EP{{Duration: 100, Nodes: 2}, {Duration: 200, Nodes: 4}}
	for _, c := range []struct {
		name   string
		phase  managed.Phase
		change func(*managed.Job)
		want   func(*view.Job)
	}{
		{"it runs", managed.Running, func(r *managed.Job) { r.Began = t0 + 5 }, func(j *view.Job) {
			j.Start, j.Promised, j.Step, j.Plan = t0+5, t0+300, 1, core.EP{{Duration: 95, Nodes: 2}, {Duration: 200, Nodes: 4}}
		}},
		{"it is in its second step", managed.Running, func(r *managed.Job) { r.Step, r.Target = 1, 1 }, func(j *view.Job) { j.Start, j.Promised, j.Step, j.Plan = t0, t0+300, 2, twice }},
		{"it starts", managed.Starting, func(r *managed.Job) { r.Began = 0 }, func(j *view.Job) { j.Start, j.Promised, j.Plan = t0, t0+300, twice }},
		{"it waits without a place", managed.Waiting, nil, func(j *view.Job) { j.Priority, j.Rank = 70, []adapter.RankPart{{Name: "age", Points: 3}} }},
		{"it waits for its second", managed.Waiting, func(r *managed.Job) { r.Course = &managed.Course{Start: t0 + 9, EP: twice[:1]} }, func(j *view.Job) {
			j.Priority, j.Rank, j.Start, j.Plan = 70, []adapter.RankPart{{Name: "age", Points: 3}}, t0+9, twice[:1]
		}},
		{"it has a deadline", managed.Waiting, func(r *managed.Job) { r.Seen.Deadline, r.Seen.Latest = t0+900, t0+600 }, func(j *view.Job) {
			j.Priority, j.Rank, j.Deadline, j.Latest = 70, []adapter.RankPart{{Name: "age", Points: 3}}, t0+900, t0+600
		}},
		{"its deadline has passed", managed.Waiting, func(r *managed.Job) { r.Seen.Deadline = t0 + 900 }, func(j *view.Job) { j.Priority, j.Rank = 70, []adapter.RankPart{{Name: "age", Points: 3}} }},
		{"it is blocked", managed.Running, func(r *managed.Job) { r.WaitReason = "n3" }, func(j *view.Job) { j.Start, j.Promised, j.Step, j.Plan, j.Why = t0, t0+300, 1, twice, "n3" }},
		{"it is ended", managed.Ending, func(r *managed.Job) { r.WaitReason, r.EndReason = "n3", "late" }, func(j *view.Job) { j.Start, j.Promised, j.Step, j.Plan, j.Why = t0, t0+300, 1, twice, "late" }},
		{"it may have two nodes", managed.Running, func(r *managed.Job) { r.Seen.MostNow = adapter.NodeLimit{Nodes: 2, Why: "QOS"} }, func(j *view.Job) {
			j.Start, j.Promised, j.Step, j.Plan, j.Limit = t0, t0+300, 1, twice, &view.Limit{Nodes: 2, Why: "QOS"}
		}},
		{"it was not read", managed.Running, func(r *managed.Job) { r.Seen = nil }, func(j *view.Job) { j.Start, j.Promised, j.Step, j.Plan, j.Grows = t0, t0+300, 1, twice, "" }},
	} {
		s := newFixture(t)
		r := s.manages(7, c.phase, func(r *managed.Job) {
			r.Seen.Grows, r.Seen.Rank = "merge", []adapter.RankPart{{Name: "age", Points: 3}}
		})
		if c.change != nil {
			c.change(r)
		}
		want := view.Job{ID: 7, Submitted: t0 - 100, User: "bob", Name: "big", Kind: "evolving", Phase: string(c.phase), Request: "ep=2x100s,4x200s", Steps: 2, Grows: "merge"}
		if c.phase != managed.Waiting {
			want.Nodes, want.Size = "n[1-2]", 2
		}
		c.want(&want)
		if diff := cmp.Diff(want, JobOf(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// recorder is a Subscriber that keeps what it receives.
type recorder struct {
	wants bool
	seen  []*view.Snapshot
}

func (g *recorder) WantsSnapshot() bool      { return g.wants }
func (g *recorder) Receive(s *view.Snapshot) { g.seen = append(g.seen, s) }

func TestSubscriberReceivesSnapshotOnlyIfItWantsOne(t *testing.T) {
	const drawn = 24 * 3600 // seconds ahead
	s := newFixture(t)
	g := &recorder{}
	s.Subscriber = g
	s.ok(s.Publish(s.v))
	if len(g.seen) != 0 {
		t.Error("a snapshot that is not wanted")
	}
	g.wants = true
	s.v.Snapshot.At = s.at.Add(-2 * time.Second)
	s.v.Snapshot.Soft, s.v.Snapshot.Hidden.Jobs, s.Settings.All = "root", true, true
	s.v.Snapshot.Nodes[1].Usable, s.v.Snapshot.Nodes[1].Why = false, "DRAIN"
	s.v.Snapshot.Nodes[2].Lost, s.v.Snapshot.Nodes[2].Usable, s.v.Snapshot.Nodes[2].Why = true, false, "DOWN"
	s.v.Snapshot.Nodes[3].Asleep, s.v.Snapshot.Nodes[3].Why = true, "POWERED_DOWN"
	s.v.Snapshot.Reservations = []adapter.Reservation{
		{Name: "upgrade", Nodes: []string{"n3", "elsewhere", "n1"}, Start: t0 + 10, End: t0 + 900, Later: []adapter.Span{{Start: t0 + drawn, End: t0 + drawn + 5}, {Start: t0 + drawn + 1, End: t0 + drawn + 6}}},
		{Name: "accordion-7-1", Nodes: []string{"n1"}, Start: t0, End: t0 + 900},
		{Name: "far", Nodes: []string{"n1"}, Start: t0 + 2*drawn, End: t0 + 3*drawn},
		{Name: "elsewhere", Nodes: []string{"elsewhere"}, Start: t0, End: t0 + 900},
	}
	r := s.manages(40, managed.Running, func(r *managed.Job) { r.SlipLogged, r.BestEnd, r.SlipCause = 9, t0+290, "lost node" })
	s.manages(41, managed.Running, nil)
	s.ok(s.Publish(s.v))
	if len(g.seen) != 1 {
		t.Fatalf("%d snapshots", len(g.seen))
	}
	got := g.seen[0]
	wantNodes := []view.SnapshotNode{{Name: "n1"}, {Name: "n2", State: view.NodeAway, Why: "DRAIN"}, {Name: "n3", State: view.NodeLost, Why: "DOWN", Out: true}, {Name: "n4", State: view.NodeAsleep, Why: "POWERED_DOWN"}}
	if diff := cmp.Diff(wantNodes, got.Nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if got.Read != t0-2 || got.Now != t0 || got.Soft != "root" || got.Manage != "all" || !got.Hidden.Jobs || got.Queue.At != t0 || got.Queue.Cluster != "c" || len(got.Queue.Jobs) != 2 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(map[adapter.Key]view.Breach{r.Key: {Promised: t0 + 290, Slipped: 9, Cause: "lost node"}}, got.Broken); diff != "" {
		t.Errorf("broken (-want +got):\n%s", diff)
	}
	var closed []string
	for _, c := range got.Closed {
		closed = append(closed, c.Name+" on "+c.On)
		if c.Later != nil {
			t.Errorf("%s has later times", c.Name)
		}
	}
	if diff := cmp.Diff([]string{"upgrade on n[1,3]", "upgrade on n[1,3]", "far on n1"}, closed); diff != "" || got.Closed[0].Start != t0+10 || got.Closed[1].Start != t0+drawn || got.Closed[1].End != t0+drawn+5 {
		t.Errorf("closed %v: %s", got.Closed, diff)
	}
	got.Queue.Jobs[0].Plan[0].Nodes = 99 // a change here must not change the next snapshot
	s.ok(s.Publish(s.v))
	if g.seen[1].Queue.Jobs[0].Plan[0].Nodes == 99 {
		t.Error("snapshots share data")
	}
}
