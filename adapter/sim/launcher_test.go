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

// user is somebody with a launcher.
type user struct {
	desk     *desk
	name     string
	how      conduct
	at       time.Duration
	whim     time.Duration // after it has connected it does what it should not
	nth      int
	hosts    []launcher.Hosts // where it has jobs
	wants    []launcher.Hosts // of these
	walltime int64
	lasts    time.Duration

	app    int64
	jobs   map[int]adapter.Key
	view   int64 // the newest
	tag    int64
	lies   []lie            // that it has not told yet
	told   *lie             // the one that is to be refused now
	toldAs int64            // its number
	next   <-chan time.Time // it asks again
	away   time.Duration
	gone   bool
}

// conduct is what a launcher is like.
type conduct string

const (
	honest    conduct = "honest"
	lying     conduct = "lying"     // asks for what cannot be had before it asks for what it wants
	fickle    conduct = "fickle"    // asks for something else with each view
	doubled   conduct = "doubled"   // connects though it is connected
	fleeting  conduct = "fleeting"  // breaks off, and comes back in time or too late
	mute      conduct = "mute"      // subscribes, and answers nothing
	dying     conduct = "dying"     // is gone for ever, and leaves its jobs there
	withdrawn conduct = "withdrawn" // its user does not want it any more
)

var conducts = []conduct{lying, fickle, doubled, fleeting, mute, dying, withdrawn}

// lie is a word that is to be refused, with one of these codes, and changes nothing.
type lie struct {
	codes []string
	make  func(u *user) launcher.Message
}

// lies are requests that cannot be had, and what it is no launcher's to say.
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
	{[]string{launcher.CodeJob, launcher.CodeCluster}, func(u *user) launcher.Message { // of no such job
		return &launcher.Parts{Jobs: []launcher.Part{{Cluster: clusterName(u.hosts[0].C), Job: 1 << 40}}}
	}},
}

// asks is a request for these hosts by the newest view.
func (u *user) asks(hosts ...launcher.Hosts) *launcher.Request {
	return &launcher.Request{View: u.view, Tag: u.tag, Hosts: hosts, Walltime: u.walltime}
}

// live is the launcher, from its first hello until its application is over.
func (u *user) live() {
	d := u.desk
	time.Sleep(u.at)
	u.jobs = map[int]adapter.Key{}
	for try := 0; !u.gone; try++ {
		u.talk(d.connect(u, u.hello()))
		if try > 50 {
			d.clusters[0].blame("the launcher of application %d came back 50 times", u.app)
			break
		}
		time.Sleep(u.away + d.dice.span(time.Second, 3*time.Second, fmt.Sprint("back ", u.nth), try))
		u.away = 0
	}
	if u.how == dying {
		return
	}
	for c, key := range u.jobs { // as launch does when it is interrupted
		system := d.clusters[c].system
		j, err := system.Inspect(context.Background(), key)
		if err != nil {
			continue
		}
		if app, ok := adapter.LaunchOf(j); ok && app == u.app { // a batch system that forgot it may have given its number again
			_ = system.Cancel(key)
		}
	}
}

func (u *user) hello() *launcher.Hello {
	return &launcher.Hello{Version: launcher.Version, Speaks: []int{launcher.Version}, Name: fmt.Sprint("u", u.nth), App: u.app}
}

// talk is one session.
func (u *user) talk(p *cable) {
	d := u.desk
	var leave, whim <-chan time.Time
	if u.whim > 0 {
		whim = time.After(u.whim)
	}
	gives := time.After(time.Until(d.begin.Add(d.clusters[0].story.calm + gives)))
	u.told, u.next = nil, nil
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

// gives is how long after all is calm a launcher waits.
const gives = 40 * time.Second

// misbehave does once what the launcher should not do, and gives the session with which it goes on; nil: without one.
func (u *user) misbehave(p *cable) *cable {
	d := u.desk
	d.note("the launcher of %d is %s", u.app, u.how)
	switch u.how {
	case doubled:
		u.told, u.next = nil, nil
		return d.connect(u, u.hello()) // the older session is ended
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

// made says whether all parts are made by their cluster.
func (u *user) made() bool {
	return !slices.ContainsFunc(u.wants, func(h launcher.Hosts) bool { return h.C != u.desk.makes })
}

func (u *user) hear(p *cable, x launcher.Message) {
	d := u.desk
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
		if x.To == u.toldAs {
			u.believed("told that it is well")
		}
	case *launcher.Lost: // it may come again, and the word of the job in its place may be lost
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

// welcome submits the jobs of a new application. What a loop that was killed had not written it does not know: that is said again.
func (u *user) welcome(p *cable, x *launcher.Welcome) {
	if u.app == 0 {
		u.app = x.App
		for _, h := range u.hosts {
			if h.C != u.desk.makes {
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
	u.desk.send(p, &launcher.Subscribe{Jobs: jobs}) // refused where it had subscribed
}

// ask tells the next lie, or what the launcher wants.
func (u *user) ask(p *cable) {
	if len(u.lies) > 0 {
		u.told, u.lies = &u.lies[0], u.lies[1:]
		u.toldAs = u.desk.send(p, u.told.make(u))
		return
	}
	u.tag++
	u.desk.send(p, u.asks(u.wants...))
}

// change has it want something else: other numbers of hosts, and not on all clusters.
func (u *user) change() {
	d, name := u.desk, fmt.Sprint("change ", u.nth)
	u.wants = nil
	for i, h := range u.hosts {
		if i > 0 && d.dice.chance(300, name+" drops", int(u.tag)) {
			continue
		}
		h.N = 1 + d.dice.below(max(1, d.clusters[h.C].story.nodes/2), fmt.Sprint(name, " ", i), int(u.tag))
		u.wants = append(u.wants, h)
	}
}

// believed: a lie was not refused.
func (u *user) believed(what string) {
	if u.told != nil {
		u.desk.clusters[0].blame("the launcher of application %d lied, %#v, and is %s", u.app, u.told.make(u), what)
		u.told = nil
	}
}

func (u *user) refused(p *cable, x *launcher.Refuse) {
	d := u.desk
	d.note("refused: %+v", x)
	if lie := u.told; lie != nil && x.To == u.toldAs {
		u.told = nil
		if x.Code != launcher.CodeFlood && !slices.Contains(lie.codes, x.Code) {
			d.clusters[0].blame("the launcher of application %d lied, %#v, and was refused for another reason: %+v", u.app, lie.make(u), x)
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

// safeClose has a session's reader end.
func safeClose(p *cable) {
	defer func() { _ = recover() }() // it is closed
	close(p.said)
}

// submit submits the job of a part.
func (u *user) submit(c int) int64 {
	w := u.desk.clusters[c]
	key, err := w.submit(embedded.JobSpec{
		Name: fmt.Sprint("u", u.nth), User: u.name, UID: 1000, GID: 1000, Nodes: 1, Limit: 60, Comment: fmt.Sprint("launch=", u.app),
		Managed: u.nth%2 == 0, Hold: true, Script: u.part(c),
	})
	if err != nil {
		w.blame("submission for application %d: %v", u.app, err)
	}
	u.jobs[c] = key
	w.isPart(key)
	w.note("application %d has job %d", u.app, key.ID)
	return int64(key.ID)
}
