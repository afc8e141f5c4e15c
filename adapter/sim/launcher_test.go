package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/core"
	"accordion/core/delegated"
	"accordion/shim/wire/launcher"
)

// user is a user who runs one application with a launcher.
type user struct {
	loop     *appLoop
	name     string
	how      behavior
	at       time.Duration
	whim     time.Duration // time after its connection at which the launcher misbehaves
	nth      int
	hosts    []launcher.Hosts // the clusters on which the user has jobs
	wants    []launcher.Hosts // the number of hosts that the launcher requests on each of these clusters
	walltime int64
	lasts    time.Duration

	app     int64
	jobs    map[int]adapter.Key
	view    int64 // number of the newest view
	tag     int64
	lies    []lie            // false messages that the launcher has not sent yet
	lastLie *lie             // the last false message, which must be refused; nil if there is none
	lieSeq  int64            // number of the last false message
	next    <-chan time.Time // when the launcher sends its next request
	away    time.Duration
	gone    bool
}

// behavior is how a launcher behaves.
type behavior string

const (
	honest    behavior = "honest"
	lying     behavior = "lying"     // sends impossible requests before its real request
	fickle    behavior = "fickle"    // changes its request with each view
	doubled   behavior = "doubled"   // connects a second time
	fleeting  behavior = "fleeting"  // disconnects, and comes back in time or too late
	mute      behavior = "mute"      // subscribes, and then sends nothing
	dying     behavior = "dying"     // disappears forever, and leaves its jobs
	withdrawn behavior = "withdrawn" // the user withdraws the application
)

var conducts = []behavior{lying, fickle, doubled, fleeting, mute, dying, withdrawn}

// lie makes a message that the loop must refuse with one of the codes, and that must have no effect.
type lie struct {
	codes []string
	make  func(u *user) launcher.Message
}

// lies are impossible requests, and messages that a launcher must not send.
var lies = []lie{
	{[]string{launcher.CodeHosts}, func(u *user) launcher.Message { return u.asks(launcher.Hosts{N: core.MaxNodes + 1}) }},
	{[]string{launcher.CodeHosts}, func(u *user) launcher.Message { return u.asks(launcher.Hosts{N: -1}) }},
	{[]string{launcher.CodeHosts}, func(u *user) launcher.Message { return u.asks() }},
	{[]string{launcher.CodeCluster}, func(u *user) launcher.Message { return u.asks(launcher.Hosts{C: 2, N: 1}) }},
	{[]string{launcher.CodeCluster}, func(u *user) launcher.Message { return u.asks(u.hosts[0], u.hosts[0]) }},
	{[]string{launcher.CodeWalltime}, func(u *user) launcher.Message {
		r := u.asks(u.hosts...)
		r.Walltime = 0
		return r
	}},
	{[]string{launcher.CodeWalltime}, func(u *user) launcher.Message {
		r := u.asks(u.hosts...)
		r.Walltime = core.MaxTotal + 1
		return r
	}},
	{[]string{launcher.CodeView}, func(u *user) launcher.Message {
		r := u.asks(u.hosts...)
		r.View += 1000
		return r
	}},
	{[]string{launcher.CodeView}, func(u *user) launcher.Message {
		r := u.asks(u.hosts...)
		r.Tag = -1
		return r
	}},
	{[]string{launcher.CodeView}, func(u *user) launcher.Message { return &launcher.Ack{View: u.view + 1000} }},
	{[]string{launcher.CodeState}, func(*user) launcher.Message { return &launcher.Subscribe{} }},
	{[]string{launcher.CodeState}, func(u *user) launcher.Message { return &launcher.Hello{Version: launcher.Version, App: u.app} }},
	{[]string{launcher.CodeType}, func(*user) launcher.Message { return &launcher.Ready{Job: 1} }},
	{[]string{launcher.CodeJob, launcher.CodeCluster}, func(u *user) launcher.Message { // a job that does not exist
		return &launcher.Parts{Jobs: []launcher.Part{{Cluster: clusterName(u.hosts[0].C), Job: 1 << 40}}}
	}},
}

// asks returns a request for the given hosts that answers the newest view.
func (u *user) asks(hosts ...launcher.Hosts) *launcher.Request {
	return &launcher.Request{View: u.view, Tag: u.tag, Hosts: hosts, Walltime: u.walltime}
}

