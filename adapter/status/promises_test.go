package status

import (
	"errors"
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

func TestNodesBelowAJobsPeakCountAsSpared(t *testing.T) {
	s := newFixture(t)
	r := s.manages(7, managed.Running, nil)
	s.manages(8, managed.Starting, nil)
	s.manages(9, managed.Waiting, nil)
	s.ok(s.CheckPromises(s.v))
	if s.later(10); s.spared != 0 {
		t.Errorf("%d node-seconds before any time has passed", s.spared)
	}
	s.ok(s.CheckPromises(s.v))
	if s.spared != 20 { // for ten seconds the job used two nodes less than in its largest step
		t.Errorf("%d node-seconds, want 20", s.spared)
	}
	r.Step, r.Target = 1, 1
	s.later(10)
	s.ok(s.CheckPromises(s.v))
	if s.spared != 20 {
		t.Errorf("%d node-seconds at its peak, want none more", s.spared)
	}
	r.Step, r.Target = 0, 0
	s.later(-50) // the counter must stay plausible when the clock is set
	s.ok(s.CheckPromises(s.v))
	s.later(90000)
	s.ok(s.CheckPromises(s.v))
	if s.spared != 20+2*3600 {
		t.Errorf("%d node-seconds after a jump, want an hour's", s.spared-20)
	}
}

func TestAPromiseIsBrokenWhenItsEndMovesByMoreThanFourSeconds(t *testing.T) {
	s := newFixture(t)
	r := s.manages(7, managed.Running, nil)
	end := func(second core.Time) { r.Promise[1] = second; s.ok(s.CheckPromises(s.v)) }
	end(t0 + 300)
	if r.BestEnd != t0+300 || !r.Unsaved {
		t.Errorf("promised %d, dirty %t", r.BestEnd, r.Unsaved)
	}
	end(t0 + 304)
	s.wantEvents()
	end(t0 + 305)
	if want := map[string]any{"promised": t0 + 300, "end": t0 + 305, "seconds": core.Time(5), "cause": "batch system"}; len(s.fields) != 1 || !sameFields(s.fields[0], want) {
		t.Errorf("fields %v", s.fields)
	}
	s.wantEvents("7 promise broken: its end moves by 5s: batch system")
	end(t0 + 310)
	s.wantEvents() // none, because the delay has not doubled
	end(t0 + 311)
	s.wantEvents("7 promise broken: its end moves by 11s: batch system")
	if !slices.Equal(s.broke, []string{"batch system"}) || r.SlipLogged != 11 || r.SlipCause != "batch system" {
		t.Errorf("counted %v, slipped %d, cause %q", s.broke, r.SlipLogged, r.SlipCause)
	}
	r.PromiseMovedBy = managed.LostNode
	end(t0 + 323)
	s.wantEvents("7 promise broken: its end moves by 23s: lost node")
	if !slices.Equal(s.broke, []string{"batch system", "lost node"}) || r.PromiseMovedBy != managed.Nobody {
		t.Errorf("counted %v, moved by %q", s.broke, r.PromiseMovedBy)
	}
	r.Unsaved = false
	end(t0 + 290) // a better promise counts from now on
	s.wantEvents()
	if r.BestEnd != t0+290 || r.SlipLogged != 0 || !r.Unsaved {
		t.Errorf("promised %d, slipped %d, dirty %t", r.BestEnd, r.SlipLogged, r.Unsaved)
	}
	s.fails = errors.New("the disk is full")
	if r.Promise[1] = t0 + 400; !errors.Is(s.CheckPromises(s.v), s.fails) {
		t.Error("an event that cannot be written is no error")
	}
}

func sameFields(got, want map[string]any) bool {
	for key := range want {
		if got[key] != want[key] {
			return false
		}
	}
	return len(got) == len(want)
}

func TestRequeuedJobHasNoPromise(t *testing.T) {
	s := newFixture(t)
	r := s.manages(7, managed.Waiting, func(r *managed.Job) { r.BestEnd, r.SlipLogged, r.SlipCause = 1, 2, "x" })
	e := s.manages(8, managed.Ending, func(r *managed.Job) { r.BestEnd = t0 })
	started := s.manages(9, managed.Starting, nil)
	s.ok(s.CheckPromises(s.v))
	if r.BestEnd != 0 || r.SlipLogged != 0 || r.SlipCause != "" || e.BestEnd != t0 || started.BestEnd != t0+300 {
		t.Errorf("promised %d, slipped %d, broke %q; one that ends %d; one that starts %d", r.BestEnd, r.SlipLogged, r.SlipCause, e.BestEnd, started.BestEnd)
	}
	s.wantEvents()
}

func TestExpectedEndIsLaterWhenNodesAreOverdue(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*managed.Job)
		now    core.Time
		want   core.Time
	}{
		{"thirty seconds", nil, t0 + 130, t0 + 331}, // from now on, the present step lasts at least another second, and the next one 200 s
		{"a second less", nil, t0 + 129, t0 + 300},
		{"there is no obstacle", func(r *managed.Job) { r.Obstacle = managed.Nobody }, t0 + 130, t0 + 300},
		{"it is being resized", func(r *managed.Job) { r.Target = 1 }, t0 + 130, t0 + 300},
		{"it starts", func(r *managed.Job) { r.Phase = managed.Starting }, t0 + 130, t0 + 300},
		{"the promise is later", func(r *managed.Job) { r.Promise[1] = t0 + 900 }, t0 + 130, t0 + 900},
	} {
		s := newFixture(t)
		r := s.manages(7, managed.Running, func(r *managed.Job) {
			r.Obstacle = managed.BatchSystem
			if c.change != nil {
				c.change(r)
			}
		})
		s.later(c.now - t0)
		if got := expectedEnd(s.v, r); got != c.want {
			t.Errorf("%s: %d s after the beginning, want %d", c.name, got-t0, c.want-t0)
		}
	}
}

