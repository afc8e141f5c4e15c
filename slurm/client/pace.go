package client

import (
	"context"
	"sync"
	"time"
)

// slurmctld answers clients one after the other, and every user of the cluster waits while it does. So the programs that
// begin in any minute are counted, and where the administrator sets a bound it holds, whatever happens: an act waits for its
// turn before it begins, with room for all of its programs, so that it is not stopped halfway; a reading leaves a quarter
// of the minute to the acts.

// LeastClients is the smallest bound on client programs a minute: the longest act has room, and readings beside it.
const LeastClients = 20

// Costs is how many programs an act runs when nothing goes wrong and consoles carry out what they can; what it needs beyond
// that it waits for, and so does a console that has to be started.
var Costs = map[string]int{
	"adopt": 1, "refuse": 2, "expand": 1, "merge": 3, "shrink": 2, "signal": 1, "publish": 1, "end": 1,
}

// CostsAlone is the same where scontrol carries out one command a program.
var CostsAlone = map[string]int{
	"observe": 2, "adopt": 4, "refuse": 3, "reserve": 2, "unreserve": 1, "shape": 4, "attach": 2, "release": 2, "hold": 4,
	"detach": 3, "expand": 4, "merge": 6, "shrink": 5, "signal": 2, "tell": 2, "publish": 1, "nudge": 4, "end": 3,
}

// minute is what the bound counts.
const minute = time.Minute

// Allowance counts the programs that begin, and keeps them below its limit in any minute.
type Allowance struct {
	Limit int // 0: none

	mu      sync.Mutex
	total   int64
	begun   []time.Time   // of the last minute, oldest first
	kept    int           // programs that may begin at any instant: of admitted acts, and those whose turn has come
	spared  time.Time     // up to when those that leave room to others have had their even share
	changed chan struct{} // closed when room came up otherwise than by time
}

// ticket is programs that may begin: those that an admitted act has left, when it travels in a context.
type ticket struct{ left int }

type ticketKey struct{}

func newAllowance(limit int) *Allowance {
	return &Allowance{Limit: limit, changed: make(chan struct{})}
}

// Turn waits until one more program may begin. The caller then tells by begin that it does, or by give that it does not.
func (a *Allowance) Turn(ctx context.Context) (*ticket, error) {
	one := &ticket{left: 1}
	of, _ := ctx.Value(ticketKey{}).(*ticket)
	return one, a.wait(ctx, func() time.Duration {
		switch {
		case of != nil && of.left > 0:
			of.left--
		case a.Limit > 0 && len(a.begun)+a.kept >= a.Limit:
			return minute
		default:
			a.kept++
		}
		return 0
	})
}

// Begin counts a program that begins now.
func (a *Allowance) Begin(t *ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t.left--
	a.kept--
	a.total++
	if a.Limit > 0 {
		a.forget(time.Now())
		a.begun = append(a.begun, time.Now())
	}
}

// Admit waits until cost programs and spare others could begin, and keeps the cost for the context it returns. Who spares
// room for others comes at even distances after the first few: no minute is without a reading.
func (a *Allowance) Admit(ctx context.Context, cost, spare int) (context.Context, func(), error) {
	if a.Limit == 0 || cost == 0 {
		return ctx, func() {}, nil
	}
	if err := a.wait(ctx, func() time.Duration { return a.room(cost, spare) }); err != nil {
		return nil, nil, err
	}
	admitted, done := a.entitle(ctx, cost)
	return admitted, done, nil
}

// Try is admit for one program, now or not at all.
func (a *Allowance) Try(ctx context.Context, spare int) (context.Context, func(), bool) {
	if a.Limit == 0 {
		return ctx, func() {}, true
	}
	a.mu.Lock()
	a.forget(time.Now())
	later := a.room(1, spare)
	a.mu.Unlock()
	if later > 0 {
		return ctx, nil, false
	}
	admitted, done := a.entitle(ctx, 1)
	return admitted, done, true
}

// room keeps room for cost programs, and says 0, or after how long there may be some. The caller holds the lock.
func (a *Allowance) room(cost, spare int) time.Duration {
	if len(a.begun)+a.kept+cost+spare > a.Limit {
		return minute
	}
	if spare > 0 {
		room := time.Duration(a.Limit - spare)
		if early := time.Until(a.spared.Add(-minute / 2)); early > 0 { // a third of the room is ahead of its time
			return early
		}
		if now := time.Now(); a.spared.Before(now) {
			a.spared = now
		}
		a.spared = a.spared.Add(minute * time.Duration(cost) * 3 / (room * 2))
	}
	a.kept += cost
	return 0
}

// entitle makes a context with which cost programs may begin, for which room is kept.
func (a *Allowance) entitle(ctx context.Context, cost int) (context.Context, func()) {
	t := &ticket{left: cost}
	return context.WithValue(ctx, ticketKey{}, t), func() { a.give(t) }
}

// give takes back what was not used.
func (a *Allowance) give(t *ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept -= t.left
	t.left = 0
	close(a.changed)
	a.changed = make(chan struct{})
}

// wait tries until it succeeds, which is 0, or ctx ends; each try is made alone, and says after how long the next may succeed.
func (a *Allowance) wait(ctx context.Context, try func() time.Duration) error {
	for {
		a.mu.Lock()
		a.forget(time.Now())
		pause := try()
		if pause == 0 {
			a.mu.Unlock()
			return nil
		}
		changed := a.changed
		if len(a.begun) > 0 {
			pause = min(pause, time.Until(a.begun[0].Add(minute)))
		}
		a.mu.Unlock()
		timer := time.NewTimer(max(pause, time.Millisecond))
		select {
		case <-timer.C:
		case <-changed:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// forget drops what began longer than a minute ago.
func (a *Allowance) forget(now time.Time) {
	n := 0
	for n < len(a.begun) && now.Sub(a.begun[n]) >= minute {
		n++
	}
	a.begun = append(a.begun[:0], a.begun[n:]...)
}