// live runs the launcher from its first connection until its application has ended.
func (u *user) live() {
	d := u.loop
	time.Sleep(u.at)
	u.jobs = map[int]adapter.Key{}
	for try := 0; !u.gone; try++ {
		u.talk(d.connect(u, u.hello()))
		if try > 50 {
			d.clusters[0].violation("the launcher of application %d came back 50 times", u.app)
			break
		}
		time.Sleep(u.away + d.dice.span(time.Second, 3*time.Second, fmt.Sprint("back ", u.nth), try))
		u.away = 0
	}
	if u.how == dying {
		return
	}
	for c, key := range u.jobs { // cancels the jobs, as `accordion launch` does when it is interrupted
		system := d.clusters[c].system
		j, err := system.Inspect(context.Background(), key)
		if err != nil {
			continue
		}
		if app, ok := adapter.LaunchOf(j); ok && app == u.app { // if the batch system forgot the job after a restart, it may have used the job's number again
			_ = system.Cancel(key)
		}
	}
}

func (u *user) hello() *launcher.Hello {
	return &launcher.Hello{Version: launcher.Version, Speaks: []int{launcher.Version}, Name: fmt.Sprint("u", u.nth), App: u.app}
}

// talk runs one session.
func (u *user) talk(p *conn) {
	d := u.loop
	var leave, whim <-chan time.Time
	if u.whim > 0 {
		whim = time.After(u.whim)
	}
	gives := time.After(time.Until(d.begin.Add(d.clusters[0].scenario.calm + launcherPatience)))
	u.lastLie, u.next = nil, nil
	for {
		select {
		case x, open := <-p.said:
			if !open {
				return
			}
			if _, goes := x.(*launcher.Go); goes && u.made() {
				leave = time.After(u.lasts)
			}
			u.hear(p, x)
		case <-u.next:
			u.next = nil
			u.ask(p)
		case <-whim:
			whim, u.whim = nil, 0
			if p = u.misbehave(p); p == nil {
				return
			}
		case <-leave:
			leave = nil
			d.send(p, &launcher.Done{})
			u.gone = true
		case <-gives:
			d.note("the launcher of %d gives up", u.app)
			d.send(p, &launcher.Done{Code: 1})
			u.gone = true
		}
	}
}

// launcherPatience is how long after the end of the faults a launcher gives up.
const launcherPatience = 40 * time.Second

// misbehave makes the launcher misbehave once. It returns the session with which the launcher
// continues, or nil if the launcher's session has ended.
func (u *user) misbehave(p *conn) *conn {
	d := u.loop
	d.note("the launcher of %d is %s", u.app, u.how)
	switch u.how {
	case doubled:
		u.lastLie, u.next = nil, nil
		return d.connect(u, u.hello()) // the loop ends the older session
	case fleeting:
		d.hangUp(p)
		if u.away = d.dice.span(0, 10*time.Second, "away", u.nth); d.dice.chance(300, "too late", u.nth) {
			u.away += grace * time.Second
		}
		return nil
	case dying:
		d.hangUp(p)
		u.gone = true
		return nil
	case withdrawn:
		d.send(p, &launcher.Done{})
		u.gone = true
	}
	return p
}

// made reports whether clusters themselves submit the jobs of all requested parts.
func (u *user) made() bool {
	return !slices.ContainsFunc(u.wants, func(h launcher.Hosts) bool { return h.C != u.loop.makes })
}

func (u *user) hear(p *conn, x launcher.Message) {
	d := u.loop
	switch x := x.(type) {
	case *launcher.Welcome:
		u.welcome(p, x)
	case *launcher.Change:
		u.view = x.View
		u.believed("shown a view")
		switch {
		case u.how == mute:
		case u.tag == 0 && len(x.All) > 0:
			u.ask(p)
		case u.how == fickle && u.tag > 0 && u.tag < 4:
			u.change()
			u.ask(p)
		default:
			d.send(p, &launcher.Ack{View: x.View})
		}
	case *launcher.Okay:
		if x.To == u.lieSeq {
			u.believed("told that it is well")
		}
	case *launcher.Lost: // the loop may send this message twice, because the answer with the new job may be lost
		job := int64(u.jobs[x.C].ID)
		if job == x.Job {
			job = u.submit(x.C)
		}
		d.send(p, &launcher.Parts{Jobs: []launcher.Part{{Cluster: clusterName(x.C), Job: job}}})
	case *launcher.Done:
		u.gone = true
	case *launcher.End:
		u.gone = u.gone || x.Why != launcher.WhyNewer
		d.tally.add("application: ended, "+x.Why, 1)
	case *launcher.Refuse:
		u.refused(p, x)
	}
}

