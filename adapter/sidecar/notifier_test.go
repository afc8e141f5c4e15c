package sidecar_test

import (
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
)

// notifying is a batch system that counts its readings and reports changes.
type notifying struct {
	*counted
	changes chan struct{}
}

func (h notifying) Changes() <-chan struct{} { return h.changes }

// inNotifyingWorld does what inRestingWorld does, with a batch system that reports a change when
// the story calls `call`.
func inNotifyingWorld(t *testing.T, story func(w *world, c *counted, call func())) {
	t.Helper()
	inRestingWorld(t, embedded.Options{Nodes: 16}, func(w *world, c *counted) {
		h := notifying{counted: c, changes: make(chan struct{}, 1)}
		w.halt()
		w.outer = h
		w.serve()
		story(w, c, func() {
			select {
			case h.changes <- struct{}{}:
			default:
			}
		})
	})
}

var _ adapter.ChangeNotifier = notifying{}

func TestAChangeNotificationBringsOnAReading(t *testing.T) {
	inNotifyingWorld(t, func(w *world, _ *counted, call func()) {
		w.at(101)
		id := w.evolving("2x20s,5x20s")
		call()
		w.at(102)
		if job, err := w.Inspect(t.Context(), id); err != nil || job.State != adapter.Running {
			t.Errorf("a second after it was announced, on an empty machine, the job is %v, %v\n%s", job, err, w.journalled())
		}
	})
}

func TestManyNotificationsDoNotBringOnManyReadings(t *testing.T) {
	inNotifyingWorld(t, func(w *world, c *counted, call func()) {
		w.at(100)
		begin, before := time.Now(), c.readings()
		for range 6000 {
			call()
			time.Sleep(10 * time.Millisecond)
		}
		if most := c.most(time.Second, begin); most > 5 {
			t.Errorf("it is read up to %d times in a second", most)
		}
		if n := c.readings() - before; n < 200 {
			t.Errorf("it is read %d times in a minute of calls, want four times a second", n)
		}
		c.is(false, 3*time.Second)
		w.at(300)
		begin = time.Now()
		for range 6000 {
			call()
			time.Sleep(10 * time.Millisecond)
		}
		if most := c.most(time.Minute, begin); most > 7 {
			t.Errorf("at its limits it is read up to %d times in a minute", most)
		}
	})
}

func TestWithoutNotificationsReadingsArePeriodic(t *testing.T) {
	inNotifyingWorld(t, func(w *world, c *counted, _ func()) {
		w.at(150)
		calm := time.Now()
		w.at(500)
		if most := c.most(time.Minute, calm); most > 13 || most < 10 {
			t.Errorf("it is read up to %d times in a minute, want 12", most)
		}
	})
}
