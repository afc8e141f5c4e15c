// Package fair shares scarce calls among the users of a cluster. The user with the least recent use
// comes next. A single user may use all places except those that are kept free. Several users get
// equal shares.
//
//	queue := fair.NewQueue[*call](&ledger)
//	queue.Push(uid, call)
//	uid, call, ok := queue.Next() // the first item of the user with the least recent use
//	queue.Drop(uid, call)
//	ledger.Charge(uid, 1, now)
package fair

import (
	"context"
	"math"
	"time"
)

// A Kind is the purpose of a scarce call. Places are kept free for all kinds but Acting.
type Kind int

// The kinds.
const (
	Acting    Kind = iota // starts, growths, reservations and the like
	Releasing             // shrinks, because other jobs may wait for the released nodes
	Accepting             // adopting or refusing jobs that were just submitted
	Reading               // observing the batch system
	Kinds                 // the number of kinds
)

// An Asker is a user for whom a call is made, and the kind of the call. The zero Asker is the
// sidecar itself.
type Asker struct {
	User uint32
	Kind Kind
}

type askerKey struct{}

// With returns a context whose calls are made for the asker.
func With(ctx context.Context, a Asker) context.Context { return context.WithValue(ctx, askerKey{}, a) }

// For returns a context whose calls are made for the given user. Their kind is that of ctx.
func For(ctx context.Context, user uint32) context.Context {
	return With(ctx, Asker{User: user, Kind: Of(ctx).Kind})
}

// As returns a context whose calls have the given kind. Their user is that of ctx.
func As(ctx context.Context, k Kind) context.Context {
	return With(ctx, Asker{User: Of(ctx).User, Kind: k})
}

// Of returns the asker for whom the calls of the context are made.
func Of(ctx context.Context) Asker {
	a, _ := ctx.Value(askerKey{}).(Asker)
	return a
}

// halfLife is the time after which a user's past use counts only half. It is long enough that a
// user who asks all the time stays behind a user who asks now and then. It is short enough that no
// user waits because of their use an hour ago.
const halfLife = 2 * time.Minute

// A Ledger has the recent use of each user. The zero Ledger is empty.
type Ledger struct {
	had  map[uint32]float64 // the use of each user, as it counted at the instant `base`
	base time.Time
}

// negligible is the amount below which a user is forgotten.
const negligible = 0.01

// Charge adds an amount to the user's use. A negative amount takes an earlier charge back.
func (l *Ledger) Charge(user uint32, amount float64, now time.Time) {
	if l.had == nil {
		l.had, l.base = map[uint32]float64{}, now
	}
	if l.halves(now) > 30 || l.halves(now) < -30 { // the second case occurs if a clock was set
		l.rebase(now)
	}
	l.had[user] = max(0, l.had[user]+amount*math.Exp2(l.halves(now)))
}

// Had returns the user's recent use. The longer ago an amount was charged, the less it counts.
func (l *Ledger) Had(user uint32, now time.Time) float64 {
	return l.had[user] * math.Exp2(-l.halves(now))
}

// Mean returns the mean recent use of the users whose use is not negligible.
func (l *Ledger) Mean(now time.Time) float64 {
	sum, users, least := 0.0, 0, negligible*math.Exp2(l.halves(now))
	for _, had := range l.had {
		if had >= least {
			sum, users = sum+had, users+1
		}
	}
	return sum / float64(max(users, 1)) * math.Exp2(-l.halves(now))
}

// Less reports whether one user has less recent use than the other.
func (l *Ledger) Less(one, other uint32) bool { return l.had[one] < l.had[other] }

func (l *Ledger) halves(now time.Time) float64 { return float64(now.Sub(l.base)) / float64(halfLife) }

// rebase sets the base to now, and forgets users with negligible use.
func (l *Ledger) rebase(now time.Time) {
	by := math.Exp2(-max(0, l.halves(now)))
	for user, had := range l.had {
		if l.had[user] = had * by; l.had[user] < negligible {
			delete(l.had, user)
		}
	}
	l.base = now
}

// A Queue has the waiting items of users. Items of one user come in their order. The user with the
// least recent use comes first. Several queues may use one ledger.
type Queue[T comparable] struct {
	ledger *Ledger
	lines  map[uint32][]waiting[T]
	pushed uint64
	length int
}

// NewQueue returns an empty queue that uses the ledger.
func NewQueue[T comparable](l *Ledger) *Queue[T] {
	return &Queue[T]{ledger: l, lines: map[uint32][]waiting[T]{}}
}

type waiting[T any] struct {
	item T
	at   uint64
}

// Push adds an item behind the user's other items.
func (q *Queue[T]) Push(user uint32, item T) {
	q.pushed++
	q.length++
	q.lines[user] = append(q.lines[user], waiting[T]{item, q.pushed})
}

// Next returns the item that comes next, and leaves it in the queue. Among users with the same use,
// the user who has waited longest comes first.
func (q *Queue[T]) Next() (user uint32, item T, ok bool) {
	return q.NextOf(func(uint32) bool { return true })
}

// NextOf returns the same as Next, but considers only users for whom the function `may` returns
// true.
func (q *Queue[T]) NextOf(may func(user uint32) bool) (user uint32, item T, ok bool) {
	var first waiting[T]
	for u, line := range q.lines {
		if !may(u) {
			continue
		}
		if !ok || q.ledger.Less(u, user) || !q.ledger.Less(user, u) && line[0].at < first.at {
			user, first, ok = u, line[0], true
		}
	}
	return user, first.item, ok
}

// Drop removes an item from any position in the queue.
func (q *Queue[T]) Drop(user uint32, item T) {
	line := q.lines[user]
	for i := range line {
		if line[i].item != item {
			continue
		}
		q.length--
		if len(line) == 1 {
			delete(q.lines, user)
		} else {
			q.lines[user] = append(line[:i:i], line[i+1:]...)
		}
		return
	}
}

// Len returns how many items wait.
func (q *Queue[T]) Len() int { return q.length }

// Users returns how many users wait.
func (q *Queue[T]) Users() int { return len(q.lines) }
