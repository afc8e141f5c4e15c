//go:build !race

package apps

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/core/moldable"
	"accordion/internal/testenv"
	shim "accordion/shim/launcher/application"
	"accordion/shim/launcher/selector"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/packed"
	paper "accordion/traces/paper/delegated"
	"accordion/traces/paper/delegated/live"
	"accordion/traces/swf"
)

// traffic is Figure 12 in virtual time: the state machines of the sidecar and of the launchers, who speak in the frames that they would send.
// Every launcher answers at once, and every part starts at once.
type traffic struct {
	t         *testing.T
	now       core.Time
	m         *Machine
	clusters  []*yard
	launchers map[uint64]*talker
	jobs      []paper.Job
	made      int // launchers
	over      int
	sent      map[string]*sum
	bytes     int // of all frames, as they are sent
	unpacked  int // if nothing were packed
	makespan  core.Time
}

// sum is what the messages of a type come to.
type sum struct{ messages, bytes, unpacked int }

// yard is an embedded cluster, which starts what it is ordered at once, on hosts n1, n2, ….
type yard struct {
	ward
	names map[int64][]string // by application
}

// talker is a launcher.
type talker struct {
	*traffic
	id       uint64
	job      paper.Job
	launcher *shim.Launcher
	model    *paper.Launcher
	sent     []launcher.Message
	heard    int64
	ends     core.Time // of its work; 0: it does not run
	both     [2]direction
}

// direction is one of a session.
type direction struct {
	packer   packed.Packer
	unpacker packed.Unpacker
}

// began is a second as those of today are, which take five bytes.
const began core.Time = 1_790_000_000

