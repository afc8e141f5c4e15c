package apps

import (
	"bytes"

	"github.com/ugorji/go/codec"

	"accordion/core"
	"accordion/core/profile"
	"accordion/shim/wire/launcher"
)

// show formats a message: its type, and its fields with the names that they have in frames.
func show(x launcher.Message) string {
	if x == nil {
		return "nothing"
	}
	var out bytes.Buffer
	h := &codec.JsonHandle{}
	h.Canonical = true
	if err := codec.NewEncoder(&out, h).Encode(x); err != nil {
		return x.Type() + " " + err.Error()
	}
	return x.Type() + " " + out.String()
}

// person is a simulated launcher that does not always follow the protocol.
type person struct {
	*story
	user   string
	begins core.Time
	stage  string // "" (not begun), "new", "fresh", "there", "started" or "over"
	app    int64
	id     uint64 // number of its session
	back   core.Time
	jobs   map[string]core.JobID
	view   int64 // number of the view that the launcher has
	answer core.Time
	has    map[int][]profile.Point
	sizes  map[int]int
	lost   []int
	went   core.Time
	tag    int64
	mute   bool
	asked  bool
}

func (p *person) second() {
	switch {
	case p.stage == "over" || p.now < p.begins:
	case p.stage == "":
		p.stage = "new"
		p.id = p.connect(p, p.user, &launcher.Hello{Version: 2, Speaks: []int{2}, Name: "x"})
	case p.peers[p.id] == nil:
		p.away()
	case p.chance(1) && p.dice.IntN(4) == 0:
		p.hangUp(p.id)
		p.back = p.now + p.dice.Int64N(40)
	case p.chance(1) && p.dice.IntN(8) == 0:
		p.mute = true
	case p.mute:
	case p.stage == "fresh":
		p.subscribe()
	case p.stage == "there" && len(p.lost) > 0 && p.dice.IntN(2) == 0:
		p.again()
	case p.stage == "there" && p.calm && p.asked && p.dice.IntN(60) == 0:
		p.send(p.id, p.user, &launcher.Done{Code: 1})
	case p.answer != 0 && p.now >= p.answer:
		p.reply()
	case p.chance(3):
		p.lie()
	case p.stage == "started" && p.went != 0 && p.now > p.went+20 && p.made():
		p.send(p.id, p.user, &launcher.Done{})
	}
}

// made reports whether clusters make the jobs of all parts. In that case the launcher has to report the end of the parts.
func (p *person) made() bool {
	a := p.m.byID[p.app]
	return a != nil && a.each(func(q *Part) bool { return p.clusters[q.Cluster].Embedded })
}

func (p *person) away() {
	if p.now < p.back {
		return
	}
	if p.app == 0 {
		p.stage = ""
		return
	}
	p.id = p.connect(p, p.user, &launcher.Hello{Version: 2, Speaks: []int{2}, App: p.app, Have: p.view})
}

func (p *person) subscribe() {
	var jobs []launcher.Part
	if p.jobs == nil {
		p.jobs = map[string]core.JobID{}
		for i, w := range p.fakeClusters {
			if !w.embedded && (p.dice.IntN(4) > 0 || i == 0) {
				p.jobs[w.name] = w.submit(p.app, p.user, p.now)
			}
		}
	}
	for _, w := range p.fakeClusters {
		if id, ok := p.jobs[w.name]; ok {
			jobs = append(jobs, launcher.Part{Cluster: w.name, Job: int64(id)})
		}
	}
	p.stage = "asks"
	p.send(p.id, p.user, &launcher.Subscribe{Jobs: jobs})
}

func (p *person) again() {
	c := p.lost[0]
	p.lost = p.lost[1:]
	w := p.fakeClusters[c]
	p.jobs[w.name] = w.submit(p.app, p.user, p.now)
	p.send(p.id, p.user, &launcher.Parts{Jobs: []launcher.Part{{Cluster: w.name, Job: int64(p.jobs[w.name])}}})
}

func (p *person) reply() {
	p.answer = 0
	if p.asked && p.dice.IntN(3) > 0 {
		p.send(p.id, p.user, &launcher.Ack{View: p.view})
		return
	}
	p.tag++
	r := &launcher.Request{View: p.view, Tag: p.tag, Walltime: 5 + p.dice.Int64N(60)}
	for c := range p.fakeClusters {
		if n := p.sizes[c]; n > 0 && (len(r.Hosts) == 0 || p.dice.IntN(2) == 0) {
			r.Hosts = append(r.Hosts, launcher.Hosts{C: c, N: 1 + p.dice.IntN(n)})
		}
	}
	p.asked = true
	p.send(p.id, p.user, r)
}

