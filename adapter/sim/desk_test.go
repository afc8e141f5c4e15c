package sim

import (
	"slices"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/adapter/applications"
	"accordion/adapter/part"
	"accordion/shim/wire/launcher"
)

// deadly is at how many of a thousand turns the loop of applications is killed.
const deadly = 7

// desk is the loop of applications. One goroutine owns it.
type desk struct {
	dice     dice
	begin    time.Time
	clusters []*world
	makes    int // the cluster that makes its parts itself; below 0: none
	machine  *applications.Machine
	boards   [2]*part.Board
	records  map[int64][]byte // its journal
	peers    map[uint64]*cable
	last     uint64
	in       chan func()
	users    sync.WaitGroup
	turns    int
	writes   int // of its journal
	went     int
}

// cable is one session: what is said to its peer.
type cable struct {
	id   uint64
	said chan launcher.Message
}

func (d *desk) names() (all []applications.Cluster) {
	for c := range d.clusters {
		all = append(all, applications.Cluster{Name: clusterName(c), Speed: 1, Embedded: c == d.makes})
	}
	return all
}

func clusterName(c int) string { return string(rune('a' + c)) }

func (d *desk) note(format string, args ...any) {
	for _, w := range d.clusters {
		w.note(format, args...)
	}
}

// start makes the machine of what its journal has.
func (d *desk) start() {
	var all []applications.Record
	for id, data := range d.records {
		all = append(all, applications.Record{ID: id, Data: data})
	}
	slices.SortFunc(all, func(a, b applications.Record) int { return int(a.ID - b.ID) })
	m, err := applications.New(time.Now().Unix(), d.names(), nil, applications.Settings{
		FairStart: 5, Timer: 1, Answer: 30, Grace: 60, BringUp: 40, Guard: 30, Applications: 20, Pace: 1,
	}, all)
	if err != nil {
		d.clusters[0].blame("the loop of applications does not begin: %v", err)
		return
	}
	d.machine, d.boards = m, [2]*part.Board{}
}

// run serves until all users have gone and nothing is left of their applications.
func (d *desk) run(over <-chan struct{}) {
	d.start()
	for {
		d.turns++
		if time.Since(d.begin) < d.clusters[0].story.calm && d.clusters[0].story.deaths > 0 && d.dice.chance(deadly, "the loop dies", d.turns) {
			d.die("between two turns")
		}
		for c, w := range d.clusters {
			if b := w.parts.Board(); b != nil && b != d.boards[c] {
				d.boards[c] = b
				d.machine.Step(time.Now().Unix(), applications.Shown{Cluster: c, Board: b})
			}
		}
		d.carry() // all that came before a pass is in the journal
		if d.machine.Next() <= time.Now().Unix() {
			d.machine.Wake(time.Now().Unix())
			d.carry()
		}
		d.wait()
		select {
		case <-over:
			if left := len(d.machine.Snapshot().Applications); left == 0 || time.Since(d.begin) > lateness {
				if left > 0 {
					d.clusters[0].blame("%d applications are left: %+v", left, d.machine.Snapshot().Applications)
				}
				for _, w := range d.clusters {
					w.parts.Order(nil)
				}
				return
			}
		default:
		}
	}
}

// wait lets something happen: a word of a launcher or a part, a new board, or a second at which something falls due.
func (d *desk) wait() {
	due := time.Until(adapter.Instant(min(d.machine.Next(), time.Now().Unix()+5)))
	select {
	case f := <-d.in:
		f()
		return
	case <-d.clusters[0].parts.Shown():
	case <-d.clusters[1].parts.Shown():
	case <-time.After(due):
	}
	time.Sleep(d.dice.span(time.Millisecond, 100*time.Millisecond, "turn", d.turns)) // what comes together is taken together
}

// die is kill -9: another begins with the journal alone, and everybody has to come back.
func (d *desk) die(when string) {
	d.note("the loop of applications is killed %s", when)
	for id, p := range d.peers {
		close(p.said)
		delete(d.peers, id)
	}
	d.start()
}

// carry writes what the machine decided, in one transaction, and does it. The loop may be killed before and after the write, and between
// orders and words.
func (d *desk) carry() {
	e := d.machine.Effects()
	writes := len(e.Stored)+len(e.Gone) > 0
	if writes {
		d.writes++
	}
	dies := func(when string) bool {
		if !writes || !d.clusters[0].fatal("death of the loop "+when, d.writes) {
			return false
		}
		d.die(when)
		return true
	}
	if dies("before a write") {
		return
	}
	for _, r := range e.Stored {
		d.records[r.ID] = r.Data
	}
	for _, id := range e.Gone {
		delete(d.records, id)
	}
	if dies("after a write") {
		return
	}
	for _, n := range e.Notes {
		d.note("application %d: %s: %s", n.Application, n.Verb, n.Text)
		if n.Verb == "go" {
			d.went++
		}
	}
	for _, o := range e.Ordered {
		d.clusters[o.Cluster].note("orders: %+v", o.All)
		d.clusters[o.Cluster].parts.Order(o.All)
	}
	if dies("before its words") {
		return
	}
	for _, x := range e.Said {
		p := d.peers[x.Session]
		if p == nil {
			continue
		}
		if x.Message != nil {
			d.note("said to %d: %s %+v", x.Session, x.Message.Type(), x.Message)
			p.said <- x.Message
		}
		if x.Close {
			close(p.said)
			delete(d.peers, x.Session)
		}
	}
}

// connect begins a session.
func (d *desk) connect(user string, hello launcher.Message) *cable {
	p := &cable{said: make(chan launcher.Message, 200)}
	ready := make(chan struct{})
	d.in <- func() {
		d.last++
		p.id = d.last
		d.peers[p.id] = p
		close(ready)
	}
	<-ready
	d.send(p, user, hello)
	return p
}

func (d *desk) send(p *cable, user string, x launcher.Message) {
	d.in <- func() {
		if d.peers[p.id] != nil {
			d.machine.Step(time.Now().Unix(), applications.Heard{Session: p.id, User: user, Seq: 1, Message: x})
		}
	}
}

// hangUp ends a session.
func (d *desk) hangUp(p *cable) {
	d.in <- func() {
		if d.peers[p.id] != nil {
			delete(d.peers, p.id)
			d.machine.Step(time.Now().Unix(), applications.Left{Session: p.id})
		}
	}
}
