package decide

import (
	"testing"
	"time"

	"accordion/adapter/managed"
	"accordion/core"
)

func TestWhyAStepBeginsWhenItDoes(t *testing.T) {
	asks := func(at core.Time) *managed.Question { return &managed.Question{At: time.Unix(at, 0)} }
	const meant = now + 100
	for _, c := range []struct {
		name    string
		advance bool
		change  func(*managed.Job)
		now     core.Time
		want    string
	}{
		{"in time", false, nil, meant, ""},
		{"at the end of its tolerance", false, nil, meant + 2, ""},
		{"at the end of the other", false, nil, meant - 2, ""},
		{"early", false, nil, meant - 3, "3 s before the planned second, which delays nobody"},
		{"no obstacle is known, and it is late", false, nil, meant + 3, ""},
		{"its nodes were late", false, func(r *managed.Job) { r.Obstacle = managed.LateShrinker }, meant + 3, "3 s after the planned second: another evolving job gave its nodes back late"},
		{"its nodes were late within the tolerance", false, func(r *managed.Job) { r.Obstacle = managed.LateShrinker }, meant + 2, ""},
		{"the application was late", false, func(r *managed.Job) { r.Question, r.OverrunUsed = asks(meant+13), 13 }, meant + 13, "the application was 13 s late, 13 s in all of the 60 s that it may be"},
		{"the application was late by what it is forgiven", false, func(r *managed.Job) { r.Question, r.SidecarDelay = asks(meant+12), 10 }, meant + 12, ""},
		{"… and a second more", false, func(r *managed.Job) { r.Question, r.SidecarDelay, r.OverrunUsed = asks(meant+13), 10, 3 }, meant + 13, "the application was 3 s late, 3 s in all of the 60 s that it may be"},
		{"an outage made it late", false, func(r *managed.Job) { r.Question, r.OutageCost, r.SidecarDelay = asks(meant+30), 30, 5 }, meant + 31, "31 s after the planned second: the batch system did not answer for a while, which cost the application 25 s"},
		{"an outage, and it was in time", false, func(r *managed.Job) { r.Question, r.OutageCost, r.SidecarDelay = asks(meant+7), 30, 5 }, meant + 2, ""},
		{"it was early and waited", false, func(r *managed.Job) { r.Question = asks(meant - 10) }, meant, "the application asked 10 s early and waited for the planned second"},
		{"it was early within the tolerance", false, func(r *managed.Job) { r.Question = asks(meant - 2) }, meant, ""},
		{"it was early, and others came first", true, func(r *managed.Job) { r.Question = asks(meant - 10) }, meant, "the application was 10 s early and had to wait: going on at once would have delayed others"},
		{"it was early, and delayed no other job", true, func(r *managed.Job) { r.Question, r.Promise[0] = asks(meant-10), meant-8 }, meant, "the application was 10 s early and might have gone on 8 s ago: the batch system was slow, or resized others first"},
		{"it was early, and a node booted", true, func(r *managed.Job) {
			r.Question, r.Promise[0], r.Obstacle = asks(meant-10), meant-3, managed.BootingNode
		}, meant, "the application was 10 s early and might have gone on 3 s ago: a node that was powered down had to boot"},
		{"… in time", true, func(r *managed.Job) { r.Question, r.Promise[0] = asks(meant-10), meant-2 }, meant, "the application was 10 s early and had to wait: going on at once would have delayed others"},
	} {
		r := running(0, 100)
		if c.change != nil {
			c.change(r)
		}
		settings := managed.Settings{Advance: c.advance, Overrun: managed.Overrun{Least: 60}}
		if got := because(settings, r, meant, c.now); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
