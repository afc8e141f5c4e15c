package session

import (
	"context"
	"net"
	"testing"
	"time"

	"accordion/shim/wire"
)

// oneConn is a transport that accepts one connection.
type oneConn struct {
	conns chan Conn
	ended chan struct{}
}

func (o *oneConn) Accept() (Conn, error) {
	select {
	case c := <-o.conns:
		return c, nil
	case <-o.ended:
		return nil, net.ErrClosed
	}
}

func (o *oneConn) Close() error { close(o.ended); return nil }

// fromPeer is a connection with a given peer.
type fromPeer struct {
	net.Conn
	peer Peer
}

func (f fromPeer) Peer() (Peer, error) { return f.peer, nil }

// uidReaders answers each query with the user's ID.
type uidReaders struct{}

func (uidReaders) Session(_ context.Context, conn net.Conn, peer Peer, first []byte) {
	wire.WritePiece(conn, wire.Piece{Status: wire.Done, PID: int(peer.UID)})
}

func TestQueriesAreAnsweredOnThisHostWithoutTheLoop(t *testing.T) {
	for _, test := range []struct {
		name    string
		from    string
		readers Readers
		want    wire.Status
	}{
		{"on the socket", "", uidReaders{}, wire.Done},
		{"over TCP", "10.0.0.1:999", uidReaders{}, wire.Refused},
		{"by a server that has no readers", "", nil, wire.Refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer ours.Close()
			ours.SetDeadline(time.Now().Add(20 * time.Second))
			o := &oneConn{conns: make(chan Conn, 1), ended: make(chan struct{})}
			o.conns <- fromPeer{theirs, Peer{UID: 4711, From: test.from}}
			server := New(Options{Readers: test.readers}, o)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- server.Serve(ctx) }()
			go wire.WriteQuery(ours, wire.Query{What: wire.QueryView})
			p, err := wire.ReadPiece(ours)
			if err != nil || p.Status != test.want || test.want == wire.Done && p.PID != 4711 {
				t.Errorf("%+v (%v), want %s", p, err, test.want)
			}
			select {
			case call := <-server.Calls():
				t.Errorf("the loop got %+v", call.Request)
			default:
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
