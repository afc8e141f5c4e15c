package sidecar_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
)

// settable is the virtual clock of synctest, which tests can set.
type settable struct {
	adapter.Wall
	lock  sync.Mutex
	ahead time.Duration
	looks int                     // number of calls of Now until the clock is set; 0 if it is not set
	then  time.Duration           // by how much the clock is ahead after that
	real  map[time.Time]time.Time // the virtual time of each result of Now
}

var _ adapter.SettableClock = (*settable)(nil)

func (c *settable) Now() time.Time {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.looks > 0 {
		if c.looks--; c.looks == 0 {
			c.ahead = c.then
		}
	}
	now := time.Now()
	shown := now.Add(c.ahead).Round(0)
	c.real[shown] = now
	return shown
}

func (c *settable) Passed(from, to time.Time) time.Duration {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.real[to].Sub(c.real[from])
}

// setAfter sets the clock right before a later call of Now. `looks` is the number of that call, and
// 1 means the next call.
func (c *settable) setAfter(looks int, ahead time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.looks, c.then = looks, ahead
}

func (c *settable) set(ahead time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.ahead = ahead
}

// The batch system has the true time, and its readings have seconds of the true time.
func TestAClockThatIsSetForwardAndBackAgainEndsNoJobAndMovesNoStep(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"an hour forward": time.Hour, "an hour back": -time.Hour, "five seconds forward": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				w.halt()
				clock := &settable{real: map[time.Time]time.Time{}}
				w.clock = clock
				w.serve()
				job := w.evolving("2x20s,5x20s,3x20s")
				w.at(10)
				before := w.nodesAt(job, 9)
				clock.set(ahead)
				w.at(16)
				clock.set(0)
				w.quiet(200)
				if got := w.steps(job); got != "2 5 3" || before == "" {
					t.Errorf("it held %s\n%s", w.sizes(job), w.journalled())
				}
				for _, span := range w.record(job).Spans {
					if end := span.To.Sub(w.begin); end > 70*time.Second {
						t.Errorf("it held %s until second %.0f, want 70 at most", span.Node, end.Seconds())
					}
				}
				w.clean()
			})
		})
	}
}

// A cycle reads the clock many times. The clock may be set between any two of these readings.
func TestAClockThatIsSetAtAnyLookAtItEndsNoJobAndMovesNoStep(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		for looks := 1; looks <= 60; looks++ {
			t.Run(fmt.Sprintf("%v, look %d", ahead, looks), func(t *testing.T) {
				inWorld(t, slurmish, func(w *world) {
					w.halt()
					clock := &settable{real: map[time.Time]time.Time{}}
					w.clock = clock
					w.serve()
					job := w.evolving("2x20s,5x20s,3x20s")
					w.at(10)
					clock.setAfter(looks, ahead)
					w.at(15)
					clock.setAfter(looks, 0)
					w.quiet(200)
					if got := w.steps(job); got != "2 5 3" {
						t.Errorf("it held %s\n%s", w.sizes(job), w.journalled())
					}
					for _, span := range w.record(job).Spans {
						if end := span.To.Sub(w.begin); end > 70*time.Second {
							t.Errorf("it held %s until second %.0f, want 70 at most", span.Node, end.Seconds())
						}
					}
				})
			})
		}
	}
}
