package demo

import (
	"container/heap"
	"context"
	"math"
	"runtime/metrics"
	"sync"
	"time"
)

// `tick` is the interval of the demo's clock. `mostAtOnce` limits the wall time that one tick adds. `mostHeld` is the
// maximum time for which the clock stops because this process is busy.
const (
	tick       = time.Millisecond
	mostAtOnce = 2 * tick
	mostHeld   = time.Second
)

// steadyClock is a clock that runs faster than the wall clock. It stops while this process works, or waits for a processor or the disk.
// Otherwise, at 90 times the speed of the wall clock, a delay of 0.1 s would delay a growth by 9 s and break its promise. So on a busy
// machine the demo takes longer, but has the same results.
type steadyClock struct {
	factor int
	idle   func() bool // reports whether this process waits, so that the clock may continue
	ticked time.Time   // last tick, in wall time
	held   time.Time   // since when the clock is stopped, in wall time; zero if it runs

	mu     sync.Mutex
	now    time.Time
	timers timers
}

func newSteadyClock(begin time.Time, factor int) *steadyClock {
	return &steadyClock{factor: factor, idle: idleProcess(), now: begin, ticked: begin}
}

// idleProcess returns a function that reports whether all goroutines except its caller wait. Some goroutines stay in a system call forever,
// such as the goroutine that waits for signals. So the smallest number of goroutines in system calls that the function has seen counts as
// waiting.
func idleProcess() func() bool {
	counts := []metrics.Sample{
		{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}, {Name: "/sched/goroutines/not-in-go:goroutines"},
	}
	forever := uint64(math.MaxUint64)
	return func() bool {
		metrics.Read(counts)
		outside := counts[2].Value.Uint64()
		forever = min(forever, outside)
		return counts[0].Value.Uint64() <= 1 && counts[1].Value.Uint64() == 0 && outside == forever
	}
}

// run runs the clock until ctx ends.
func (c *steadyClock) run(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			c.tick(time.Now())
		}
	}
}

// tick adds the wall time since the previous tick, at most mostAtOnce, unless this process is busy. It ends the waits that have become due.
func (c *steadyClock) tick(wall time.Time) {
	passed := min(wall.Sub(c.ticked), mostAtOnce)
	c.ticked = wall
	if !c.idle() {
		if c.held.IsZero() {
			c.held = wall
		}
		if wall.Sub(c.held) < mostHeld {
			return
		}
	}
	c.held = time.Time{}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(passed * time.Duration(c.factor))
	for len(c.timers) > 0 && !c.timers[0].at.After(c.now) {
		heap.Pop(&c.timers).(timer).ends <- c.now
	}
}

// Now implements adapter.Clock.
func (c *steadyClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After implements adapter.Clock.
func (c *steadyClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ends := make(chan time.Time, 1)
	heap.Push(&c.timers, timer{c.now.Add(max(d, 0)), ends})
	return ends
}

// timer is one wait.
type timer struct {
	at   time.Time
	ends chan<- time.Time
}

// timers is a heap of waits, ordered by their ends.
type timers []timer

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at.Before(t[j].at) }
func (t timers) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *timers) Push(x any)        { *t = append(*t, x.(timer)) }

func (t *timers) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	*t = (*t)[:last]
	return x
}
