package adapter_test

import (
	"sync"
	"testing"
	"time"

	"accordion/adapter"
)

// settable is the bubble's clock with somebody's hand on it.
type settable struct {
	adapter.Wall
	lock  sync.Mutex
	ahead time.Duration
	real  map[time.Time]time.Time // the bubble's time of each reading
}

var _ adapter.Stopwatch = (*settable)(nil)

func (c *settable) Now() time.Time {
	c.lock.Lock()
	defer c.lock.Unlock()
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

func (c *settable) set(ahead time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.ahead = ahead
}

// The batch system has the true time, and so have the seconds that it writes down.
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
