package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/apps"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// Settings of the machine, in seconds. They are short, because only the order of events matters.
const (
	answer  = 5
	grace   = 20
	bringUp = 20
)

// killRate is the number of times, in 1,000 turns, that the loop of applications is killed.
const killRate = 7

// appLoop simulates the loop of applications. One goroutine owns it.
type appLoop struct {
	dice      dice
	begin     time.Time
	clusters  []*world
	makes     int // index of the cluster that itself submits the jobs of parts; negative if there is none
	machine   *apps.Machine
	states    [2]*mailbox.ClusterState
	records   map[int64][]byte // the loop's journal: records of applications, by number
	peers     map[uint64]*conn
	last      uint64
	in        chan func()
	ended     chan struct{}
	users     sync.WaitGroup
	strangers sync.WaitGroup
	turns     int
	writes    int // number of writes to the journal
	tally     *tally
	stood     map[readyPart]bool
	ranks     map[int64]core.Time       // rank of each application, as first written into the journal
	forged    map[readyPart]adapter.Key // jobs of the hostile user
}

// conn is one session of a launcher or a part.
type conn struct {
	id   uint64
	user *user
	part readyPart             // the part; zero if the session is a launcher's
	seq  int64                 // number of the peer's last message
	said chan launcher.Message // messages to the peer
}

// readyPart identifies the batch job of a part that may report at the barrier that it is ready.
type readyPart struct {
	cluster string
	job     core.JobID
}

func (d *appLoop) names() (all []apps.Cluster) {
	for c := range d.clusters {
		all = append(all, apps.Cluster{Name: clusterName(c), Speed: 1, Embedded: c == d.makes})
	}
	return all
}

func clusterName(c int) string { return string(rune('a' + c)) }

func (d *appLoop) note(format string, args ...any) {
	for _, w := range d.clusters {
		w.note(format, args...)
	}
}

// start makes a machine from the records in the journal.
func (d *appLoop) start() {
	var all []apps.Record
	for id, data := range d.records {
		all = append(all, apps.Record{ID: id, Data: data})
	}
	slices.SortFunc(all, func(a, b apps.Record) int { return int(a.ID - b.ID) })
	m, err := apps.New(time.Now().Unix(), d.names(), nil, apps.Settings{
		FairStart: 5, Timer: 1, Answer: answer, Grace: grace, BringUp: bringUp, Guard: 30, Applications: 20, Pace: 1,
	}, all)
	if err != nil {
		d.clusters[0].violation("the loop of applications does not begin: %v", err)
		return
	}
	d.machine, d.states = m, [2]*mailbox.ClusterState{}
}

// run serves until all users have left and nothing is left of their applications.
func (d *appLoop) run(over <-chan struct{}) {
	d.start()
	for {
		d.turns++
		if time.Since(d.begin) < d.clusters[0].scenario.calm && d.clusters[0].scenario.deaths > 0 && d.dice.chance(killRate, "the loop dies", d.turns) {
			d.die("between two turns")
		}
		for c, w := range d.clusters {
			if b := w.box().State(); b != nil && b != d.states[c] {
				d.states[c] = b
				d.machine.Step(time.Now().Unix(), apps.StateShown{Cluster: c, State: b})
			}
		}
		d.carry() // so that the journal has everything that happened before the pass
		if d.machine.Next() <= time.Now().Unix() {
			d.machine.Wake(time.Now().Unix())
			d.carry()
		}
		d.wait()
		select {
		case <-over:
			if left := d.left(); left == "" || time.Since(d.begin) > longestWait {
				if left != "" {
					d.clusters[0].violation("there are left: %s", left)
				}
				for _, w := range d.clusters {
					w.box().Order(nil)
				}
				return
			}
		default:
		}
	}
}

// left returns what is left of applications, including jobs that were submitted for them.
func (d *appLoop) left() (left string) {
	for _, a := range d.machine.Snapshot().Applications {
		left += fmt.Sprintf("application %+v; ", a)
	}
	for c, w := range d.clusters { // the machine may not know jobs that were submitted after the last reading
		snapshot, err := w.system.Observe(context.Background())
		if err != nil {
			return err.Error()
		}
		for i := range snapshot.Jobs {
			if j := &snapshot.Jobs[i]; adapter.IsPart(j) {
				left += fmt.Sprintf("job %d on %s; ", j.ID, clusterName(c))
			}
		}
	}
	return left
}