// welcome handles the welcome of a session. It submits the jobs of a new application. If the loop was
// killed, it has forgotten what it had not written, so the launcher sends its messages again.
func (u *user) welcome(p *conn, x *launcher.Welcome) {
	if u.app == 0 {
		u.app = x.App
		for _, h := range u.hosts {
			if h.C != u.loop.makes {
				u.submit(h.C)
			}
		}
	}
	if x.Tag >= 0 || x.State != delegated.Submitted.String() {
		return
	}
	u.tag = 0
	var jobs []launcher.Part
	for _, h := range u.hosts {
		if key, submitted := u.jobs[h.C]; submitted {
			jobs = append(jobs, launcher.Part{Cluster: clusterName(h.C), Job: int64(key.ID)})
		}
	}
	u.loop.send(p, &launcher.Subscribe{Jobs: jobs}) // the loop refuses this if the launcher has already subscribed
}

// ask sends the next false message or, if there is none, the launcher's real request.
func (u *user) ask(p *conn) {
	if len(u.lies) > 0 {
		u.lastLie, u.lies = &u.lies[0], u.lies[1:]
		u.lieSeq = u.loop.send(p, u.lastLie.make(u))
		return
	}
	u.tag++
	u.loop.send(p, u.asks(u.wants...))
}

// change changes the launcher's request to random numbers of hosts. The new request may not use all of the user's clusters.
func (u *user) change() {
	d, name := u.loop, fmt.Sprint("change ", u.nth)
	u.wants = nil
	for i, h := range u.hosts {
		if i > 0 && d.dice.chance(300, name+" drops", int(u.tag)) {
			continue
		}
		h.N = 1 + d.dice.below(max(1, d.clusters[h.C].scenario.nodes/2), fmt.Sprint(name, " ", i), int(u.tag))
		u.wants = append(u.wants, h)
	}
}

// believed records a violation if the last false message was not refused.
func (u *user) believed(what string) {
	if u.lastLie != nil {
		u.loop.clusters[0].violation("the launcher of application %d lied, %#v, and is %s", u.app, u.lastLie.make(u), what)
		u.lastLie = nil
	}
}

func (u *user) refused(p *conn, x *launcher.Refuse) {
	d := u.loop
	d.note("refused: %+v", x)
	if lie := u.lastLie; lie != nil && x.To == u.lieSeq {
		u.lastLie = nil
		if x.Code != launcher.CodeFlood && !slices.Contains(lie.codes, x.Code) {
			d.clusters[0].violation("the launcher of application %d lied, %#v, and was refused for another reason: %+v", u.app, lie.make(u), x)
		}
		d.tally.add("launcher: a lie refused, "+x.Code, 1)
		u.next = time.After(d.dice.span(1100*time.Millisecond, 2*time.Second, fmt.Sprint("lie ", u.nth), len(u.lies)))
		return
	}
	switch x.Code {
	case launcher.CodeUnknown, launcher.CodeJob, launcher.CodeHosts:
		u.gone = true
		d.hangUp(p)
		go d.tell(func() { safeClose(p) })
	}
}

// safeClose closes the channel of a session, so that its reader ends.
func safeClose(p *conn) {
	defer func() { _ = recover() }() // the session may already be closed
	close(p.said)
}

// submit submits the job of the application's part on cluster c.
func (u *user) submit(c int) int64 {
	w := u.loop.clusters[c]
	key, err := w.submit(embedded.JobSpec{
		Name: fmt.Sprint("u", u.nth), User: u.name, UID: 1000, GID: 1000, Nodes: 1, Limit: 60, Comment: fmt.Sprint("launch=", u.app),
		Managed: u.nth%2 == 0, Hold: true, Script: u.part(c),
	})
	if err != nil {
		w.violation("submission for application %d: %v", u.app, err)
	}
	u.jobs[c] = key
	w.isPart(key)
	w.note("application %d has job %d", u.app, key.ID)
	return int64(key.ID)
}