// lie sends a message that the launcher should not send.
func (p *person) lie() {
	n := int64(p.dice.IntN(12)) - 2
	p.send(p.id, p.user, []launcher.Message{
		&launcher.Request{View: n, Tag: n, Walltime: n * 1000, Hosts: []launcher.Hosts{{C: int(n), N: int(n)}, {C: 0, N: 1 << 40}}},
		&launcher.Ack{View: n}, &launcher.Ready{Job: n}, &launcher.Go{}, &launcher.Hello{App: n}, &launcher.List{},
		&launcher.Parts{Jobs: []launcher.Part{{Cluster: "a", Job: n}, {Cluster: "z", Job: 1}}}, &launcher.Subscribe{Most: n},
	}[p.dice.IntN(8)])
}

func (p *person) hear(x launcher.Message, closed bool) {
	switch x := x.(type) {
	case *launcher.Welcome:
		if p.app = x.App; p.stage == "new" || x.State == "submitted" && p.view == 0 && p.stage != "there" {
			p.stage = "fresh"
		}
		p.lost = nil
		if p.committed[x.App] && (x.State == "waiting" || x.State == "request sent") {
			p.fail("the start of application %d was decided, and its launcher finds it %s", x.App, x.State)
		}
	case *launcher.Clusters:
		if p.stage == "there" { // this list of clusters is the answer to its subscription
			p.sizes = map[int]int{}
			for _, c := range x.All {
				p.sizes[c.C] = c.Hosts
			}
		}
	case *launcher.Okay:
		if p.stage == "asks" {
			p.stage = "there"
		}
	case *launcher.Change:
		p.see(x)
	case *launcher.Start:
		p.stage = "started"
	case *launcher.Go:
		p.went = p.now
	case *launcher.Abort:
		p.stage, p.went = "there", 0
	case *launcher.Lost:
		p.lost = append(p.lost, x.C)
	case *launcher.End, *launcher.Done:
		p.stage = "over"
	case *launcher.Refuse:
		switch {
		case x.Code == launcher.CodeUnknown:
			p.stage = "over"
		case p.stage == "asks":
			p.stage = "over"
			p.hangUp(p.id)
		}
	case nil:
		if closed && p.stage != "over" && p.m.byID[p.app] != nil && p.m.byID[p.app].Phase == Ending {
			p.stage = "over" // the application has ended by itself
		}
	}
	if closed {
		p.back = p.now + p.dice.Int64N(40)
	}
}

// see applies the changes in a message to the launcher's copy of the view, and checks that the copy then equals the machine's view.
func (p *person) see(x *launcher.Change) {
	if x.Base == 0 {
		p.has = map[int][]profile.Point{}
	} else if x.Base != p.view {
		p.fail("view %d of application %d differs from %d, and its launcher has %d", x.View, p.app, x.Base, p.view)
	}
	p.view, p.answer = x.View, p.now+p.dice.Int64N(4)
	a := p.m.byID[p.app]
	for _, c := range x.All {
		if c.Info != nil {
			p.sizes[c.C] = c.Info.Hosts
		}
		if _, told := p.sizes[c.C]; !told {
			p.fail("application %d is shown cluster %d, and was never told what that is", p.app, c.C)
		}
		if c.Kind&launcher.KindOccupation == 0 {
			continue
		}
		p.has[c.C] = apply(p.has[c.C], c, x.Now)
		if a == nil || a.unackedView != x.View {
			continue
		}
		meant := clip(a.sent[c.C].Points, a.sent[c.C].Hosts, x.Now)
		if !same(p.has[c.C], meant) {
			p.fail("application %d sees %v on cluster %d, and %v was meant: %+v", p.app, p.has[c.C], c.C, meant, c)
		}
		if len(c.Steps) > 2*len(meant) {
			p.fail("a difference of %d steps is longer than the whole, of %d", len(c.Steps)/2, len(meant))
		}
	}
}

