package session

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
	"accordion/shim/wire"
)

// These benchmarks give the figures of docs/performance.md. Both sides and a real munge run on this
// host, so the host does twice the work of a sidecar's host.

// answering starts a server with a real munge, which answers immediately until the benchmark ends.
func answering(b *testing.B) (server *Server, address string, munge *seal.Munge) {
	b.Helper()
	munge = seal.NewMunge(sealtest.Munged(b))
	var err error
	server, err = Listen(Options{Path: filepath.Join(b.TempDir(), "s"), Address: "127.0.0.1:0", Authority: munge})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Serve(ctx); err != nil {
			b.Error(err)
		}
	})
	running.Go(func() {
		for {
			select {
			case call := <-server.Calls():
				call.Answer(wire.Reply{Status: wire.Resized})
			case <-ctx.Done():
				return
			}
		}
	})
	b.Cleanup(func() { cancel(); running.Wait() })
	return server, server.Addresses()[0], munge
}

// `once` runs one session from a host, which is one of the addresses 127.0.0.0/8 of this host.
func once(ctx context.Context, from net.IP, address string, munge *seal.Munge) error {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	raw, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer raw.Close()
	conn, err := seal.Connect(ctx, raw, munge, seal.RootOr(os.Getuid()))
	if err != nil {
		return err
	}
	if err := wire.WriteRequest(conn, wire.Request{Job: 1}); err != nil {
		return err
	}
	reply, err := wire.ReadReply(conn)
	if err == nil && reply.Status == wire.Busy {
		err = &seal.RefusedError{Why: reply.Why}
	}
	return err
}

// BenchmarkSessionOnTheSocket measures sessions on the socket, where the kernel identifies the
// user, for comparison.
func BenchmarkSessionOnTheSocket(b *testing.B) {
	server, _, _ := answering(b)
	for b.Loop() {
		conn, err := net.Dial("unix", server.options.Path)
		if err != nil {
			b.Fatal(err)
		}
		if err := wire.WriteRequest(conn, wire.Request{Job: 1}); err != nil {
			b.Fatal(err)
		}
		if _, err := wire.ReadReply(conn); err != nil {
			b.Fatal(err)
		}
		conn.Close()
	}
}

func BenchmarkSessionOverTCP(b *testing.B) {
	_, address, munge := answering(b)
	for b.Loop() {
		if err := once(b.Context(), net.IPv4(127, 0, 0, 1), address, munge); err != nil {
			b.Fatal(err)
		}
	}
}

// Jobs on a thousand hosts reach a step boundary in the same second.
func BenchmarkThousandSessionsOverTCPAtOnce(b *testing.B) {
	_, address, munge := answering(b)
	for b.Loop() {
		var shims sync.WaitGroup
		for i := range 1000 {
			shims.Go(func() {
				for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
					err := once(b.Context(), net.IPv4(127, 1, byte(i>>8), byte(i)), address, munge)
					var busy *seal.RefusedError
					if err == nil {
						return
					}
					if !errors.As(err, &busy) {
						b.Error(err)
						return
					}
					time.Sleep(pause) // the shim makes the same pause
				}
			})
		}
		shims.Wait()
	}
}
