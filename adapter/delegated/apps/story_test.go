package apps

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/core/profile"
	"accordion/shim/wire/launcher"
)

var (
	seedsFlag = flag.Int("accordion.seeds", 1000, "how many stories to simulate")
	fromFlag  = flag.Uint64("accordion.from", 1, "the first of them")
	seedFlag  = flag.Uint64("accordion.seed", 0, "tell this one story in full")
)

// mutant selects a step of the protocol that a story leaves out, to test that the checks notice it.
type mutant struct{ barrier, ready, commit bool }

// story is a simulation of applications on clusters, with faults. Its seed determines which faults happen.
type story struct {
	mutant
	dice         *rand.Rand
	now          core.Time
	m            *Machine
	settings     Settings
	clusters     []Cluster
	fakeClusters []*fakeCluster
	journal      map[int64][]byte
	people       []*person
	session      uint64
	peers        map[uint64]peer
	ranks        map[int64]core.Time
	gone         map[int64]bool
	committed    map[int64]bool // applications whose start was decided and that have not ended
	audited      bool           // audit after each event, not only at the end of each second
	calm         bool
	tell         bool
	went         int // number of applications whose parts were allowed to continue
	together     int // number of starts of applications with several parts whose scripts call accordion part
	wrong        []string
	lines        []string
}

type peer interface{ hear(launcher.Message, bool) }

func (s *story) say(format string, args ...any) {
	if s.tell {
		s.lines = append(s.lines, fmt.Sprintf("%5d  ", s.now)+fmt.Sprintf(format, args...))
	}
}

func (s *story) fail(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf("at %d: ", s.now)+fmt.Sprintf(format, args...))
}

func (s *story) chance(percent int) bool { return !s.calm && s.dice.IntN(100) < percent }

func newStory(seed uint64, x mutant) *story {
	s := &story{mutant: x, dice: rand.New(rand.NewPCG(seed, 16)), now: 1000, journal: map[int64][]byte{}, peers: map[uint64]peer{},
		ranks: map[int64]core.Time{}, gone: map[int64]bool{}, committed: map[int64]bool{}, audited: seed%2 == 0}
	s.settings = Settings{FairStart: s.dice.Int64N(6), Timer: 1, Answer: 5, Grace: 10 + s.dice.Int64N(20), BringUp: 15, Guard: 30,
		Applications: 1 + s.dice.IntN(12)}
	for i := range 1 + s.dice.IntN(3) {
		c := Cluster{Name: string(rune('a' + i)), Speed: 1, Embedded: s.dice.IntN(3) == 0}
		s.clusters = append(s.clusters, c)
		s.fakeClusters = append(s.fakeClusters, &fakeCluster{name: c.Name, hosts: 1 + s.dice.IntN(8), embedded: c.Embedded, dice: s.dice})
	}
	for i := range 1 + s.dice.IntN(6) {
		s.people = append(s.people, &person{story: s, sizes: map[int]int{}, user: []string{"ann", "bob"}[i%2], begins: 1000 + s.dice.Int64N(60)})
	}
	s.begin()
	return s
}

// begin makes a machine from the records in the journal.
func (s *story) begin() {
	var all []Record
	for id, data := range s.journal {
		all = append(all, Record{ID: id, Data: data})
	}
	slices.SortFunc(all, func(a, b Record) int { return int(a.ID - b.ID) })
	m, err := New(s.now, s.clusters, nil, s.settings, all)
	if err != nil {
		s.fail("%v", err)
		return
	}
	s.m = m
}

// killed simulates that the process of the machine is killed: all sessions end, and a new machine begins.
func (s *story) killed(when string) {
	s.say("killed %s", when)
	old := s.peers
	s.peers = map[uint64]peer{}
	for _, id := range keys(old) {
		old[id].hear(nil, true)
	}
	s.begin()
}

