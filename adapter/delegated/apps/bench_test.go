package apps

import (
	"fmt"
	"testing"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// crowd returns a machine with eight embedded clusters. One application holds all hosts, and n other applications wait.
func crowd(b *testing.B, n int) (*Machine, core.Time) {
	var clusters []Cluster
	for i := range 8 {
		clusters = append(clusters, Cluster{Name: fmt.Sprint("c", i), Speed: 1, Embedded: true})
	}
	s := Settings{FairStart: 5, Timer: 1, Answer: 1 << 20, Grace: 60, BringUp: 30, Applications: 200}
	now := core.Time(1000)
	m, err := New(now, clusters, nil, s, nil)
	if err != nil {
		b.Fatal(err)
	}
	show := func() {
		for i := range clusters {
			m.Step(now, StateShown{i, &mailbox.ClusterState{Read: now, Hosts: 128}})
		}
	}
	show()
	for i := range n + 1 {
		id, user := uint64(i+1), fmt.Sprint("user", i%16)
		m.Step(now, Received{Session: id, User: user, Seq: 1, Message: &launcher.Hello{Version: 2, Speaks: []int{2}}})
		m.Step(now, Received{Session: id, User: user, Seq: 2, Message: &launcher.Subscribe{}})
	}
	m.Wake(now)
	all := func(i int) *launcher.Request {
		r := &launcher.Request{View: 1, Tag: 0, Walltime: 10_000}
		for c := range clusters {
			r.Hosts = append(r.Hosts, launcher.Hosts{C: c, N: 128})
			if i > 0 { // the others request hosts of one cluster
				r.Hosts[c].C, r.Walltime = i%8, int64(100+i)
				break
			}
		}
		return r
	}
	for i := range n + 1 {
		m.Step(now, Received{Session: uint64(i + 1), User: fmt.Sprint("user", i%16), Seq: 3, Message: all(i)})
	}
	for range 3 {
		now++
		show()
		m.Wake(now)
		m.Effects()
	}
	return m, now
}

// BenchmarkStep measures how long the machine takes for one event while 200 or 2,000 applications exist. The events are an
// acknowledgement that changes nothing, a cluster's state, a pass, and a second at which nothing is due.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprintf("ack/%d", n), func(b *testing.B) {
			m, now := crowd(b, n)
			for b.Loop() {
				m.Step(now, Received{Session: 5, User: "user4", Seq: 4, Message: &launcher.Ack{View: 1}})
				m.Effects()
			}
		})
		b.Run(fmt.Sprintf("request/%d", n), func(b *testing.B) {
			m, now := crowd(b, n)
			tag := int64(1)
			for b.Loop() {
				now, tag = now+1, tag+1
				m.Step(now, Received{Session: 5, User: "user4", Seq: 4, Message: &launcher.Request{View: 1, Tag: tag, Walltime: 100 + tag%2, Hosts: []launcher.Hosts{{C: 1, N: 3}}}})
				m.Effects()
			}
		})
		b.Run(fmt.Sprintf("state/%d", n), func(b *testing.B) {
			m, now := crowd(b, n)
			for b.Loop() {
				m.Step(now, StateShown{0, &mailbox.ClusterState{Read: now, Hosts: 128}})
				m.Effects()
			}
		})
		b.Run(fmt.Sprintf("pass/%d", n), func(b *testing.B) {
			m, now := crowd(b, n)
			for b.Loop() {
				now++
				m.Step(now, StateShown{0, &mailbox.ClusterState{Read: now, Hosts: 128}})
				m.Wake(now)
				m.Effects()
			}
		})
		b.Run(fmt.Sprintf("second/%d", n), func(b *testing.B) {
			m, now := crowd(b, n)
			for b.Loop() {
				now++
				m.Wake(now)
				m.Effects()
			}
		})
	}
}
