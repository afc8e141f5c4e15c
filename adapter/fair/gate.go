package fair

import (
	"context"
	"sync"
	"time"
)

// A Gate bounds how many calls are made at the same time. Kept places are only for readings and
// acceptances. The same number of further places is for users who have no call under way, so that a
// few users with slow calls do not keep other users out.
type Gate struct {
	places, kept int
	now          func() time.Time

	mu      sync.Mutex
	inside  int
	of      map[uint32]int // calls under way per user
	ledger  Ledger
	waiting [Kinds]*Queue[*entrant]
}

type entrant struct {
	Asker
	in chan struct{} // closed when the entrant gets a place
}

// NewGate returns a gate with the given number of places. At most a quarter of them are kept.
func NewGate(places, kept int, now func() time.Time) *Gate {
	g := &Gate{places: places, kept: min(kept, places/4), now: now, of: map[uint32]int{}}
	for kind := range g.waiting {
		g.waiting[kind] = NewQueue[*entrant](&g.ledger)
	}
	return g
}

// Enter waits for a place for the context's asker. It returns an error only if ctx ends first. The
// caller calls `leave` to release the place.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	e := &entrant{Asker: Of(ctx), in: make(chan struct{})}
	g.mu.Lock()
	g.waiting[e.Kind].Push(e.User, e)
	g.let()
	g.mu.Unlock()
	select {
	case <-e.in:
	default:
		select {
		case <-e.in:
		case <-ctx.Done():
			if !g.giveUp(e) {
				return nil, ctx.Err()
			}
		}
	}
	return sync.OnceFunc(func() { g.leave(e) }), nil
}

// giveUp removes an entrant that no longer waits. It reports whether the entrant got a place in the
// meantime.
func (g *Gate) giveUp(e *entrant) (in bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-e.in:
		return true
	default:
		g.waiting[e.Kind].Drop(e.User, e)
		return false
	}
}

func (g *Gate) leave(e *entrant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.of[e.User]--; g.of[e.User] == 0 {
		delete(g.of, e.User)
	}
	g.let()
}

// let admits every entrant for which there is a place, readings and acceptances first. A user
// without a place does not block other users. The caller holds the lock.
func (g *Gate) let() {
	for kind := Kinds - 1; kind >= 0; kind-- {
		q := g.waiting[kind]
		may := func(user uint32) bool { return g.inside < g.open(Asker{user, kind}) }
		for user, e, ok := q.NextOf(may); ok; user, e, ok = q.NextOf(may) {
			q.Drop(user, e)
			g.ledger.Charge(user, 1, g.now())
			g.inside++
			g.of[user]++
			close(e.in)
		}
	}
}

// open returns how many places are open to the asker. Some places are not open to users who already
// have a call under way.
func (g *Gate) open(a Asker) int {
	switch {
	case a.Kind == Accepting || a.Kind == Reading:
		return g.places
	case a.Kind == Releasing || g.of[a.User] == 0:
		return g.places - g.kept
	default:
		return g.places - 2*g.kept
	}
}
