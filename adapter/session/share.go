package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"accordion/adapter/fair"
)

// A place is one of the sessions that may be open.
type place struct {
	uid uint32
	end func() // ends the session that has it
}

// places are the sessions that are open. One user has most of them at most; where all are taken, each user has an equal share: the
// newest session of the user with the most ends for that of another.
type places struct {
	all, most int

	mu   sync.Mutex
	open int
	of   map[uint32][]*place // oldest first
}

// enter counts a session in that end ends, or says why it may not come in.
func (p *places) enter(uid uint32, end func()) (one *place, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.of[uid]) >= p.most:
		return nil, fmt.Sprintf("user %d has %d sessions open, as many as one user may have", uid, len(p.of[uid]))
	case p.open >= p.all:
		last := p.largest()
		if last == nil || len(p.of[last.uid]) <= len(p.of[uid])+1 {
			return nil, fmt.Sprintf("%d sessions are open, as many as there may be (max_sessions)", p.open)
		}
		p.drop(last)
		go last.end() // it may take its time
	}
	one = &place{uid, end}
	p.open++
	p.of[uid] = append(p.of[uid], one)
	return one, ""
}

// largest returns the newest place of the user who has most.
func (p *places) largest() *place {
	var most []*place
	for _, all := range p.of {
		if len(all) > len(most) {
			most = all
		}
	}
	if len(most) == 0 {
		return nil
	}
	return most[len(most)-1]
}

// leave gives a place back. One that was given to another user is no longer there.
func (p *places) leave(one *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(one)
}

func (p *places) drop(one *place) {
	i := slices.Index(p.of[one.uid], one)
	if i < 0 {
		return
	}
	p.open--
	if p.of[one.uid] = slices.Delete(p.of[one.uid], i, i+1); len(p.of[one.uid]) == 0 {
		delete(p.of, one.uid)
	}
}

// desk hands requests to the loop, those of the users first of whom it heard least lately. Each cycle of the loop may be a plan: without
// turns the requests of one user would keep those of others waiting for as many.
type desk struct {
	mu      sync.Mutex
	ledger  fair.Ledger
	waiting *fair.Queue[*Call]
	pushed  chan struct{} // has a word when something was put in
}

func newDesk() *desk {
	d := &desk{pushed: make(chan struct{}, 1)}
	d.waiting = fair.NewQueue[*Call](&d.ledger)
	return d
}

func (d *desk) push(c *Call) {
	d.mu.Lock()
	d.waiting.Push(c.UID, c)
	d.mu.Unlock()
	select {
	case d.pushed <- struct{}{}:
	default:
	}
}

func (d *desk) drop(c *Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting.Drop(c.UID, c)
}

// pop takes out the one that comes next; nil: nobody waits.
func (d *desk) pop() *Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	uid, c, _ := d.waiting.Next()
	if c != nil {
		d.waiting.Drop(uid, c)
		d.ledger.Charge(uid, 1, time.Now())
	}
	return c
}

// hand gives the requests to the loop until ctx ends.
func (d *desk) hand(ctx context.Context, to chan<- Call) {
	for {
		c := d.pop()
		if c == nil {
			select {
			case <-d.pushed:
			case <-ctx.Done():
				return
			}
			continue
		}
		select {
		case to <- *c:
		case <-c.Gone:
		case <-ctx.Done():
			return
		}
	}
}
