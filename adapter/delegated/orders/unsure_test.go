package orders

import (
	"context"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/managed"
	"accordion/adapter/sidecar"
	"accordion/core"
)

// set is a clock whose time the test sets.
type set struct{ at time.Time }

func (c *set) Now() time.Time                     { return c.at }
func (*set) After(time.Duration) <-chan time.Time { return nil }

func TestReleaseThatTimedOutCountsAsUnderWayUntilALaterReading(t *testing.T) {
	clock := &set{time.Unix(int64(now), 0)}
	var taken, begun managed.Epoch = 3, 3
	k := New(mailbox.New(), sidecar.PartsHost{Clock: clock, Refresh: func() {}, Epochs: func() (managed.Epoch, managed.Epoch) { return taken, begun }})
	e := &entry{step: Step{Verb: Start}}
	k.failed(e, context.DeadlineExceeded)
	for _, c := range []struct {
		after        time.Duration
		taken, begun managed.Epoch
		what         string
		unsure       bool
	}{
		{managed.LateCall - time.Second, 4, 4, "it may still come", true},
		{time.Second, 5, 6, "no reading began since", true},
		{time.Second, 6, 6, "the newest began before it was too late", true},
		{time.Second, 7, 7, "a reading of later is there", false},
	} {
		clock.at, taken, begun = clock.at.Add(c.after), c.taken, c.begun
		if k.settle(e); e.memory.Unsure != c.unsure {
			t.Errorf("%s: unsure %t", c.what, e.memory.Unsure)
		}
	}
	if k.failed(e, adapter.ErrBusy); e.memory.Unsure {
		t.Error("a release that was refused is taken for under way")
	}
}

// A job may be held and tied to its reservation when a sidecar starts. The previous sidecar may have been releasing the job when it died.
func TestJobTiedAtTheStartOfASidecarMayStillBeReleasedByTheLastOne(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		job   adapter.Job
		want  Verb
	}{
		{0, tying, Nothing}, {0, released, Hold}, {0, held, Nothing}, {time.Minute, tying, Hold},
	} {
		clock := &set{time.Unix(int64(now), 0)}
		k := New(mailbox.New(), sidecar.PartsHost{
			Clock: clock, Settings: managed.Settings{Deadline: 5 * time.Second},
			Epochs:   func() (managed.Epoch, managed.Epoch) { return 1, 1 },
			Reserved: func(string) (adapter.Reservation, bool) { return *reserved(two), true },
		})
		k.Look(now, &adapter.Snapshot{})
		clock.at = clock.at.Add(c.after)
		k.mailbox.Order([]mailbox.Order{{Application: 7, Job: 5, Want: mailbox.Drop, Try: 1, Hosts: 2}})
		k.Look(now, &adapter.Snapshot{Jobs: []adapter.Job{c.job}})
		e := k.parts[name{7, core.JobID(5)}]
		if got := Next(e.order, Observation{Job: e.job, Reservation: reserved(two)}, e.memory).Verb; got != c.want {
			t.Errorf("%v after it began, of %+v: %q, want %q", c.after, c.job, got, c.want)
		}
	}
}