func newTraffic(t *testing.T, jobs []paper.Job, clusters int) *traffic {
	x := &traffic{t: t, now: began, jobs: jobs, launchers: map[uint64]*talker{}, sent: map[string]*sum{}}
	var all []Cluster
	for c := range clusters {
		name := fmt.Sprintf("c%d", c+1)
		all = append(all, Cluster{Name: name, Speed: 1 + 0.1*float64(c), Embedded: true})
		x.clusters = append(x.clusters, &yard{ward: ward{name: name, hosts: paper.Hosts, embedded: true, calm: true}, names: map[int64][]string{}})
	}
	var err error
	x.m, err = New(x.now, all, nil, Settings{FairStart: 5, Timer: 1, Answer: 300, Grace: 600, BringUp: 300, Applications: 100_000, Pace: 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// run goes on second by second until all launchers are over.
func (x *traffic) run() {
	for ; x.over < len(x.jobs); x.now++ {
		if x.now > began+100_000 {
			x.t.Fatalf("%d of %d launchers are over at second %d", x.over, len(x.jobs), x.now-began)
		}
		for i := range x.clusters {
			x.show(i)
		}
		for x.made < len(x.jobs) && began+x.jobs[x.made].Arrive <= x.now {
			x.arrive()
		}
		for id := uint64(1); id <= uint64(x.made); id++ {
			if l := x.launchers[id]; l != nil && l.ends != 0 && l.ends <= x.now {
				l.ends = 0
				l.handle(shim.Worked{})
			}
		}
		for {
			x.carry()
			if x.m.Next() > x.now {
				break
			}
			x.m.Wake(x.now)
		}
	}
}

// carry does what the machine decided, until nothing follows from it.
func (x *traffic) carry() {
	for {
		e := x.m.Effects()
		if len(e.Sent)+len(e.Ordered) == 0 {
			return
		}
		for _, o := range e.Ordered {
			x.clusters[o.Cluster].orders = o.All
		}
		for _, s := range e.Sent {
			if l := x.launchers[s.Session]; l != nil && s.Message != nil {
				l.hear(s.Message)
			}
		}
		for _, o := range e.Ordered {
			x.show(o.Cluster)
		}
	}
}

// show lets a cluster do what it was told, and shows that.
func (x *traffic) show(i int) {
	y := x.clusters[i]
	y.obey(x.now)
	x.m.Step(x.now, StateShown{i, y.state(x.now)})
	y.forget()
}

// state returns the state of the ward, with host names like those of a cluster.
func (y *yard) state(now core.Time) *mailbox.ClusterState {
	b := y.ward.state(now)
	b.HostResources = adapter.HostResources{}
	free := map[int64]bool{}
	for id := range y.names {
		free[id] = true
	}
	for _, p := range b.Parts {
		delete(free, p.Application)
	}
	for id := range free {
		delete(y.names, id)
	}
	for i := range b.Parts {
		p := &b.Parts[i]
		if len(p.Nodes) > 0 && len(y.names[p.Application]) != len(p.Nodes) {
			delete(y.names, p.Application)
			y.names[p.Application] = y.idle(len(p.Nodes))
		}
		p.Nodes = y.names[p.Application]
	}
	return b
}

// idle are the first hosts that no application has.
func (y *yard) idle(n int) []string {
	taken := map[string]bool{}
	for _, all := range y.names {
		for _, h := range all {
			taken[h] = true
		}
	}
	var out []string
	for i := 1; len(out) < n; i++ {
		if h := fmt.Sprintf("n%d", i); !taken[h] {
			out = append(out, h)
		}
	}
	return out
}

func (x *traffic) arrive() {
	l := &talker{traffic: x, id: uint64(x.made + 1), job: x.jobs[x.made], launcher: shim.NewLauncher(shim.Settings{})}
	l.model = paper.NewLauncher(l.job, len(x.clusters))
	x.launchers[l.id] = l
	x.made++
	hello := l.launcher.Hello("")
	hello.Version, hello.Speaks, hello.Deflate = launcher.Version, []int{launcher.Version}, packed.Version
	l.says(&hello)
	x.carry()
}

// frame counts a message as it is sent.
func (x *traffic) frame(d *direction, seq int64, m launcher.Message) {
	frame, err := launcher.Append(nil, seq, m)
	if err != nil {
		x.t.Fatal(err)
	}
	out := frame
	if kind := m.Type(); kind != "hello" && kind != "welcome" {
		out = d.packer.Pack(frame)
		if back, err := d.unpacker.Unpack(out, launcher.MostToClient); err != nil || !slices.Equal(back, frame) {
			x.t.Fatalf("%s is unpacked as %q, %v", show(m), back, err)
		}
	}
	s := x.sent[m.Type()]
	if s == nil {
		s = &sum{}
		x.sent[m.Type()] = s
	}
	s.messages, s.bytes, s.unpacked = s.messages+1, s.bytes+len(out), s.unpacked+len(frame)
	x.bytes, x.unpacked = x.bytes+len(out), x.unpacked+len(frame)
}

func (l *talker) says(m launcher.Message) {
	l.sent = append(l.sent, m)
	l.frame(&l.both[0], int64(len(l.sent)), m)
	l.m.Step(l.now, Received{Session: l.id, User: "ann", Seq: int64(len(l.sent)), Message: m})
}

func (l *talker) hear(m launcher.Message) {
	l.heard++
	if w, is := m.(*launcher.Welcome); is {
		told := *w
		told.Deflate = packed.Version
		m = &told
	}
	l.frame(&l.both[1], l.heard, m)
	switch m := m.(type) {
	case *launcher.Okay:
		l.handle(shim.Answered{To: l.sent[m.To-1]})
	case *launcher.Refuse:
		l.t.Fatalf("refused: %s", show(m))
	default:
		l.handle(shim.Heard{Message: m})
	}
}

// handle lets the launcher decide, and does it.
func (l *talker) handle(e shim.Event) {
	for _, act := range l.launcher.Handle(e) {
		switch a := act.(type) {
		case shim.Send:
			l.says(a.Message)
		case shim.Ask:
			l.handle(shim.Selected{Said: l.choose(a.Sight)})
		case shim.Work:
			l.ends = l.now + max(1, l.job.Lasts(a.Parts))
		case shim.Exit:
			if a.Code != 0 {
				l.t.Fatalf("the launcher %d ends with status %d", l.id, a.Code)
			}
			l.over++
			l.makespan = l.now - began
			delete(l.launchers, l.id)
			l.m.Step(l.now, Disconnected{l.id})
			return
		}
	}
}

// choose is what the application wants, as `accordion launch --application` has it.
func (l *talker) choose(s selector.Sight) selector.Said {
	view := make(moldable.View, len(l.clusters))
	for _, c := range s.Clusters {
		view[c.C] = moldable.Cluster{Hosts: c.Hosts, Points: c.Points}
	}
	found, err := l.model.Answer(view, s.Now)
	if err == nil && !found.OK {
		err = fmt.Errorf("it fits nowhere")
	}
	return selector.Said{View: s.View, Answer: selector.Answer{Hosts: slices.Clone(found.Parts), Walltime: found.Walltime}, Err: err}
}

// mostTraffic is the paper's bound: so many times what is simulated.
const mostTraffic = 1.5

var longFlag = flag.Bool("accordion.long", false, "all shares of cem applications of Figure 12")

// The frames of sidecar and launchers come to at most 1.5 times what the simulation of the same jobs counts. It prints what docs/delegated.md has:
//
//	ACCORDION_TRACES=… go test ./adapter/delegated/apps -run TheTrafficOfFigure12 -v -args -accordion.long
func TestTheTrafficOfFigure12(t *testing.T) {
	const atlas = "LLNL-Atlas-2006-2.1-cln.swf.gz"
	log, err := swf.ReadFile(filepath.Join(testenv.Logs(t, atlas), atlas), swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const clusters = 8
	shares := []int{0, 100} // where there is the most of it
	if *longFlag {
		shares = []int{0, 20, 50, 80, 100}
	}
	for _, cem := range shares {
		t.Run(fmt.Sprint(cem), func(t *testing.T) {
			jobs, err := live.Jobs(paper.Usable(log), 1, cem)
			if err != nil {
				t.Fatal(err)
			}
			simulated, err := paper.Setup{Clusters: clusters, FairStart: 5, Timer: 1}.Run(jobs)
			if err != nil {
				t.Fatal(err)
			}
			x := newTraffic(t, jobs, clusters)
			x.run()
			times := float64(x.bytes) / float64(simulated.Bytes())
			t.Logf("%3d %% cem: %9d bytes, %9d unpacked, %9d simulated: %.2f times; over after %d s, simulated %d",
				cem, x.bytes, x.unpacked, simulated.Bytes(), times, x.makespan, simulated.Makespan)
			for _, kind := range slices.Sorted(maps.Keys(x.sent)) {
				s := x.sent[kind]
				t.Logf("    %-10s %6d messages, %6.1f bytes each, unpacked %6.1f", kind, s.messages, float64(s.bytes)/float64(s.messages), float64(s.unpacked)/float64(s.messages))
			}
			t.Logf("    simulated: %d changes, %d requests", simulated.Changes, simulated.Requests)
			if times > mostTraffic {
				t.Errorf("it is %.2f times what is simulated, at most %.1f are allowed", times, mostTraffic)
			}
		})
	}
}
