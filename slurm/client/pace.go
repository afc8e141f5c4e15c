package client

import (
	"context"
	"sync"
	"time"

	"accordion/adapter/fair"
)

// slurmctld answers clients one after the other, so each client program delays every user of the cluster. Therefore
// the programs that begin in any minute are counted, and never exceed the administrator's limit. An action waits
// before it begins until there are places for all of its programs, so that it does not stop halfway. A reading
// leaves a quarter of the minute's places to the actions. Users have equal shares (see Allowance).

// LeastClients is the smallest limit on client programs in a minute. It is enough for the longest action and for
// readings.
const LeastClients = 20

// Costs holds the number of programs that each action runs if nothing goes wrong and consoles carry out what they
// can. An action that needs more programs, or a new console, waits for further places.
var Costs = map[string]int{
	"adopt": 1, "refuse": 2, "expand": 1, "merge": 3, "shrink": 2, "signal": 1, "publish": 1, "end": 1,
}

// CostsAlone holds the same numbers for a Slurm without consoles, where each scontrol carries out one command.
var CostsAlone = map[string]int{
	"observe": 2, "adopt": 4, "refuse": 3, "reserve": 2, "unreserve": 1, "shape": 4, "attach": 2, "release": 2, "hold": 4,
	"detach": 3, "expand": 4, "merge": 6, "shrink": 5, "signal": 2, "tell": 2, "publish": 1, "nudge": 4, "end": 3,
}

// minute is the period of the limit.
const minute = time.Minute

// An Allowance limits the number of programs that begin in any minute. Actions wait in a queue that is fair to
// users (package fair). Some places are kept free for readings, for the acceptance of new jobs, and for users who
// began few programs in the last minute.
type Allowance struct {
	Limit int // 0 means no limit

	mu      sync.Mutex
	total   int64
	begun   []start // in the last minute, oldest first
	used    usage   // programs that began in the last minute, and programs that may begin at any time because their action was admitted or their turn has come
	kept    int     // number of programs that may begin at any time
	acts    fair.Ledger
	taken   fair.Ledger // acceptances
	waiting [fair.Kinds]*fair.Queue[*waiter]
	tried   map[fair.Asker]*waiter // waiters whose last call of Try found no room; they keep their place in the queue
	spared  time.Time              // waiters that leave room for others have used the evenly spaced places up to this time
	spaced  time.Time              // when the next of the evenly spaced actions may begin
	changed chan struct{}          // closed when places become free before their minute ends
}

// A start is the beginning of a program.
type start struct {
	at time.Time
	by fair.Asker
}

// A waiter waits for places for its programs.
type waiter struct {
	fair.Asker
	cost, spare int
	until       time.Time // at this time the waiter loses its place in the queue unless Try is called again
}

// patience is how long a waiter keeps its place in the queue after the time that Try returned.
const patience = time.Second

// A Ticket holds the number of programs that may still begin. The context of an admitted action carries a Ticket.
type Ticket struct {
	left int
	by   fair.Asker
}

type ticketKey struct{}

func newAllowance(limit int) *Allowance {
	a := &Allowance{Limit: limit, used: usage{acts: map[uint32]int{}}, tried: map[fair.Asker]*waiter{}, changed: make(chan struct{})}
	for kind := range a.waiting {
		a.waiting[kind] = fair.NewQueue[*waiter](a.ledger(fair.Kind(kind)))
	}
	return a
}

// ledger returns the ledger to which actions of the kind are charged.
func (a *Allowance) ledger(k fair.Kind) *fair.Ledger {
	if k == fair.Accepting || k == fair.Reading {
		return &a.taken
	}
	return &a.acts
}

// usage counts the used places of a minute, by kind of action and by user.
type usage struct {
	all  int
	of   [fair.Kinds]int
	acts map[uint32]int // by user
}

func (u *usage) add(by fair.Asker, n int) {
	u.all += n
	if u.of[by.Kind] += n; by.Kind == fair.Accepting || by.Kind == fair.Reading {
		return
	}
	if u.acts[by.User] += n; u.acts[by.User] == 0 {
		delete(u.acts, by.User)
	}
}

// keptForReadings returns how many programs of a minute are kept free for readings. The same number is kept
// free for acceptances.
func keptForReadings(limit int) int { return max(limit/8, 2) }

// keptForNewUsers returns how many programs of a minute are kept free for shrinks. Users who began few programs in
// that minute may also use two thirds of these.
func keptForNewUsers(limit int) int { return limit * 3 / 8 }

// fewPrograms returns how many programs a user may begin in a minute so that the user's use still counts as small.
// `users` is how many users begin programs. The result is at most an equal share. If there is only one user, it is
// the whole limit.
func fewPrograms(limit, users int) int {
	if users < 2 {
		return limit
	}
	return largest(limit) / users
}

// largest returns how many places one action may have if no other action uses any.
func largest(limit int) int { return limit - 2*keptForReadings(limit) - keptForNewUsers(limit) }