// apply applies a change to an occupation, as docs/protocol.md describes that.
func apply(old []profile.Point, c launcher.ClusterChange, now core.Time) []profile.Point {
	at := func(t core.Time) int {
		n := 0
		for _, p := range old {
			if p.At <= t {
				n = p.Used
			}
		}
		return n
	}
	var out []profile.Point
	if len(old) > 0 && c.From > now {
		out = append(out, profile.Point{At: now, Used: at(now)})
	}
	for _, p := range old {
		if p.At > now && p.At < c.From {
			out = append(out, p)
		}
	}
	for i := 0; i < len(c.Steps); i += 2 {
		out = append(out, profile.Point{At: c.Steps[i], Used: int(c.Steps[i+1])})
	}
	if c.To != 0 {
		out = append(out, profile.Point{At: c.To, Used: at(c.To)})
		for _, p := range old {
			if p.At > c.To {
				out = append(out, p)
			}
		}
	}
	return clip(out, 1<<30, now)
}

// process simulates the process of a part, which calls `accordion part` and then runs the user's code.
type process struct {
	*story
	fakeCluster *fakeCluster
	fakeJob     *fakeJob
	id          uint64
	went        core.Time // when the sidecar let the process continue; 0 if it still waits
	need        core.Time
	bare        bool // the process does not call `accordion part`, because its application has only one part
	stood       bool // the process has reported that it is ready
	left        bool // the process has reported its end
	since       core.Time
}

// live simulates one second of the process in a job.
func (s *story) live(w *fakeCluster, b *fakeJob) {
	if !b.running || w.embedded {
		return
	}
	if b.process == nil {
		b.process = &process{story: s, fakeCluster: w, fakeJob: b, need: 5 + s.dice.Int64N(90), since: s.now}
		a := s.m.byID[b.app]
		b.process.bare = a != nil && a.onePart() && s.dice.IntN(2) == 0
	}
	b.process.second()
}

func (p *process) second() {
	switch {
	case p.bare:
		if p.now > p.since+p.need {
			p.fakeJob.end(false)
		}
	case p.left:
		if p.peers[p.id] == nil {
			p.fakeJob.end(false)
		}
	case p.peers[p.id] == nil && p.chance(70): // it reconnects
	case p.peers[p.id] == nil:
		p.id = p.connect(p, p.fakeJob.user, &launcher.Hello{Version: 2, Speaks: []int{2}, Part: &launcher.Part{Cluster: p.fakeCluster.name, Job: int64(p.fakeJob.id)}})
		if p.went == 0 {
			p.stood = true
			p.send(p.id, p.fakeJob.user, &launcher.Ready{Job: int64(p.fakeJob.id)})
		}
	case p.went != 0 && p.now > p.went+p.need:
		p.left = true
		p.send(p.id, p.fakeJob.user, &launcher.Done{Code: p.dice.IntN(2)})
	}
}

func (p *process) hear(x launcher.Message, closed bool) {
	switch x := x.(type) {
	case *launcher.Go:
		if p.went == 0 {
			p.went = p.now
			p.first()
		}
	case *launcher.Abort:
		if p.went != 0 {
			p.fail("job %d on %s is told to leave before user code, and it runs", p.fakeJob.id, p.fakeCluster.name)
		}
		p.fakeJob.end(false)
	case *launcher.Okay:
		if p.left {
			p.fakeJob.end(false)
		}
	case *launcher.Refuse:
		if x.Code == launcher.CodeUnknown {
			p.fakeJob.end(false)
		}
	}
}

// first checks, when the user's code in a part begins, that all other parts of the application have reported that they are ready.
func (p *process) first() {
	a := p.m.byID[p.fakeJob.app]
	if a == nil {
		p.fail("job %d on %s runs user code of an application that is gone", p.fakeJob.id, p.fakeCluster.name)
		return
	}
	if !a.onePart() {
		p.story.together++
	}
	for _, q := range a.Parts {
		if q.Hosts == 0 {
			continue
		}
		w := p.fakeClusters[q.Cluster]
		up := w.embedded
		for _, b := range w.jobs {
			up = up || b.app == a.ID && (b.running || b.over && b.process != nil) && (w.embedded || b.process != nil && b.process.stood)
		}
		if !up {
			p.fail("user code runs in application %d on %s, and its part on %s is not up", a.ID, p.fakeCluster.name, w.name)
		}
	}
}