func TestLikelyCauseOfABrokenPromise(t *testing.T) {
	ordinary := adapter.Job{Key: adapter.Key{ID: 20}, State: adapter.Running, Started: t0 - 100, Limit: 70, Nodes: []string{"n3"}}
	for _, c := range []struct {
		name   string
		change func(s *fixture, r *managed.Job)
		want   managed.Obstacle
	}{
		{"nobody is known", func(*fixture, *managed.Job) {}, managed.BatchSystem},
		{"its application", func(_ *fixture, r *managed.Job) { r.Late, r.PromiseMovedBy = true, managed.LostNode }, managed.LateApplication},
		{"what moved it", func(s *fixture, r *managed.Job) { r.PromiseMovedBy = managed.Outaged; s.seen(ordinary) }, managed.Outaged},
		{"an ordinary job past its limit", func(s *fixture, _ *managed.Job) { s.gone = t0 + 50; s.seen(ordinary) }, managed.OrdinaryOverrun},
		{"… within its guard", func(s *fixture, _ *managed.Job) { j := ordinary; j.Limit = 71; s.seen(j) }, managed.BatchSystem},
		{"… that ends", func(s *fixture, _ *managed.Job) { j := ordinary; j.State = adapter.Ending; s.seen(j) }, managed.BatchSystem},
		{"… that is an expander", func(s *fixture, _ *managed.Job) { j := ordinary; j.Expands = 7; s.seen(j) }, managed.BatchSystem},
		{"… without a limit", func(s *fixture, _ *managed.Job) {
			j := ordinary
			j.Started, j.Limit = t0-core.Forever, core.Forever
			s.seen(j)
		}, managed.BatchSystem},
		{"… that is managed", func(s *fixture, r *managed.Job) { s.v.Snapshot.Jobs[0].Started, s.v.Snapshot.Jobs[0].Limit = 1, 1 }, managed.BatchSystem},
		{"a node that was lost", func(s *fixture, _ *managed.Job) { s.gone = t0 }, managed.LostNode},
		{"… before it was planned", func(s *fixture, _ *managed.Job) { s.gone = t0 - 1 }, managed.BatchSystem},
		{"another that is late", func(s *fixture, _ *managed.Job) {
			s.manages(8, managed.Running, func(r *managed.Job) { r.Late = true })
		}, managed.LateShrinker},
		{"another that is not", func(s *fixture, _ *managed.Job) { s.manages(8, managed.Running, nil) }, managed.BatchSystem},
	} {
		s := newFixture(t)
		r := s.manages(7, managed.Running, nil)
		c.change(s, r)
		if got := s.likelyCause(s.v, r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
