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

// A standing tells what the user directory (nsswitch) knows about a uid.
type standing int

const (
	nameless standing = iota // the uid belongs to no user of this host
	presumed                 // the directory has not answered, and the uid counts as a user until it does
	named
)

// A client is a user, or all uids without a name together. Each client has an equal share of the
// sessions. One user can have thousands of such uids in a user namespace (/etc/subuid).
type client struct {
	standing standing
	uid      uint32 // 0 if nameless
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
	end    func() // ends the session that has the place
}

// A verdict is the directory's answer about a uid, and has an expiry.
type verdict struct {
	standing standing
	until    time.Time // zero if it does not expire
}

const (
	mostLookups  = 16          // maximum number of concurrent lookups: each takes a thread until the directory answers, which it may never do
	mostVerdicts = 65_536      // maximum number of verdicts that are kept
	verdictKept  = time.Minute // lifetime of a verdict on a uid without a name or without an answer
)

// places has the open sessions. One client may have at most a part of them (mostOf). If all places
// are taken, each client has an equal share: a session of a client with few sessions replaces the
// newest session of the client with the most. No session waits for the directory. A uid that is not
// known yet counts as a user. If the directory answers that the uid has no name, its places then
// count as places of the uids without a name.
type places struct {
	all, most int
	hasName   func(uid uint32) (bool, error) // may take long

	mu       sync.Mutex
	open     int
	of       map[client][]*place // oldest first
	verdicts map[uint32]verdict
	asking   map[uint32]bool // uids with a lookup under way
}

func newPlaces(all, most int, hasName func(uint32) (bool, error)) *places {
	return &places{all: all, most: most, hasName: hasName, of: map[client][]*place{}, verdicts: map[uint32]verdict{}, asking: map[uint32]bool{}}
}

// systemHasName reports whether the operating system (nsswitch) knows a user with that uid.
func systemHasName(uid uint32) (bool, error) {
	_, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if unknown := user.UnknownUserIdError(0); errors.As(err, &unknown) {
		return false, nil
	}
	return err == nil, err
}

// enter adds a session, or returns why there is no place for it. The function `end` ends the
// session.
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
		go last.end() // ending the session may take long
	}
	one = &place{who, end}
	p.open++
	p.of[who] = append(p.of[who], one)
	if who.standing == presumed && len(p.asking) < mostLookups {
		p.ask()
	}
	return one, ""
}

// client returns the client under which a session of the uid counts.
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

// displaced returns the place that a new session of the client takes from another session if all
// places are taken, and nil if it may take none.
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

// ask starts to look up a uid about which nothing is known yet. After the answer the next such uid
// is looked up.
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

// settle applies the directory's answer. A uid that once had a name keeps it, because a directory
// that is down may report later that the user does not exist.
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

// forget removes one verdict, preferably one on a uid without a name.
func (p *places) forget() {
	var last uint32
	for uid, v := range p.verdicts {
		if last = uid; v.standing != named {
			break
		}
	}
	delete(p.verdicts, last)
}

// move counts the places of the client `from` as places of the client `to`. Places beyond the bound
// of `to` end.
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

// leave releases a place, unless the place was given to another user.
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

// desk passes requests to the loop. Users with the fewest recent requests come first. Each cycle of
// the loop may compute a plan. If users did not take turns, each request of one user would delay
// the requests of others by a cycle.
type desk struct {
	mu      sync.Mutex
	ledger  fair.Ledger
	waiting *fair.Queue[*Call]
	pushed  chan struct{} // receives a value when a request was added
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

// pop removes and returns the next request, and nil if there is none.
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

// hand passes the requests to the loop until ctx ends.
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
