package server

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"accordion/adapter/session"
	"accordion/internal/testenv"
	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/packed"
)

// crowd is a large number of launchers of one user that are connected to the socket and have received their welcome.
type crowd struct {
	mu       sync.Mutex
	peers    []*bare
	sessions []Session
}

// bare is the connection of one launcher of a crowd. It can read packed frames.
type bare struct {
	net.Conn
	packs  bool
	unpack packed.Unpacker
}

// gather connects n launchers. Their ends are bare connections, which need little memory compared with the server's ends.
func (s *served) gather(t testing.TB, n int) *crowd {
	t.Helper()
	c := &crowd{}
	c.alive(t)
	hello := frame(t, 1, &launcher.Hello{Version: launcher.Version, Speaks: []int{2}, Name: "one of many", Deflate: packed.Version})
	for range n {
		socket, err := net.Dial("unix", s.path)
		if err != nil {
			t.Fatal(err)
		}
		conn := &bare{Conn: socket}
		t.Cleanup(func() { conn.Close() })
		if _, err := conn.Write(hello); err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-s.Events():
			e.Session.Send(&launcher.Welcome{Version: launcher.Version, App: int64(len(c.peers) + 1), Pace: 1})
			c.mu.Lock()
			c.peers, c.sessions = append(c.peers, conn), append(c.sessions, e.Session)
			c.mu.Unlock()
		case <-time.After(long):
			t.Fatal("a hello did not come")
		}
		if m := receive(t, conn); m.Type() != "welcome" {
			t.Fatalf("got %+v", m)
		}
	}
	return c
}

// alive makes all peers send a frame from time to time until the test ends, so that they do not count as dead on a slow machine.
func (c *crowd) alive(t testing.TB) {
	pong := frame(t, 9, &launcher.Pong{})
	done := make(chan struct{})
	var speaking sync.WaitGroup
	speaking.Go(func() {
		for {
			select {
			case <-time.After(5 * time.Second):
			case <-done:
				return
			}
			c.mu.Lock()
			for _, p := range c.peers {
				p.Write(pong)
			}
			c.mu.Unlock()
		}
	})
	t.Cleanup(func() { close(done); speaking.Wait() })
}

// receive returns the next message to a peer that is not a ping.
func receive(t testing.TB, conn *bare) launcher.Message {
	for {
		frame, err := wire.ReadUpTo(conn, launcher.MostToClient)
		if err == nil && conn.packs {
			frame, err = conn.unpack.Unpack(frame, launcher.MostToClient)
		}
		if err != nil {
			t.Error(err)
			return &launcher.End{Why: err.Error()}
		}
		m, _, err := launcher.Decode(frame)
		if err != nil {
			t.Error(err)
			return &launcher.End{Why: err.Error()}
		}
		if w, is := m.(*launcher.Welcome); is {
			conn.packs = w.Deflate > 0
		}
		if m.Type() != "ping" {
			return m
		}
	}
}

// change returns the view with the number `view`, as a message with 100 steps.
func change(view int64) *launcher.Change {
	steps := make([]int64, 200)
	for i := range 100 {
		steps[2*i], steps[2*i+1] = int64(1_800_000_000+600*i), int64(128-i)
	}
	return &launcher.Change{View: view, Now: 1_800_000_000, Est: 1_800_000_600, All: []launcher.ClusterChange{
		{C: 0, Kind: launcher.KindOccupation, From: steps[0], Steps: steps}}}
}

// broadcast sends a view to all launchers, and returns how long it took until the last launcher had received it.
func (c *crowd) broadcast(t testing.TB, view int64) time.Duration {
	var got sync.WaitGroup
	begin := make(chan struct{})
	for _, p := range c.peers {
		got.Go(func() {
			<-begin
			if m, is := receive(t, p).(*launcher.Change); !is || m.View != view {
				t.Errorf("got %+v, want view %d", m, view)
			}
		})
	}
	at := time.Now()
	close(begin)
	for _, s := range c.sessions {
		s.Send(change(view))
	}
	got.Wait()
	return time.Since(at)
}

// inUse returns the memory of the process's heap and stacks, in bytes.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// needs skips the test if the process may not open as many files as the test needs.
func needs(t testing.TB, files uint64) {
	t.Helper()
	var limit unix.Rlimit
	cause := ""
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < files {
		cause = fmt.Sprintf("only %d files may be open, %d are needed: ulimit -n", limit.Cur, files)
	}
	testenv.Needs(t, testenv.Missing("files", cause))
}

// loads lists numbers of launchers, each with the largest number of bytes of memory that the server may need for them.
var loads = []struct {
	launchers int
	most      int64
}{{200, 50 << 20}, {2000, 150 << 20}}

func TestThousandsOfLaunchers(t *testing.T) {
	for _, load := range loads {
		t.Run(fmt.Sprint(load.launchers), func(t *testing.T) {
			needs(t, uint64(2*load.launchers+100))
			s := serve(t, t.Context(), session.Options{MaxSessions: 8192})
			before := inUse()
			c := s.gather(t, load.launchers)
			for from := 0; from < load.launchers; from += 100 { // in groups, because a message that is not written within 5 seconds ends its session
				some := crowd{peers: c.peers[from : from+100], sessions: c.sessions[from : from+100]}
				some.broadcast(t, 1)
			}
			if took := inUse() - before; took > load.most {
				t.Errorf("%d bytes in use, at most %d", took, load.most)
			}
			for i, p := range c.peers {
				if _, err := p.Write(frame(t, 2, &launcher.Ack{View: int64(i + 1)})); err != nil {
					t.Fatal(err)
				}
			}
			acks := map[Session]int64{}
			for range c.peers {
				e := <-s.Events()
				acks[e.Session] = e.Message.(*launcher.Ack).View
			}
			for i, of := range c.sessions {
				if acks[of] != int64(i+1) {
					t.Fatalf("session %d: view %d, want %d", i, acks[of], i+1)
				}
			}
			for _, p := range c.peers {
				p.Close()
			}
			for range c.peers {
				if e := <-s.Events(); e.Message != nil {
					t.Fatalf("got %+v", e)
				}
			}
		})
	}
}

// BenchmarkMemory measures the memory of both ends of waiting sessions, in MiB.
func BenchmarkMemory(b *testing.B) {
	for _, load := range loads {
		b.Run(fmt.Sprint(load.launchers), func(b *testing.B) {
			needs(b, uint64(2*load.launchers+100))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			s := serve(b, ctx, session.Options{MaxSessions: 8192})
			before := inUse()
			c := s.gather(b, load.launchers)
			c.broadcast(b, 1)
			b.ReportMetric(float64(inUse()-before)/(1<<20), "MiB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkBroadcast measures the time from the first Send of a view with 100 steps until the last of 200 launchers in this process has
// read it. It reports the median of 50 measurements, in milliseconds. It also reports the processor time of both ends, which depends less
// on how busy the machine is.
func BenchmarkBroadcast(b *testing.B) {
	const n = 200
	needs(b, 2*n+100)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := serve(b, ctx, session.Options{})
	c := s.gather(b, n)
	var took []time.Duration
	before := processor(b)
	for view := range int64(50) {
		took = append(took, c.broadcast(b, view+1))
	}
	b.ReportMetric(float64((processor(b)-before).Microseconds())/1000/50, "cpu-ms/broadcast")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/median")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms/worst")
	b.ReportMetric(0, "ns/op")
}

// processor returns the processor time that this process has used.
func processor(t testing.TB) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
