package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
)

const noon core.Time = 1_780_000_000

// clusterOf returns a cluster with jobs of all kinds. The parameter `run` is the number of running jobs
// and `wait` is the number of waiting jobs. Each waiting job is planned to start when nodes are free.
func clusterOf(nodes, run, wait int) *view.Snapshot {
	s := &view.Snapshot{Read: noon, Now: noon, Queue: view.Queue{At: noon, Cluster: "lab", Nodes: nodes, Lead: 4}, Broken: map[adapter.Key]view.Breach{}}
	for i := range nodes {
		s.Nodes = append(s.Nodes, view.SnapshotNode{Name: fmt.Sprintf("n%d", i+1)})
	}
	users := []string{"ann", "bob", "carl", "dora"}
	each := max(1, nodes*3/4/max(1, run))
	names := func(first, n int) string {
		var all []string
		for k := range n {
			all = append(all, fmt.Sprintf("n%d", first+k+1))
		}
		return hostlist.Compact(all)
	}
	for i := range run {
		e := view.Entry{ID: core.JobID(i + 1), Submitted: noon - 7200, User: users[i%4], Name: fmt.Sprintf("sim%d", i), Kind: "ordinary", Phase: "running",
			Nodes: names(i*each, each), Size: each, Start: noon - 1800 - core.Time(i%7)*60, End: noon + 1800 + core.Time(i%11)*300}
		if i%2 == 0 {
			e.Kind, e.Step, e.Request = "evolving", 1, fmt.Sprintf("ep=%dx1h,%dx30m", each, 2*each)
			e.Plan = core.EP{{Duration: 3600, Nodes: each}, {Duration: 1800, Nodes: 2 * each}}
			e.End = e.Start + 5400
		}
		e.Free = e.End
		s.Queue.Jobs = append(s.Queue.Jobs, e)
	}
	for i := range wait {
		size := 1 + i%max(1, min(8, nodes/2))
		start := noon + 5400 + core.Time(i/max(1, nodes/8))*1800
		e := view.Entry{ID: core.JobID(run + i + 1), Submitted: noon - 600, User: users[i%4], Name: fmt.Sprintf("wait%d", i), Kind: "ordinary", Phase: "waiting", Rank: i + 1,
			Size: size, Start: start, End: start + 1500, Free: start + 1500, Why: "Priority"}
		if i%3 == 0 {
			e.Kind, e.Request = "evolving", fmt.Sprintf("ep=%dx10m,%dx15m", size, size+1)
			e.Plan = core.EP{{Duration: 600, Nodes: size}, {Duration: 900, Nodes: size + 1}}
		}
		s.Queue.Jobs = append(s.Queue.Jobs, e)
	}
	return s
}

// later returns a snapshot that is some seconds later than s. In this snapshot the first waiting job has started, and the planned starts
// of all other waiting jobs have moved.
func later(s *view.Snapshot, seconds core.Time) *view.Snapshot {
	n := *s
	n.Now, n.Read = s.Now+seconds, s.Read+seconds
	n.Queue.Jobs = append([]view.Entry(nil), s.Queue.Jobs...)
	for i := range n.Queue.Jobs {
		e := &n.Queue.Jobs[i]
		if e.Rank > 0 {
			e.Start, e.End, e.Free = e.Start+seconds, e.End+seconds, e.Free+seconds
		}
	}
	return &n
}

// open starts a server that serves until the test ends. It returns the server and its address.
func open(t testing.TB, o Options) (*Server, string) {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if o.Clock == nil {
		o.Clock = func() time.Time { return time.Unix(noon, 0) }
	}
	h := New(o)
	serveOn(t, h, l)
	return h, "http://" + l.Addr().String()
}

// serveOn serves on a listener until the test ends.
func serveOn(t testing.TB, h *Server, l net.Listener) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// shows passes a snapshot to the server, and waits for the version of this snapshot.
func shows(t testing.TB, h *Server, s *view.Snapshot) *version {
	t.Helper()
	before := h.newest()
	h.Receive(s)
	for e, fresh := h.latest(); ; e, fresh = h.latest() {
		if e != before {
			return e
		}
		select {
		case <-fresh:
		case <-time.After(time.Minute):
			t.Fatal("no edition was made of the scene")
		}
	}
}

func get(t testing.TB, url string, change func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}
