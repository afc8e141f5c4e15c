package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-hclog"

	"accordion/shim/seal"
	"accordion/shim/wire"
)

// Call is one request, handed to the loop.
type Call struct {
	Request wire.Request
	UID     uint32 // who asks, as the kernel says, or munge when it comes from another host
	PID     int32  // the process that asks; 0 when it is on another host or in another PID namespace

	// Answer ends the session with a reply. It never blocks, may be called from any goroutine, and only its first
	// call counts; after Gone is closed it does nothing.
	Answer func(wire.Reply)
	// Gone is closed when the session is over: the shim went away, was answered, or the server ends.
	Gone <-chan struct{}
}

// Peer is who is at the other end of a connection.
type Peer struct {
	UID  uint32
	PID  int32  // 0 where it cannot be known
	From string // HOST:PORT; "" on this machine
}

// Transport brings connections: a Unix socket, or TCP, which crosses machines.
type Transport interface {
	// Accept waits for the next connection. net.ErrClosed after Close.
	Accept() (Conn, error)
	// Close ends Accept and gives the address free.
	Close() error
}

// Conn is a connection that knows its peer.
type Conn interface {
	net.Conn
	// Peer is called once, before anything else is read, under the deadline of the request.
	Peer() (Peer, error)
}

// The defaults of Options.
const (
	DefaultMaxSessions = 4096
	DefaultPatience    = 10 * time.Second
)

// Options of a server. Zero values stand for the defaults.
type Options struct {
	Path        string         // of the socket
	Address     string         // HOST:PORT for jobs on other hosts; "": none
	Authority   seal.Authority // proves who asks at Address; nil: munge, with its usual socket
	MaxSessions int            // open at once, of all users; more are told wire.Busy
	MaxPerUser  int            // open at once, of one user, root included; a quarter of MaxSessions by default
	// HasName reports whether a uid is a user's; all those that are not count as one user. nil: the operating system's users. It may
	// take long, and several goroutines call it.
	HasName   func(uid uint32) (bool, error)
	Patience  time.Duration // for a shim to send its request, and to take its reply
	Launchers Launchers     // takes the sessions of version 2; nil: they are refused as sessions of any other version are
	Readers   Readers       // answers who looks at the journal, on this host; nil: they are refused as any other version is
	Log       hclog.Logger  // nil: none
}

// Server hands the requests that come over its transports to the loop.
type Server struct {
	transports []Transport
	options    Options
	log        hclog.Logger
	calls      chan Call
	closing    sync.Once

	places *places
	desk   *desk

	mu   sync.Mutex
	late int // connections that came when there was no place, and are read anyway (turnAway)

	warnings LogLimit
}

// userName names a user as the cause of warnings.
func userName(uid uint32) string { return fmt.Sprintf("user %d", uid) }

// PerUser is how many of so many sessions one user may have open.
func PerUser(sessions int) int { return max(1, sessions/4) }

// Listen is a server on a Unix socket that every user may connect to (mode 0666: who asks is told by the kernel). The
// socket's directory is made when it is absent; it must belong to us or to root and nobody else may write to it,
// or another could put his socket in our place. A socket that a killed sidecar left behind is replaced; a live one is ErrLive.
//
// When the options name an Address, it also listens there, and munge tells who asks.
func Listen(o Options) (*Server, error) {
	socket, err := listenUnix(o.Path)
	if err != nil {
		return nil, fmt.Errorf("listen on the socket %s: %w", o.Path, err)
	}
	if o.Address == "" {
		return New(o, socket), nil
	}
	if o.Authority == nil {
		o.Authority = seal.NewMunge("")
	}
	tcp, err := listenTCP(o.Address, o.Authority, keepAlive)
	if err != nil {
		socket.Close()
		return nil, fmt.Errorf("listen on the address %s: %w", o.Address, err)
	}
	return New(o, socket, tcp), nil
}

// New is a server over any transports. Serve closes them at its end.
func New(o Options, t ...Transport) *Server {
	if o.MaxSessions <= 0 {
		o.MaxSessions = DefaultMaxSessions
	}
	if o.MaxPerUser <= 0 {
		o.MaxPerUser = PerUser(o.MaxSessions)
	}
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	if o.HasName == nil {
		o.HasName = systemHasName
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	return &Server{
		transports: t,
		options:    o,
		log:        o.Log,
		calls:      make(chan Call),
		places:     newPlaces(o.MaxSessions, o.MaxPerUser, o.HasName),
		desk:       newDesk(),
	}
}

// Calls returns the channel of the requests. Requests of one user come in the order in which they
// were complete, requests of several users by turns. The channel is never closed: its reader ends
// with the context that also ends Serve.
func (s *Server) Calls() <-chan Call { return s.calls }

// Addresses are the TCP addresses that it listens on.
func (s *Server) Addresses() []string {
	var all []string
	for _, t := range s.transports {
		if tcp, ok := t.(*tcpListener); ok {
			all = append(all, tcp.Addr().String())
		}
	}
	return all
}

// Close gives up what it listens on, for a server that is not to serve after all; Serve does so at its end.
func (s *Server) Close() {
	s.closing.Do(func() {
		for _, t := range s.transports {
			t.Close()
		}
	})
}

// Serve takes sessions until ctx ends, then ends those that are open without a reply (their shims ask again) and
// returns nil when the last of their goroutines has. It returns an error only when a transport fails for good.
// It is called once.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		s.Close()
	})
	var sessions, taking sync.WaitGroup
	errs := make([]error, len(s.transports))
	for i, t := range s.transports {
		taking.Go(func() {
			defer cancel()
			errs[i] = s.take(ctx, t, &sessions)
		})
	}
	sessions.Go(func() { s.desk.hand(ctx, s.calls) })
	taking.Wait()
	<-closed
	sessions.Wait()
	return errors.Join(errs...)
}

