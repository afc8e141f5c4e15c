package apps

import (
	"fmt"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
	"accordion/shim/wire/launcher"
)

// embeddedMachine is a machine with one embedded cluster that was read at second 1000. It also has the messages that the machine sent.
type embeddedMachine struct {
	t      *testing.T
	m      *Machine
	now    core.Time
	said   map[uint64][]launcher.Message
	closed map[uint64]bool
}

func box(t *testing.T, hosts int, s Settings) *embeddedMachine {
	m, err := New(1000, []Cluster{{Name: "e", Speed: 1, Embedded: true}}, nil, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &embeddedMachine{t: t, m: m, now: 1000, said: map[uint64][]launcher.Message{}, closed: map[uint64]bool{}}
	b.m.Step(1000, StateShown{0, &mailbox.ClusterState{Read: 1000, Hosts: hosts}})
	b.carry()
	return b
}

func (b *embeddedMachine) carry() {
	if b.m.Next() <= b.now {
		b.m.Wake(b.now)
	}
	for _, s := range b.m.Effects().Sent {
		b.said[s.Session] = append(b.said[s.Session], s.Message)
		b.closed[s.Session] = b.closed[s.Session] || s.Close
	}
}

func (b *embeddedMachine) says(session uint64, user string, x launcher.Message) {
	b.m.Step(b.now, Received{Session: session, User: user, Seq: 2, Message: x})
	b.carry()
}

// wants adds an application whose launcher subscribes and sends a request.
func (b *embeddedMachine) wants(session uint64, user string, hosts int, walltime int64) {
	b.says(session, user, &launcher.Hello{Version: 2, Speaks: []int{2}})
	b.says(session, user, &launcher.Subscribe{})
	b.says(session, user, &launcher.Request{View: 1, Tag: 0, Hosts: []launcher.Hosts{{C: 0, N: hosts}}, Walltime: walltime})
}

func count[M launcher.Message](all []launcher.Message) (n int) {
	for _, x := range all {
		if _, is := x.(M); is {
			n++
		}
	}
	return n
}

var usual30 = Settings{FairStart: 5, Timer: 1, Answer: 30, Grace: 60, BringUp: 30, Applications: 8}

// A session is closed when 20 requests within ten seconds were beyond the permitted rate.
func TestTooManyRequestsCloseTheSession(t *testing.T) {
	b := box(t, 4, usual30)
	b.wants(1, "ann", 4, 60)
	for i := 1; i <= mostExcess+1; i++ { // one request a second is permitted
		if b.closed[1] {
			t.Fatalf("closed before the request %d", i)
		}
		b.says(1, "ann", &launcher.Request{View: 1, Tag: int64(i), Hosts: []launcher.Hosts{{C: 0, N: 1}}, Walltime: 60})
	}
	if n := count[*launcher.Refuse](b.said[1]); n != mostExcess || !b.closed[1] {
		t.Errorf("%d were refused; closed: %v", n, b.closed[1])
	}

	slow := box(t, 4, usual30)
	slow.wants(1, "ann", 4, 60)
	for i := range 60 { // two requests a second, one of them beyond the permitted rate: never 20 of these in ten seconds
		slow.now += core.Time(i % 2)
		slow.says(1, "ann", &launcher.Request{View: 1, Tag: int64(i), Hosts: []launcher.Hosts{{C: 0, N: 1}}, Walltime: 60})
	}
	if slow.closed[1] {
		t.Error("one that is only a little too fast was closed")
	}
}

// A pass considers a limited number of requests. At most a quarter of that number may be of the same user, but always one.
func TestOneUserHasAQuarterOfAPass(t *testing.T) {
	b := box(t, 4, usual30)
	for i := range uint64(5) {
		b.wants(1+i, "ann", 4, 60)
	}
	b.wants(10, "bob", 4, 60)
	if n := count[*launcher.Change](b.said[3]); n != 0 {
		t.Errorf("one behind the share of its user was shown %d views", n)
	}
	if why := b.m.Snapshot().Applications[2].Why; !strings.Contains(why, "as many as a pass considers") {
		t.Errorf("it is told to wait because %s", why)
	}
	b.now += 2
	b.carry() // her first application starts, and her next one takes its place
	b.now += 2
	b.carry()
	b.says(3, "ann", &launcher.Request{View: 1, Tag: 0, Hosts: []launcher.Hosts{{C: 0, N: 4}}, Walltime: 60})
	b.now += 2
	b.carry()
	var est []core.Time
	for _, a := range b.m.Snapshot().Applications {
		est = append(est, a.Estimate)
	}
	// The first application of ann is being prepared. Her next two applications have estimates, and then bob's application has one.
	if want := []core.Time{0, 1062, 1122, 0, 0, 1182}; fmt.Sprint(est) != fmt.Sprint(want) {
		t.Errorf("the estimates are %v, and not %v", est, want)
	}
}

func TestNumberOfApplicationsOfAUserIsLimited(t *testing.T) {
	few := usual30
	few.PerUser = 2
	b := box(t, 4, few)
	for i := range uint64(3) {
		b.says(1+i, "ann", &launcher.Hello{Version: 2, Speaks: []int{2}})
	}
	b.says(4, "bob", &launcher.Hello{Version: 2, Speaks: []int{2}})
	for id, full := range map[uint64]bool{1: false, 2: false, 3: true, 4: false} {
		if b.closed[id] != full {
			t.Errorf("session %d: closed %v", id, b.closed[id])
		}
	}
	b.says(2, "ann", &launcher.Done{})
	if b.says(5, "ann", &launcher.Hello{Version: 2, Speaks: []int{2}}); b.closed[5] {
		t.Error("one ended, and another may not begin")
	}
}

// noisy returns how many changes a launcher receives in ten minutes, on a cluster where many jobs hold hosts without a known end. `ends`
// returns the end that the cluster's state shows for such jobs.
func noisy(t *testing.T, ends func(now core.Time) core.Time) int {
	b := box(t, 100, Settings{FairStart: 5, Timer: 1, Answer: 30, Grace: 60, BringUp: 30, Applications: 200})
	show := func() {
		state := sched.Repeated{Limit: ep.Limit(1)}.New(core.Machine{Nodes: 100})
		for i := range core.JobID(60) {
			end := ends(b.now)
			state.Running(b.now, core.Allocation{Job: i, Start: b.now - 10, EP: core.EP{{Duration: end - b.now + 10, Nodes: 1}}})
		}
		b.m.Step(b.now, StateShown{0, &mailbox.ClusterState{Read: b.now, Hosts: 100, Local: sched.Local{State: state.(sched.Viewer)}}})
		b.carry()
	}
	show()
	for i := range uint64(50) {
		b.wants(1+i, fmt.Sprint("user", i), 90, 60)
	}
	for range 600 {
		b.now++
		show()
		for i := range uint64(50) {
			if all := b.said[1+i]; len(all) > 0 {
				if c, is := all[len(all)-1].(*launcher.Change); is {
					b.says(1+i, fmt.Sprint("user", i), &launcher.Ack{View: c.View})
				}
			}
		}
	}
	most := 0
	for i := range uint64(50) {
		most = max(most, count[*launcher.Change](b.said[1+i]))
	}
	return most
}

// If nothing happens on a cluster, a launcher receives at most two changes a minute. If the shown ends moved with the time, it would
// receive about one a second.
func TestViewsChangeRarelyOnAQuietMachine(t *testing.T) {
	if n := noisy(t, plan.HalfMinute); n > 22 { // two a minute, plus the first view and the estimate
		t.Errorf("%d changes in ten minutes", n)
	}
	if n := noisy(t, func(now core.Time) core.Time { return now - now%2 + 2 }); n < 100 {
		t.Errorf("only %d changes in ten minutes where views are not quiet: the test sees nothing", n)
	}
}

// An application that is ended while its parts are being started has nothing to clean up. The parts that already run end without delay,
// and the other parts do not begin.
func TestApplicationThatComesUpEndsAtOnce(t *testing.T) {
	m, _ := New(1000, []Cluster{{Name: "a"}, {Name: "b"}}, nil, Settings{Timer: 1, Answer: 30, Grace: 5, BringUp: 30, Applications: 8}, nil)
	now, stand := core.Time(1000), mailbox.Waiting
	var orders [2][]mailbox.Order
	second := func(events ...Event) {
		for i := range 2 {
			b := &mailbox.ClusterState{Read: now, Hosts: 4, Jobs: []mailbox.Job{{ID: 7, Application: 1, User: "ann", State: adapter.Pending, Submitted: 990}}}
			for _, o := range orders[i] {
				b.Parts = append(b.Parts, mailbox.Standing{Application: 1, Job: 7, Try: o.Try, Stand: stand, Nodes: []string{"n1"}})
			}
			events = append(events, StateShown{i, b})
		}
		for _, e := range events {
			m.Step(now, e)
		}
		m.Wake(now)
		for _, o := range m.Effects().Ordered {
			orders[o.Cluster] = o.All
		}
		now++
	}
	say := func(x launcher.Message) Received { return Received{Session: 1, User: "ann", Seq: 2, Message: x} }
	second(say(&launcher.Hello{Version: 2, Speaks: []int{2}}))
	second(say(&launcher.Subscribe{Jobs: []launcher.Part{{Cluster: "a", Job: 7}, {Cluster: "b", Job: 7}}}))
	second(say(&launcher.Request{View: 1, Hosts: []launcher.Hosts{{C: 0, N: 1}, {C: 1, N: 1}}, Walltime: 60}))
	stand = mailbox.Prepared
	for range 4 {
		second()
	}
	if len(orders[0]) != 1 || orders[0][0].Want != mailbox.Start {
		t.Fatalf("it was not started: %v", orders[0])
	}
	second(Disconnected{1})
	for range 6 {
		second()
	}
	for i, all := range orders {
		if len(all) != 1 || all[0].Want != mailbox.End {
			t.Errorf("its launcher is dead for longer than the grace; cluster %d is to do %v", i, all)
		}
	}
}

// The script of a part that is cancelled also runs its EXIT trap. The status that the trap reports does not mean that the part ended by
// itself.
func TestOnlyAReportedFailureExplainsAFailedPart(t *testing.T) {
	for _, c := range []struct {
		done bool
		code int
		own  bool
	}{{false, 0, false}, {true, 0, false}, {true, 1, true}, {true, 128, true}, {true, 143, false}} {
		if p := (&Part{Done: c.done, Code: c.code}); p.Failing() != c.own {
			t.Errorf("done %v with %d: its own failure: %v, want %v", c.done, c.code, !c.own, c.own)
		}
	}
}

// FuzzMachine plays events in any order. The machine must not panic, nothing may be due twice in the same second, and all records must be
// readable.
func FuzzMachine(f *testing.F) {
	for seed := range byte(8) {
		f.Add([]byte{0, 1, 2, seed, 3, 4, 5, 6, 7, seed, 8, 9, 10, 11, 12, 13, 14, 1, 2, 3, seed})
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		next := func() int64 {
			if len(script) == 0 {
				return 0
			}
			b := script[0]
			script = script[1:]
			return int64(b) - 2
		}
		clusters := []Cluster{{Name: "a"}, {Name: "b"}, {Name: "e", Embedded: true}}
		now := core.Time(1000)
		m, _ := New(now, clusters, nil, Settings{FairStart: 2, Timer: 1, Answer: 3, Grace: 10, BringUp: 5, Applications: 5, PerUser: 3}, nil)
		records := map[int64][]byte{}
		for len(script) > 0 {
			session, user := uint64(next()&7), []string{"ann", "bob"}[next()&1]
			e := Received{Session: session, User: user, Seq: 1}
			switch next() & 15 {
			case 0, 1:
				e.Message = &launcher.Hello{App: max(0, next()%4), Have: next()}
			case 2:
				e.Message = &launcher.Hello{Part: &launcher.Part{Cluster: []string{"a", "b", "e", "z"}[next()&3], Job: next() & 7}}
			case 3, 4:
				e.Message = &launcher.Subscribe{Most: next(), Jobs: []launcher.Part{{Cluster: "a", Job: next() & 7}, {Cluster: "b", Job: next() & 7}}}
			case 5, 6, 7:
				e.Message = &launcher.Request{View: next(), Tag: max(0, next()), Walltime: next() * next(), Hosts: []launcher.Hosts{{C: int(next()), N: int(next())}, {C: int(next()), N: int(next())}}}
			case 8:
				e.Message = &launcher.Ready{Job: next()}
			case 9:
				e.Message = &launcher.Done{Code: int(next())}
			case 10:
				e.Message = &launcher.Parts{Jobs: []launcher.Part{{Cluster: "b", Job: next() & 7}}}
			case 11, 12, 13:
				b := &mailbox.ClusterState{Read: now + next(), Hosts: int(next() & 15)}
				for range next() & 3 {
					b.Jobs = append(b.Jobs, mailbox.Job{ID: core.JobID(next() & 7), Application: next() & 3, User: user, State: "pending"})
				}
				for range next() & 3 {
					b.Parts = append(b.Parts, mailbox.Standing{Job: core.JobID(next() & 7), Application: next() & 3, Try: int(next()), Stand: mailbox.Stand((next() + 2) % 7), Nodes: []string{"n"}})
				}
				m.Step(now, StateShown{int(max(0, next())) % 3, b})
			case 14:
				m.Step(now, Disconnected{session})
			default:
				now += next()
			}
			if e.Message != nil {
				m.Step(now, e)
			}
			if m.Next() <= now || next()&1 == 0 {
				m.Wake(now)
			}
			if wrong := m.audit(); wrong != "" {
				t.Fatal(wrong)
			}
			if n := m.Next(); n < now {
				t.Fatalf("due at %d, before %d", n, now)
			}
			effects := m.Effects()
			for _, r := range effects.Stored {
				records[r.ID] = r.Data
			}
			for _, id := range effects.Deleted {
				delete(records, id)
			}
		}
		m.Snapshot()
		var all []Record
		for id, data := range records {
			all = append(all, Record{ID: id, Data: data})
		}
		again, err := New(now, clusters[1:], nil, Settings{Grace: 1}, all)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range again.Effects().Notes {
			if n.Verb == "damaged" {
				t.Fatal(n.Text)
			}
		}
	})
}

