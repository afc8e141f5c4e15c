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

// traffic is the experiment of Figure 12 in virtual time. The state machines of the sidecar and of the launchers exchange the frames that
// they would send over a network. All launchers answer immediately, and all parts start immediately.
type traffic struct {
	t         *testing.T
	now       core.Time
	m         *Machine
	clusters  []*promptCluster
	launchers map[uint64]*fakeLauncher
	jobs      []paper.Job
	made      int // number of launchers so far
	over      int
	sent      map[string]*sum
	bytes     int // total size of all frames as they were sent
	unpacked  int // total size that the frames would have without packing
	makespan  core.Time
}

// sum counts the messages of a type and adds up their sizes.
type sum struct{ messages, bytes, unpacked int }

// promptCluster is an embedded cluster that carries out orders immediately, on hosts n1, n2, ….
type promptCluster struct {
	fakeCluster
	names map[int64][]string // hosts of each application
}

// fakeLauncher is a launcher in virtual time.
type fakeLauncher struct {
	*traffic
	id       uint64
	job      paper.Job
	launcher *shim.Launcher
	model    *paper.Launcher
	sent     []launcher.Message
	heard    int64
	ends     core.Time // when the application ends; 0 if it does not run
	both     [2]direction
}

// direction has the packer and the unpacker for one direction of a session.
type direction struct {
	packer   packed.Packer
	unpacker packed.Unpacker
}

// began is the time at which the experiment begins. It is a present-day time, because frames need more bytes for larger numbers.
const began core.Time = 1_790_000_000

func newTraffic(t *testing.T, jobs []paper.Job, clusters int) *traffic {
	x := &traffic{t: t, now: began, jobs: jobs, launchers: map[uint64]*fakeLauncher{}, sent: map[string]*sum{}}
	var all []Cluster
	for c := range clusters {
		name := fmt.Sprintf("c%d", c+1)
		all = append(all, Cluster{Name: name, Speed: 1 + 0.1*float64(c), Embedded: true})
		x.clusters = append(x.clusters, &promptCluster{fakeCluster: fakeCluster{name: name, hosts: paper.Hosts, embedded: true, calm: true}, names: map[int64][]string{}})
	}
	var err error
	x.m, err = New(x.now, all, nil, Settings{FairStart: 5, Timer: 1, Answer: 300, Grace: 600, BringUp: 300, Applications: 100_000, Pace: 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// run simulates second by second until all launchers have ended.
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

// carry carries out the effects of the machine until there are no more effects.
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

// show lets a cluster carry out its orders, and shows its state.
func (x *traffic) show(i int) {
	y := x.clusters[i]
	y.obey(x.now)
	x.m.Step(x.now, StateShown{i, y.state(x.now)})
	y.forget()
}

// state returns the cluster's state, with host names like those of a real cluster.
func (y *promptCluster) state(now core.Time) *mailbox.ClusterState {
	b := y.fakeCluster.state(now)
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

// idle returns the first n hosts that no application has.
func (y *promptCluster) idle(n int) []string {
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
	l := &fakeLauncher{traffic: x, id: uint64(x.made + 1), job: x.jobs[x.made], launcher: shim.NewLauncher(shim.Settings{})}
	l.model = paper.NewLauncher(l.job, len(x.clusters))
	x.launchers[l.id] = l
	x.made++
	hello := l.launcher.Hello("")
	hello.Version, hello.Speaks, hello.Deflate = launcher.Version, []int{launcher.Version}, packed.Version
	l.says(&hello)
	x.carry()
}

// frame counts a message with the number of bytes that are sent for it.
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

func (l *fakeLauncher) says(m launcher.Message) {
	l.sent = append(l.sent, m)
	l.frame(&l.both[0], int64(len(l.sent)), m)
	l.m.Step(l.now, Received{Session: l.id, User: "ann", Seq: int64(len(l.sent)), Message: m})
}

func (l *fakeLauncher) hear(m launcher.Message) {
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

// handle passes an event to the launcher, and carries out what the launcher decides.
func (l *fakeLauncher) handle(e shim.Event) {
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

// choose answers a view, as `accordion launch --application` does.
func (l *fakeLauncher) choose(s selector.Sight) selector.Said {
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

// mostTraffic is the upper bound for the number of bytes in all frames, relative to the number that the paper's simulation counts.
const mostTraffic = 1.5

var longFlag = flag.Bool("accordion.long", false, "all shares of cem applications of Figure 12")

// All frames of the sidecar and the launchers together have at most 1.5 times the number of bytes that the paper's simulation counts for
// the same jobs. The test prints the table in docs/delegated.md:
//
//	ACCORDION_TRACES=… go test ./adapter/delegated/apps -run TheTrafficOfFigure12 -v -args -accordion.long
func TestTheTrafficOfFigure12(t *testing.T) {
	const atlas = "LLNL-Atlas-2006-2.1-cln.swf.gz"
	log, err := swf.ReadFile(filepath.Join(testenv.Logs(t, atlas), atlas), swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const clusters = 8
	shares := []int{0, 100} // the shares with the most traffic
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