// take takes the sessions of one transport.
func (s *Server) take(ctx context.Context, t Transport, sessions *sync.WaitGroup) error {
	pauses := &backoff.ExponentialBackOff{InitialInterval: 5 * time.Millisecond, Multiplier: 2, MaxInterval: time.Second}
	for {
		conn, err := t.Accept()
		switch {
		case err == nil:
			pauses.Reset()
			sessions.Go(func() { s.session(ctx, conn) })
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("take sessions: %w", err)
		default: // out of file descriptors, a connection that was gone before it was taken: others go on
			pause := pauses.NextBackOff()
			s.log.Error("a session could not be taken", "why", err, "again_in", pause)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// session is the life of one connection, in its own goroutine.
func (s *Server) session(ctx context.Context, conn Conn) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })() // ends whatever reads or writes below

	conn.SetDeadline(time.Now().Add(s.options.Patience))
	peer, err := conn.Peer()
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), ctx.Err() != nil && (errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled)):
		return // somebody only looked whether we are here; or we end
	default:
		network := "" // of this machine
		if stranger := (*strangerError)(nil); errors.As(err, &stranger) {
			network = stranger.network
		}
		s.warnings.Warn(s.log, network, "a session's peer could not be told", "why", err)
		return
	}
	log := s.log.With("uid", peer.UID, "pid", peer.PID)
	if peer.From != "" {
		log = s.log.With("uid", peer.UID, "from", peer.From)
	}
	place, why := s.places.enter(peer.UID, func() { conn.Close() })
	if why != "" {
		s.warnings.Warn(log, userName(peer.UID), "session refused", "why", why)
		s.turnAway(conn, why, log)
		return
	}
	defer s.places.leave(place)

	first, err := wire.ReadFrame(conn)
	if err != nil {
		s.bad(ctx, conn, err, peer, log)
		return
	}
	if s.options.Launchers != nil && launchers(first) {
		conn.SetDeadline(time.Time{})
		s.options.Launchers.Session(ctx, conn, peer, first)
		return
	}
	if s.options.Readers != nil && peer.From == "" && queries(first) {
		conn.SetDeadline(time.Time{})
		s.options.Readers.Session(ctx, conn, peer, first)
		return
	}
	request, err := wire.ReadRequest(bytes.NewReader(first))
	if err != nil {
		s.bad(ctx, conn, err, peer, log)
		return
	}
	conn.SetDeadline(time.Time{})
	s.await(ctx, conn, request, peer, log)
}

// bad refuses what is not a request.
func (s *Server) bad(ctx context.Context, conn Conn, err error, peer Peer, log hclog.Logger) {
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return // we end; or somebody only looked whether we are here
	}
	status := wire.Refused
	if errors.Is(err, os.ErrDeadlineExceeded) {
		status = wire.Busy // a good shim on a machine that stood still: it may ask again
		err = fmt.Errorf("the request was not complete within %v", s.options.Patience)
	}
	s.warnings.Warn(log, userName(peer.UID), "request refused", "why", err)
	s.reply(conn, wire.Reply{Status: status, Why: err.Error()}, log)
}

// await hands the request to the loop and waits for the answer, for as long as the shim does.
func (s *Server) await(ctx context.Context, conn Conn, request wire.Request, peer Peer, log hclog.Logger) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.watch(conn, peer, log)
	}()
	defer func() {
		conn.Close() // ends watch
		<-gone
	}()

	answer := make(chan wire.Reply, 1)
	call := Call{
		Request: request,
		UID:     peer.UID,
		PID:     peer.PID,
		Gone:    gone,
		Answer: func(r wire.Reply) {
			select {
			case answer <- r:
			default: // answered already
			}
		},
	}
	s.desk.push(&call)
	defer s.desk.drop(&call)
	select {
	case r := <-answer:
		s.reply(conn, r, log)
	case <-gone:
	case <-ctx.Done():
	}
}

// watch returns when the shim goes away. A shim sends nothing after its request: one that does is treated as gone.
func (s *Server) watch(conn Conn, peer Peer, log hclog.Logger) {
	var b [1]byte
	if n, _ := conn.Read(b[:]); n > 0 {
		s.warnings.Warn(log, userName(peer.UID), "session ended", "why", "bytes after the request: one request a connection")
	}
}

// reply writes the one reply of a session. A shim that does not take it loses it, and asks again.
func (s *Server) reply(conn Conn, r wire.Reply, log hclog.Logger) {
	conn.SetWriteDeadline(time.Now().Add(s.options.Patience))
	err := wire.WriteReply(conn, r)
	var long *wire.TooLongError
	switch {
	case errors.As(err, &long):
		log.Error("a reply cannot be written", "why", err)
	case errors.Is(err, seal.ErrUnavailable):
		log.Error("a reply cannot be proved", "why", err)
	case err != nil:
		log.Debug("a reply was not taken", "why", err)
	}
}