// wait waits for an event: a message of a launcher or a part, a new state of a cluster, or a second at which something is due.
func (d *appLoop) wait() {
	due := time.Until(adapter.Instant(min(d.machine.Next(), time.Now().Unix()+5)))
	select {
	case f := <-d.in:
		f()
		return
	case <-d.clusters[0].box().Shown():
	case <-d.clusters[1].box().Shown():
	case <-time.After(due):
	}
	time.Sleep(d.dice.span(time.Millisecond, 250*time.Millisecond, "turn", d.turns)) // so that events that arrive close together are handled together
}

// die simulates kill -9 of the loop: a new loop starts with only the journal, and all peers must connect again.
func (d *appLoop) die(when string) {
	d.note("the loop of applications is killed %s", when)
	d.tally.add("the loop of applications begins again", 1)
	for id, p := range d.peers {
		close(p.said)
		delete(d.peers, id)
	}
	d.start()
}

// carry writes the records that the machine decided, in one transaction, and then sends the messages
// and orders. The loop may be killed before and after the write, and between messages and orders.
func (d *appLoop) carry() {
	e := d.machine.Effects()
	writes := len(e.Stored)+len(e.Deleted) > 0
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
		d.judgeRank(r)
		d.judgeNames(r)
	}
	for _, id := range e.Deleted {
		delete(d.records, id)
	}
	if dies("after a write") {
		return
	}
	for _, n := range e.Notes {
		d.note("application %d: %s: %s", n.Application, n.Verb, n.Text)
		d.tally.add("application: "+n.Verb, 1)
		if n.Verb == "go" {
			d.judgeGo(n.Application)
		}
	}
	for _, o := range e.Ordered {
		d.clusters[o.Cluster].note("orders: %+v", o.All)
		d.clusters[o.Cluster].box().Order(o.All)
	}
	if dies("before its words") {
		return
	}
	for _, x := range e.Sent {
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

// judgeGo checks, when an application's parts may pass the barrier, that all of them have arrived. No
// code of the user may run while a part is missing.
func (d *appLoop) judgeGo(id int64) {
	for _, a := range d.machine.Snapshot().Applications {
		if a.ID != id {
			continue
		}
		parts := slices.DeleteFunc(a.Parts, func(p view.ApplicationPart) bool { return p.Hosts == 0 })
		for _, p := range parts {
			made := d.makes >= 0 && p.Cluster == clusterName(d.makes)
			if len(parts) > 1 && !made && !d.stood[readyPart{p.Cluster, p.Job}] {
				d.clusters[0].violation("application %d was let through, and its part on %s, job %d, was not at the barrier", id, p.Cluster, p.Job)
			}
		}
	}
}

// judgeRank checks that an application keeps its rank, even after a process was killed.
func (d *appLoop) judgeRank(r apps.Record) {
	var a struct { // some fields of apps.Application
		Rank core.Time `json:"rank"`
	}
	if json.Unmarshal(r.Data, &a) != nil || a.Rank == 0 {
		return // the record is the counter of numbers, or the application has no rank yet
	}
	if first, known := d.ranks[r.ID]; known && first != a.Rank {
		d.clusters[0].violation("application %d had rank %d, and has %d", r.ID, first, a.Rank)
	}
	d.ranks[r.ID] = a.Rank
}

// tell lets the loop's goroutine call f. It does nothing if the loop has ended.
func (d *appLoop) tell(f func()) {
	select {
	case d.in <- f:
	case <-d.ended:
	}
}

// connect starts a session.
func (d *appLoop) connect(u *user, hello launcher.Message) *conn {
	p := &conn{user: u, said: make(chan launcher.Message, 200)}
	ready := make(chan struct{})
	d.tell(func() {
		d.last++
		p.id = d.last
		d.peers[p.id] = p
		close(ready)
	})
	select {
	case <-ready:
	case <-d.ended:
	}
	d.send(p, hello)
	return p
}

// send sends a message, and returns its number.
func (d *appLoop) send(p *conn, x launcher.Message) int64 {
	p.seq++
	seq := p.seq
	d.tell(func() {
		if d.peers[p.id] == nil {
			return
		}
		if hello, ok := x.(*launcher.Hello); ok && hello.Part != nil {
			p.part = readyPart{hello.Part.Cluster, core.JobID(hello.Part.Job)}
		}
		if _, ready := x.(*launcher.Ready); ready {
			d.stood[p.part] = true
		}
		d.machine.Step(time.Now().Unix(), apps.Received{Session: p.id, User: p.user.name, Seq: seq, Message: x})
	})
	return seq
}

// hangUp ends a session.
func (d *appLoop) hangUp(p *conn) {
	d.tell(func() {
		if d.peers[p.id] != nil {
			delete(d.peers, p.id)
			d.machine.Step(time.Now().Unix(), apps.Disconnected{Session: p.id})
		}
	})
}
