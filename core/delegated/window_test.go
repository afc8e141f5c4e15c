package delegated_test

import (
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/sched"
)

// named is a cluster whose hosts are occupied by name: for each host, the stretches of time in which it is occupied.
type named [][][2]core.Time

// free reports whether a host is free in the whole stretch.
func (n named) free(host int, from, to core.Time) bool {
	for _, taken := range n[host] {
		if taken[0] < to && from < taken[1] {
			return false
		}
	}
	return true
}

// local returns the cluster's load for a pass: how many hosts are occupied, and when each host is free.
func (n named) local() sched.Local {
	state := sched.Repeated{}.New(core.Machine{Nodes: len(n)})
	l := sched.Local{Windows: []sched.Window{}}
	id := core.JobID(0)
	for _, all := range n {
		from := core.Time(0)
		for _, taken := range all {
			state.Running(0, core.Allocation{Job: id, Start: taken[0], EP: core.EP{{Duration: taken[1] - taken[0], Nodes: 1}}})
			id++
			if taken[0] > from {
				l.Windows = append(l.Windows, sched.Window{From: from, To: taken[0], Hosts: 1})
			}
			from = taken[1]
		}
		l.Windows = append(l.Windows, sched.Window{From: from, To: core.Forever, Hosts: 1})
	}
	l.State = state.(sched.Viewer)
	return l
}

func drawNamed(t *rapid.T) named {
	n := make(named, rapid.IntRange(1, 6).Draw(t, "hosts"))
	for host := range n {
		at := core.Time(0)
		for range rapid.IntRange(0, 2).Draw(t, "taken") {
			from := at + rapid.Int64Range(0, 20).Draw(t, "from")
			at = from + rapid.Int64Range(1, 20).Draw(t, "long")
			n[host] = append(n[host], [2]core.Time{from, at})
			at++
		}
	}
	return n
}

// One of ten hosts is reserved for other users in an hour, and another becomes free in half an hour. Nine hosts
// are free in each second from now on. But the same nine hosts are free for two hours only if the request
// starts in half an hour.
func TestARequestWaitsForHostsThatAreFreeByName(t *testing.T) {
	n := make(named, 10)
	n[0], n[1] = [][2]core.Time{{3600, 10_800}}, [][2]core.Time{{0, 1800}}
	for hosts, want := range map[int]core.Time{8: 0, 9: 1800, 10: 10_800} {
		w := newTwins(t, []int{10}, standard)
		_, err := w.Subscribe(0, 1)
		must(t, err)
		must(t, w.Request(0, 1, on(0, hosts, 7200)))
		for _, r := range []*delegated.RMS{w.linear, w.indexed} {
			must(t, r.Local(0, 0, n.local()))
		}
		messages, err := w.Wake(0)
		must(t, err)
		switch starts := len(started(messages)) > 0; {
		case starts != (want == 0):
			t.Errorf("%d hosts: starts at once: %v", hosts, starts)
		case want > 0 && w.linear.Estimate(1) != want:
			t.Errorf("%d hosts: estimated at %d, want %d", hosts, w.linear.Estimate(1), want)
		}
	}
}

// A single request is estimated at the first second from which enough hosts are free, each for the whole time.
func TestAnEstimateIsTheFirstSecondForWhichHostsCanBeNamed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := drawNamed(rt)
		hosts, walltime := rapid.IntRange(1, len(n)).Draw(rt, "wanted"), rapid.Int64Range(1, 40).Draw(rt, "walltime")
		want := core.Time(0)
		for ; ; want++ {
			free := 0
			for host := range n {
				if n.free(host, want, want+walltime) {
					free++
				}
			}
			if free >= hosts {
				break
			}
		}
		w := newTwins(t, []int{len(n)}, standard)
		_, err := w.Subscribe(0, 1)
		must(t, err)
		must(t, w.Request(0, 1, on(0, hosts, walltime)))
		for _, r := range []*delegated.RMS{w.linear, w.indexed} {
			must(t, r.Local(0, 0, n.local()))
		}
		messages, err := w.Wake(0)
		must(t, err)
		got := core.Time(0)
		if len(started(messages)) == 0 {
			got = w.linear.Estimate(1)
		}
		if got != want {
			rt.Fatalf("%d hosts for %d s of %v: estimated at %d, want %d", hosts, walltime, n, got, want)
		}
	})
}

// Requests that start in one pass can get hosts by name together.
func TestRequestsThatStartTogetherGetDifferentHosts(t *testing.T) {
	several := 0
	rapid.Check(t, func(rt *rapid.T) {
		n := drawNamed(rt)
		w := newTwins(t, []int{len(n)}, standard)
		asked := map[core.JobID][2]int64{}
		for id := range core.JobID(rapid.IntRange(2, 6).Draw(rt, "applications")) {
			hosts, walltime := rapid.IntRange(1, max(1, len(n)/3)).Draw(rt, "wanted"), rapid.Int64Range(1, 20).Draw(rt, "walltime")
			_, err := w.Subscribe(0, id)
			must(t, err)
			must(t, w.Request(0, id, on(0, hosts, walltime)))
			asked[id] = [2]int64{int64(hosts), walltime}
		}
		for _, r := range []*delegated.RMS{w.linear, w.indexed} {
			must(t, r.Local(0, 0, n.local()))
		}
		messages, err := w.Wake(0)
		must(t, err)
		all := started(messages)
		if len(all) > 1 {
			several++
		}
		for _, id := range all { // the applications that last at least as long as id need no more hosts together than are free for that long
			needs, free := int64(0), int64(0)
			for _, other := range all {
				if asked[other][1] >= asked[id][1] {
					needs += asked[other][0]
				}
			}
			for host := range n {
				if n.free(host, 0, asked[id][1]) {
					free++
				}
			}
			if needs > free {
				rt.Fatalf("%v of %v start on %v: %d hosts are needed for %d s, and %d are free", all, asked, n, needs, asked[id][1], free)
			}
		}
	})
	if several < 10 { // of 100 cases
		t.Errorf("several started together %d times only: the test shows little", several)
	}
}
