package session

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"sync"
	"time"

	"accordion/adapter/fair"
)

// A standing is what the directory of users says of a uid.
type standing int

const (
	nameless standing = iota // it names no user of this host
	presumed                 // the directory has not answered: taken for a user
	named
)

// A client is who has an equal share of the sessions: a user, or all uids without a name together. One user can have thousands of
// those in a user namespace (/etc/subuid).
type client struct {
	standing standing
	uid      uint32 // 0 where nameless
}

func (c client) String() string {
	if c.standing == nameless {
		return "users without a name have"
	}
	return fmt.Sprintf("user %d has", c.uid)
}

// A place is one of the sessions that may be open.
type place struct {
	client client
	end    func() // ends the session that has it
}

// A verdict is what the directory said of a uid, and until when that holds.
type verdict struct {
	standing standing
	until    time.Time // zero: for good
}

const (
	mostLookups  = 16          // at once: each takes a thread until the directory answers, which may be never
	mostVerdicts = 65_536      // that are remembered
	verdictKept  = time.Minute // of a uid without a name, or without an answer
)

// places are the sessions that are open. One client has most of them at most; where all are taken, each client has an equal share: the
// newest session of the client with the most ends for that of another. Nobody waits for the directory: a uid of which nothing is known
// yet has a place as a user, and the answer moves it to the others without a name.
type places struct {
	all, most int
	hasName   func(uid uint32) (bool, error) // may take long

	mu       sync.Mutex
	open     int
	of       map[client][]*place // oldest first
	verdicts map[uint32]verdict
	asking   map[uint32]bool // look-ups under way
}

func newPlaces(all, most int, hasName func(uint32) (bool, error)) *places {
	return &places{all: all, most: most, hasName: hasName, of: map[client][]*place{}, verdicts: map[uint32]verdict{}, asking: map[uint32]bool{}}
}

// systemHasName reports whether the operating system (nsswitch) knows a user of that uid.
func systemHasName(uid uint32) (bool, error) {
	_, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if unknown := user.UnknownUserIdError(0); errors.As(err, &unknown) {
		return false, nil
	}
	return err == nil, err
}

// enter counts a session in that end ends, or says why it may not come in.
func (p *places) enter(uid uint32, end func()) (one *place, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	who := p.client(uid)
	switch own := len(p.of[who]); {
	case own >= p.mostOf(who):
		return nil, fmt.Sprintf("%v %d sessions open, as many as one user may have", who, own)
	case p.open >= p.all:
		last := p.displaced(who)
		if last == nil {
			return nil, fmt.Sprintf("%d sessions are open, as many as there may be (max_sessions)", p.open)
		}
		p.drop(last)
		go last.end() // it may take its time
	}
	one = &place{who, end}
	p.open++
	p.of[who] = append(p.of[who], one)
	if who.standing == presumed && len(p.asking) < mostLookups {
		p.ask()
	}
	return one, ""
}

// client returns as whose a session of the uid counts.
func (p *places) client(uid uint32) client {
	v, known := p.verdicts[uid]
	switch {
	case uid == 0:
		return client{named, uid}
	case !known || v.standing == nameless && p.old(v):
		return client{presumed, uid}
	case v.standing == nameless:
		return client{standing: nameless}
	}
	return client{v.standing, uid}
}

func (p *places) old(v verdict) bool { return !v.until.IsZero() && time.Now().After(v.until) }

// mostOf returns how many places the client may have.
func (p *places) mostOf(who client) int {
	if who.standing == nameless {
		return min(p.most, PerUser(p.all))
	}
	return p.most
}

// displaced returns the place that a session of the client takes where all are taken; nil: none.
func (p *places) displaced(who client) *place {
	var largest, lesser []*place
	for c, all := range p.of {
		if len(all) > len(largest) {
			largest = all
		}
		if c.standing < who.standing && (lesser == nil || c.standing < lesser[0].client.standing) {
			lesser = all
		}
	}
	switch own := len(p.of[who]); {
	case len(largest) > own+1:
		return largest[len(largest)-1]
	case own == 0 && lesser != nil:
		return lesser[len(lesser)-1]
	}
	return nil
}

// ask begins to look up the name of a client of whom nothing is known; the next one's when that is answered.
func (p *places) ask() {
	for c := range p.of {
		if v, asked := p.verdicts[c.uid]; c.standing != presumed || p.asking[c.uid] || asked && !p.old(v) {
			continue
		}
		p.asking[c.uid] = true
		go func() {
			has, err := p.hasName(c.uid)
			p.settle(c.uid, has, err)
		}()
		return
	}
}

// settle takes in what the directory says. A uid that has a name once keeps it: the directory may be away later, and say that there is
// no such user.
func (p *places) settle(uid uint32, has bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.asking, uid)
	v := verdict{standing: nameless, until: time.Now().Add(verdictKept)}
	switch {
	case err != nil:
		v.standing = presumed
	case has:
		v = verdict{standing: named}
	}
	if _, again := p.verdicts[uid]; !again && len(p.verdicts) >= mostVerdicts {
		p.forget()
	}
	p.verdicts[uid] = v
	if v.standing != presumed {
		p.move(client{presumed, uid}, p.client(uid))
	}
	p.ask()
}

// forget drops what was said of one uid, of one without a name where there is any.
func (p *places) forget() {
	var last uint32
	for uid, v := range p.verdicts {
		if last = uid; v.standing != named {
			break
		}
	}
	delete(p.verdicts, last)
}

// move counts the places of one client as another's. Those beyond what that may have end.
func (p *places) move(from, to client) {
	all := p.of[from]
	delete(p.of, from)
	for _, one := range all {
		one.client = to
		if len(p.of[to]) >= p.mostOf(to) {
			p.open--
			go one.end()
			continue
		}
		p.of[to] = append(p.of[to], one)
	}
}

// leave gives a place back. One that was given to another user is no longer there.
func (p *places) leave(one *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(one)
}

func (p *places) drop(one *place) {
	i := slices.Index(p.of[one.client], one)
	if i < 0 {
		return
	}
	p.open--
	if p.of[one.client] = slices.Delete(p.of[one.client], i, i+1); len(p.of[one.client]) == 0 {
		delete(p.of, one.client)
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