// open returns how many programs a waiter's action could begin now.
func (a *Allowance) open(w *waiter) int {
	open := a.Limit - a.used.all
	unclaimed := func(k fair.Kind) int { return max(0, keptForReadings(a.Limit)-a.used.of[k]) }
	if w.Kind == fair.Reading {
		return open
	}
	if open -= unclaimed(fair.Reading); w.Kind == fair.Accepting {
		return open
	}
	open -= unclaimed(fair.Accepting)
	switch {
	case a.hadFewLately(w):
		return open
	case w.Kind == fair.Releasing:
		return open - keptForNewUsers(a.Limit)/3
	default:
		return open - keptForNewUsers(a.Limit)
	}
}

// hasFew reports whether a waiter's user began few programs in this minute.
func (a *Allowance) hasFew(w *waiter) bool {
	return a.used.acts[w.User]+w.cost <= fewPrograms(a.Limit, a.users(w.User))
}

// users returns how many users began programs in this minute or wait to begin some. It includes the user `one` and
// excludes the sidecar itself.
func (a *Allowance) users(one uint32) int {
	users := max(len(a.used.acts), a.waiting[fair.Acting].Users())
	if a.used.acts[0] > 0 {
		users--
	}
	if a.used.acts[one] == 0 && len(a.used.acts) > 0 {
		users = max(users, len(a.used.acts)+1)
	}
	return users
}

// hadFewLately reports whether a waiter's user began few programs, either in this minute or, compared with other
// users, in recent minutes.
func (a *Allowance) hadFewLately(w *waiter) bool {
	now := time.Now()
	return a.hasFew(w) || a.users(w.User) > 1 && a.acts.Had(w.User, now) < a.acts.Mean(now)/2
}

// Turn waits until one more program may begin, and reserves its place. The caller then calls Begin, or `give` if
// the program does not begin.
func (a *Allowance) Turn(ctx context.Context) (*Ticket, error) {
	one := &Ticket{left: 1, by: fair.Of(ctx)}
	of, _ := ctx.Value(ticketKey{}).(*Ticket)
	return one, a.wait(ctx, func() time.Duration {
		switch {
		case of != nil && of.left > 0:
			of.left--
			one.by = of.by
		case a.Limit > 0 && a.used.all >= a.Limit:
			return minute
		default:
			a.reserve(one.by, 1)
		}
		return 0
	})
}

// Begin counts a program that begins now.
func (a *Allowance) Begin(t *Ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t.left--
	a.kept--
	a.total++
	if a.Limit > 0 {
		a.forget(time.Now())
		a.begun = append(a.begun, start{time.Now(), t.by})
	} else {
		a.used.add(t.by, -1)
	}
}

// Admit waits until `cost` programs may begin for the context's asker. It returns a context in which their places
// are reserved. It does not wait if the given context already has enough places left. A reading leaves `spare`
// further places free. After the first few, readings are evenly spaced over the minute, and each minute has at
// least one.
func (a *Allowance) Admit(ctx context.Context, cost, spare int) (context.Context, func(), error) {
	if a.Limit == 0 || cost == 0 || a.admitted(ctx, cost) {
		return ctx, func() {}, nil
	}
	w := &waiter{Asker: fair.Of(ctx), cost: min(cost, largest(a.Limit)), spare: spare}
	q := a.waiting[w.Kind]
	a.mu.Lock()
	q.Push(w.User, w)
	a.mu.Unlock()
	err := a.wait(ctx, func() time.Duration { return a.room(w) })
	a.mu.Lock()
	q.Drop(w.User, w)
	a.wake() // another waiter is first now
	a.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	admitted, done := a.entitle(ctx, w)
	return admitted, done, nil
}

// admitted reports whether the context has a Ticket for at least `cost` programs.
func (a *Allowance) admitted(ctx context.Context, cost int) bool {
	of, _ := ctx.Value(ticketKey{}).(*Ticket)
	if of == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return of.left >= cost
}

// Try does what Admit does, but does not wait. If there is no room, it returns the time after which there may be
// room. The asker keeps its place in the queue until shortly after that time.
func (a *Allowance) Try(ctx context.Context, cost, spare int) (context.Context, func(), time.Duration) {
	if a.Limit == 0 || cost == 0 {
		return ctx, func() {}, 0
	}
	a.mu.Lock()
	a.forget(time.Now())
	w, tried := a.tried[fair.Of(ctx)]
	if !tried {
		w = &waiter{Asker: fair.Of(ctx)}
		a.waiting[w.Kind].Push(w.User, w)
		a.tried[w.Asker] = w
	}
	w.cost, w.spare = min(cost, largest(a.Limit)), spare
	later := a.room(w)
	if later > 0 && w.Kind != fair.Reading {
		later = a.soonest(later)
		w.until = time.Now().Add(later + patience)
	} else {
		a.leaveQueue(w)
	}
	a.mu.Unlock()
	if later > 0 {
		return ctx, nil, later
	}
	admitted, done := a.entitle(ctx, w)
	return admitted, done, 0
}