func keys[V any](m map[uint64]V) []uint64 {
	var all []uint64
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// connect begins a session.
func (s *story) connect(p peer, user string, hello *launcher.Hello) uint64 {
	s.session++
	s.peers[s.session] = p
	s.send(s.session, user, hello)
	return s.session
}

func (s *story) send(session uint64, user string, x launcher.Message) {
	if s.peers[session] == nil {
		return
	}
	if s.tell {
		s.say("%d → %s", session, show(x))
	}
	s.step(Received{Session: session, User: user, Seq: 1, Message: x})
}

// step passes an event to the machine, and then checks that the machine is consistent.
func (s *story) step(e Event) {
	s.m.Step(s.now, e)
	if s.audited {
		s.audit()
	}
}

func (s *story) audit() {
	if wrong := s.m.audit(); wrong != "" {
		s.fail("%s", wrong)
	}
}

func (s *story) hangUp(session uint64) {
	if s.peers[session] != nil {
		delete(s.peers, session)
		s.say("%d hangs up", session)
		s.step(Disconnected{session})
	}
}

// carry carries out the effects of the machine, the records first. The machine may be killed before or after the records are written.
func (s *story) carry() {
	for range 5 { // messages cause further effects
		e := s.m.Effects()
		if len(e.Stored)+len(e.Deleted)+len(e.Sent)+len(e.Ordered) == 0 {
			return
		}
		if s.chance(1) && s.dice.IntN(5) == 0 {
			s.killed("before a write")
			return
		}
		for _, r := range e.Stored {
			if s.commit && strings.Contains(string(r.Data), `"phase":"starting"`) {
				continue
			}
			s.journal[r.ID] = r.Data
		}
		for _, id := range e.Deleted {
			delete(s.journal, id)
			s.gone[id] = true
		}
		for _, n := range e.Notes {
			switch n.Verb {
			case "go":
				s.went++
			case "commit":
				s.committed[n.Application] = true
			case "abort", "end":
				delete(s.committed, n.Application)
			}
			s.say("  %s %d: %s", n.Verb, n.Application, n.Text)
		}
		if len(e.Stored) > 0 && s.chance(1) && s.dice.IntN(5) == 0 {
			s.killed("after a write")
			return
		}
		for _, o := range e.Ordered {
			s.fakeClusters[o.Cluster].orders = o.All
			s.promised(o)
		}
		for _, x := range e.Sent {
			if s.tell {
				s.say("%d ← %s", x.Session, show(x.Message))
			}
			if p := s.peers[x.Session]; p != nil {
				if x.Close {
					delete(s.peers, x.Session)
				}
				p.hear(x.Message, x.Close)
			}
		}
	}
}

// promised checks that the orders for a cluster do not need more hosts than the cluster has.
func (s *story) promised(o ClusterOrders) {
	sum, w := 0, s.fakeClusters[o.Cluster]
	for _, p := range o.All {
		switch p.Want {
		case mailbox.Prepare, mailbox.Start, mailbox.Run, mailbox.Ghost:
			sum += p.Hosts
		}
		if s.gone[p.Application] && p.Want != mailbox.End {
			s.fail("cluster %s is ordered something about application %d, which is gone: %v", w.name, p.Application, p)
		}
	}
	if sum > w.hosts {
		s.fail("cluster %s has %d hosts, and %d are promised: %v", w.name, w.hosts, sum, o.All)
	}
}

// second simulates one second.
func (s *story) second() {
	s.now++
	for i, w := range s.fakeClusters {
		w.calm = s.calm
		if now := s.now; w.localEnd <= now && s.chance(2) && w.free(now) > 0 {
			w.local, w.localEnd = 1+s.dice.IntN(w.free(now)), now+10+s.dice.Int64N(60)
		}
		w.obey(s.now)
		for _, b := range slices.Clone(w.jobs) {
			s.live(w, b)
		}
		w.forget()
		if s.chance(1) && s.dice.IntN(10) == 0 {
			w.deaf = s.now + s.dice.Int64N(100)
		}
		if (s.calm || s.now >= w.deaf) && !s.chance(20) {
			s.step(StateShown{i, w.state(s.now)})
		}
		s.carry()
	}
	for _, p := range s.people {
		p.second()
		s.carry()
	}
	for _, a := range s.m.all {
		runs := func(p *Part) bool { return p.Runs }
		if a.Phase == Starting && (s.barrier || s.ready && a.each(runs)) { // a mutant lets parts continue although they do not all run, or are not all ready
			s.m.release(a)
		}
	}
	if s.m.Next() <= s.now {
		s.m.Wake(s.now)
		if n := s.m.Next(); n <= s.now {
			s.fail("what was due is due again in the same second")
		}
	}
	s.carry()
	s.audit()
	for _, a := range s.m.all {
		if r, ok := s.ranks[a.ID]; ok && a.Rank != r {
			s.fail("application %d has rank %d, and had %d", a.ID, a.Rank, r)
		}
		if a.Rank != 0 {
			s.ranks[a.ID] = a.Rank
		}
	}
}

func (s *story) run() []string {
	for s.now < 1300 && len(s.wrong) == 0 {
		s.second()
	}
	s.calm = true
	for _, p := range s.people {
		p.mute = false
	}
	for s.now < 2600 && len(s.wrong) == 0 && !s.quiet() {
		s.second()
	}
	if len(s.wrong) > 0 {
		return s.wrong
	}
	for _, a := range s.m.all {
		s.fail("application %d is still there: %s: %+v", a.ID, a.Phase, s.m.viewOf(a))
	}
	for _, w := range s.fakeClusters {
		for _, o := range w.orders {
			s.fail("cluster %s has an order left: %+v", w.name, o)
		}
		for _, b := range w.jobs {
			s.fail("cluster %s has a job left: %+v", w.name, b)
		}
	}
	for _, p := range s.people {
		if p.stage != "over" {
			s.fail("the launcher of application %d (%s) heard of no end: it is %s", p.app, p.user, p.stage)
		}
	}
	return s.wrong
}

// quiet reports whether everything has ended.
func (s *story) quiet() bool {
	left := len(s.m.all)
	for _, w := range s.fakeClusters {
		left += len(w.orders) + len(w.jobs)
	}
	for _, p := range s.people {
		if p.stage != "over" {
			left++
		}
	}
	return left == 0
}

// same reports whether a launcher's copy of a cluster's occupation equals what the last pass computed.
func same(a, b []profile.Point) bool { return slices.Equal(a, b) }

func TestStories(t *testing.T) {
	together, started := 0, 0
	for seed := *fromFlag; seed < *fromFlag+uint64(*seedsFlag); seed++ {
		s := newStory(seed, mutant{})
		for _, wrong := range s.run() {
			t.Errorf("seed %d: %s", seed, wrong)
		}
		together += s.together
		started += s.went
	}
	t.Logf("%d applications were let go, %d parts of several after a barrier", started, together)
}

func TestStory(t *testing.T) {
	if *seedFlag == 0 {
		t.Skip("tells one story in full: give its seed with -accordion.seed=N")
	}
	s := newStory(*seedFlag, mutant{})
	s.tell = true
	wrong := s.run()
	t.Log("\n" + strings.Join(s.lines, "\n"))
	for _, w := range wrong {
		t.Error(w)
	}
}

// The checks in stories must notice each mutant.
func TestMutantsAreFound(t *testing.T) {
	for _, c := range []struct {
		name, wrong string
		mutant
	}{
		{"without the barrier", "is not up", mutant{barrier: true}},
		{"without a word of those who stand at the barrier", "is not up", mutant{ready: true}},
		{"without the record of the commit", "was decided", mutant{commit: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 500; seed++ {
				for _, wrong := range newStory(seed, c.mutant).run() {
					if strings.Contains(wrong, c.wrong) {
						t.Logf("seed %d: %s", seed, wrong)
						return
					}
				}
			}
			t.Error("500 stories did not find it")
		})
	}
}