func TestClusterSeenLaterIsListedWithItsLinks(t *testing.T) {
	const clusters = 4
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}} {
		var all []Cluster
		for i := range clusters {
			all = append(all, Cluster{Name: string(rune('a' + i)), Speed: 1, Embedded: true})
		}
		m, err := New(1000, all, nil, Settings{Timer: 1, Answer: 30, Grace: 60, Applications: 8}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := &embeddedMachine{t: t, m: m, now: 1000, said: map[uint64][]launcher.Message{}, closed: map[uint64]bool{}}
		b.says(1, "ann", &launcher.Hello{Version: 2, Speaks: []int{2}})
		b.says(1, "ann", &launcher.Subscribe{})
		told := map[[2]int]int{}
		for i, c := range order {
			b.m.Step(b.now, StateShown{c, &mailbox.ClusterState{Read: b.now, Hosts: 4}})
			for range 3 {
				b.now++
				b.carry()
			}
			b.says(1, "ann", &launcher.Ack{View: int64(i + 1)})
		}
		for _, x := range b.said[1] {
			if change, ok := x.(*launcher.Change); ok {
				for _, c := range change.All {
					for _, l := range c.Links {
						told[[2]int{l.A, l.B}]++
					}
				}
			}
		}
		for a := range clusters {
			for c := a + 1; c < clusters; c++ {
				if n := told[[2]int{a, c}]; n != 1 {
					t.Errorf("read in the order %v, the link from %d to %d was told %d times", order, a, c, n)
				}
			}
		}
	}
}