// leaveQueue removes a waiter of Try from the queue.
func (a *Allowance) leaveQueue(w *waiter) {
	a.waiting[w.Kind].Drop(w.User, w)
	delete(a.tried, w.Asker)
	a.wake() // another waiter is first now
}

// room reserves places for a waiter and returns 0. If no places are free, it returns the time after which there
// may be some. The caller holds the lock.
func (a *Allowance) room(w *waiter) time.Duration {
	open := a.open(w)
	if w.cost > open || a.mustYield(w, open) {
		return minute
	}
	if early := a.early(w); early > 0 {
		return early
	}
	if w.spare > 0 {
		if claimed := w.Kind == fair.Reading && a.used.of[fair.Reading]+w.cost <= keptForReadings(a.Limit); w.cost+w.spare > open && !claimed {
			return minute
		}
		room := time.Duration(a.Limit - w.spare)
		if early := time.Until(a.spared.Add(-minute / 2)); early > 0 { // a third of the places may be used ahead of time
			return early
		}
		if now := time.Now(); a.spared.Before(now) {
			a.spared = now
		}
		a.spared = a.spared.Add(minute * time.Duration(w.cost) * 3 / (room * 2))
	}
	a.reserve(w.Asker, w.cost)
	return 0
}

// mustYield reports whether another waiter comes before `w`. Usually that is the first waiter of the same kind. It
// does not come before `w` if `w` may use the places kept for users who began few programs and the first waiter may
// not. A shrink also comes before another action if there is no room for both.
func (a *Allowance) mustYield(w *waiter, open int) bool {
	if _, first, _ := a.waiting[w.Kind].Next(); w.Kind != fair.Reading && first != w {
		if w.Kind != fair.Acting || !a.hadFewLately(w) || a.hadFewLately(first) {
			return true
		}
	}
	_, first, waits := a.waiting[fair.Releasing].Next()
	return w.Kind == fair.Acting && waits && w.cost+first.cost > open
}

// early returns how long an action must still wait because actions are evenly spaced. They are if several users
// begin programs and a quarter of the minute's places is used. Without that the first actions would use all places
// of the minute, and every other user would wait for the next minute.
func (a *Allowance) early(w *waiter) time.Duration {
	if w.Kind != fair.Acting || a.hasFew(w) || a.users(w.User) < 2 || a.used.of[fair.Acting]+w.cost <= largest(a.Limit)/4 {
		return 0
	}
	now := time.Now()
	if early := a.spaced.Sub(now); early > 0 {
		return early
	}
	a.spaced = now.Add(a.each(w.cost))
	return 0
}

// each returns the time over which the given number of evenly spaced programs is spread.
func (a *Allowance) each(programs int) time.Duration {
	return minute * time.Duration(programs) / time.Duration(largest(a.Limit))
}

// reserve reserves places for programs of an asker. The caller holds the lock.
func (a *Allowance) reserve(by fair.Asker, cost int) {
	a.kept += cost
	a.used.add(by, cost)
	a.ledger(by.Kind).Charge(by.User, float64(cost), time.Now())
}

// entitle returns a context with a Ticket for the places that are reserved for a waiter.
func (a *Allowance) entitle(ctx context.Context, w *waiter) (context.Context, func()) {
	t := &Ticket{left: w.cost, by: w.Asker}
	return context.WithValue(ctx, ticketKey{}, t), func() { a.giveBack(t) }
}

// giveBack releases the places that were not used.
func (a *Allowance) giveBack(t *Ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept -= t.left
	a.used.add(t.by, -t.left)
	a.ledger(t.by.Kind).Charge(t.by.User, -float64(t.left), time.Now())
	if a.Limit > 0 {
		a.spaced = a.spaced.Add(-a.each(t.left))
	}
	t.left = 0
	a.wake()
}

// wake wakes all waiters, which check again. The caller holds the lock.
func (a *Allowance) wake() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// soonest returns the time, at most `pause`, after which places may have become free. The caller holds the lock.
func (a *Allowance) soonest(pause time.Duration) time.Duration {
	if len(a.begun) > 0 {
		pause = min(pause, time.Until(a.begun[0].at.Add(minute)))
	}
	return max(pause, time.Millisecond)
}

// wait calls `try` until it returns 0 or ctx ends. `try` is called with the lock held, and returns the time
// after which the next call may succeed.
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
		timer := time.NewTimer(a.soonest(pause))
		a.mu.Unlock()
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

// forget drops the programs that began more than a minute ago, and the waiters that did not try again in time.
func (a *Allowance) forget(now time.Time) {
	n := 0
	for n < len(a.begun) && now.Sub(a.begun[n].at) >= minute {
		a.used.add(a.begun[n].by, -1)
		n++
	}
	a.begun = append(a.begun[:0], a.begun[n:]...)
	for _, w := range a.tried {
		if now.After(w.until) {
			a.leaveQueue(w)
		}
	}
}
