package actions

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
)

// A recorder records in which order the journal was written and the batch system was called.
type recorder struct {
	Journal
	adapter.BatchSystem
	did           []string
	begin, finish error
}

func (d *recorder) Begin(in journal.Intent) (int64, error) {
	d.did = append(d.did, "intent "+in.Verb)
	return 1, d.begin
}

func (d *recorder) Finish(int64, time.Time, error) error {
	d.did = append(d.did, "outcome")
	return d.finish
}

func (d *recorder) Hold(context.Context, adapter.Key) error {
	d.did = append(d.did, "act")
	return nil
}

func TestACallIsMadeBetweenItsIntentAndItsOutcome(t *testing.T) {
	full := errors.New("no space left on device")
	for _, c := range []struct {
		name          string
		begin, finish error
		did           []string
		broken        bool
	}{
		{"the journal can be written", nil, nil, []string{"intent hold", "act", "outcome"}, false},
		{"the intent cannot be written", full, nil, []string{"intent hold"}, true},
		{"the outcome cannot be written", nil, full, []string{"intent hold", "act", "outcome"}, true},
	} {
		d := &recorder{begin: c.begin, finish: c.finish}
		a := &Caller{System: d, Journal: d, Meter: NoMeter{}, Clock: adapter.Wall{}, Deadline: time.Second}
		err := a.Hold(t.Context(), adapter.Key{ID: 1})
		if !slices.Equal(d.did, c.did) || (Broken(err) != nil) != c.broken {
			t.Errorf("%s: %q, %v; want %q, a journal that is broken: %t", c.name, d.did, err, c.did, c.broken)
		}
	}
}

// launcher is a batch system whose answer to one verb is lost. It is also a journal that keeps
// nothing.
type launcher struct {
	adapter.BatchSystem
	Journal
	lost string
}

func (l launcher) call(verb string) error {
	if verb == l.lost {
		return context.DeadlineExceeded
	}
	return nil
}

func (l launcher) Reserve(context.Context, adapter.Reservation) error      { return l.call("reserve") }
func (l launcher) Shape(context.Context, adapter.Key, adapter.Shape) error { return l.call("shape") }
func (l launcher) Attach(context.Context, adapter.Key, string) error       { return l.call("attach") }
func (l launcher) Release(context.Context, adapter.Key) error              { return l.call("release") }
func (launcher) Begin(journal.Intent) (int64, error)                       { return 1, nil }
func (launcher) Finish(int64, time.Time, error) error                      { return nil }

// A failed call may still have started the job. The job then keeps its nodes.
func TestALaunchThatFailedMayStillStartTheJob(t *testing.T) {
	for lost, want := range map[string]bool{"reserve": false, "shape": false, "attach": true, "release": true} {
		l := launcher{lost: lost}
		a := &Caller{System: l, Journal: l, Meter: NoMeter{}, Clock: adapter.Wall{}, Deadline: time.Minute}
		var got Result
		err := a.Do(t.Context(), Prepare{}, &got)
		if err == nil {
			err = a.Do(t.Context(), Launch{}, &got)
		}
		if !errors.Is(err, context.DeadlineExceeded) || got.Launched != want {
			t.Errorf("the answer to %s is lost: %v, launched %t, want %t", lost, err, got.Launched, want)
		}
	}
}
