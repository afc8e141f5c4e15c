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

// A Call is one request, passed to the loop.
type Call struct {
	Request wire.Request
	UID     uint32 // the user, as identified by the kernel, or by munge for a request from another host
	PID     int32  // the ID of the process that asks; 0 if the process is on another host or in another PID namespace

	// Answer ends the session with a reply. It does not block and may be called from any goroutine.
	// A second call has no effect, and neither has a call after Gone is closed.
	Answer func(wire.Reply)
	// Gone is closed when the session has ended, because the shim disconnected or was answered, or
	// the server ends.
	Gone <-chan struct{}
}

// A Peer is the other end of a connection.
type Peer struct {
	UID  uint32
	PID  int32  // 0 if not known
	From string // HOST:PORT; "" on this host
}

// A Transport accepts connections, on a Unix socket or over TCP.
type Transport interface {
	// Accept waits for the next connection. After Close it returns net.ErrClosed.
	Accept() (Conn, error)
	// Close ends Accept and releases the address.
	Close() error
}

// A Conn is a connection that can identify its peer.
type Conn interface {
	net.Conn
	// Peer identifies the peer. It is called once, before anything else is read, under the deadline
	// of the request.
	Peer() (Peer, error)
}

// Defaults of Options.
const (
	DefaultMaxSessions = 4096
	DefaultPatience    = 10 * time.Second
)

// Options configure a server. A zero value selects the default.
type Options struct {
	Path        string         // the path of the socket
	Address     string         // HOST:PORT for jobs on other hosts; "" if there is none
	Authority   seal.Authority // authenticates users at Address; nil means munge with its usual socket
	MaxSessions int            // maximum number of open sessions; further ones are answered with wire.Busy
	MaxPerUser  int            // maximum number of open sessions per user, including root; by default a quarter of MaxSessions
	// HasName reports whether a uid belongs to a user. All uids without a user count together as
	// one user. nil means that the operating system is asked. HasName may take long, and several
	// goroutines call it.
	HasName   func(uid uint32) (bool, error)
	Patience  time.Duration // how long a shim may take to send its request, and to receive its reply
	Launchers Launchers     // handles sessions of version 2; nil if they are refused as an unknown version
	Readers   Readers       // handles queries of the journal from this host; nil if they are refused as an unknown version
	Log       hclog.Logger  // nil if there is none
}

// A Server passes the requests from its transports to the loop.
type Server struct {
	transports []Transport
	options    Options
	log        hclog.Logger
	calls      chan Call
	closing    sync.Once

	places *places
	desk   *desk

	mu   sync.Mutex
	late int // number of connections without a place that are being read anyway (turnAway)

	warnings LogLimit
}

// userName returns the name of a user for LogLimit.
func userName(uid uint32) string { return fmt.Sprintf("user %d", uid) }

// PerUser returns how many of the given number of sessions one user may have open.
func PerUser(sessions int) int { return max(1, sessions/4) }

// Listen returns a server on a Unix socket to which every user may connect (mode 0666), because the
// kernel identifies the user. It creates the socket's directory if it is absent. The directory must
// belong to the caller or to root, and no other user may write to it and so replace the socket.
// Listen replaces a socket that a killed sidecar left. If a running sidecar has the socket, the
// error is ErrLive.
//
// If the options have an Address, the server also listens there, and munge identifies the user.
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

// New returns a server over the given transports. Serve closes them at its end.
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

// Calls returns the channel of requests. Requests of one user come in the order in which they
// arrived, and several users take turns. The channel is never closed, so its reader has to end with
// the context that also ends Serve.
func (s *Server) Calls() <-chan Call { return s.calls }

// Addresses returns the TCP addresses on which the server listens.
func (s *Server) Addresses() []string {
	var all []string
	for _, t := range s.transports {
		if tcp, ok := t.(*tcpListener); ok {
			all = append(all, tcp.Addr().String())
		}
	}
	return all
}

// Close closes the transports of a server that will not serve. Serve closes them at its end.
func (s *Server) Close() {
	s.closing.Do(func() {
		for _, t := range s.transports {
			t.Close()
		}
	})
}

// Serve accepts sessions until ctx ends. Then it ends the open sessions without a reply, so that
// their shims ask again, and returns nil when their goroutines have ended. It returns an error only
// if a transport fails permanently. It may be called once.
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

// take accepts the sessions of one transport.
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
		default: // the process has no file descriptors left, or the connection was closed before it was accepted
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

// session serves one connection, in its own goroutine.
func (s *Server) session(ctx context.Context, conn Conn) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })() // closing the connection ends the reads and writes below

	conn.SetDeadline(time.Now().Add(s.options.Patience))
	peer, err := conn.Peer()
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), ctx.Err() != nil && (errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled)):
		return // the peer only tested the address, or the server ends
	default:
		network := "" // "" stands for this host
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

// bad refuses a frame that is not a request.
func (s *Server) bad(ctx context.Context, conn Conn, err error, peer Peer, log hclog.Logger) {
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return // the server ends, or the peer only tested the address
	}
	status := wire.Refused
	if errors.Is(err, os.ErrDeadlineExceeded) {
		status = wire.Busy // this may be a correct shim on a slow host, which then asks again
		err = fmt.Errorf("the request was not complete within %v", s.options.Patience)
	}
	s.warnings.Warn(log, userName(peer.UID), "request refused", "why", err)
	s.reply(conn, wire.Reply{Status: status, Why: err.Error()}, log)
}

// await passes the request to the loop and waits for the answer as long as the shim does.
func (s *Server) await(ctx context.Context, conn Conn, request wire.Request, peer Peer, log hclog.Logger) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.watch(conn, peer, log)
	}()
	defer func() {
		conn.Close() // closing the connection ends watch
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
			default: // the call was already answered
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

// watch returns when the shim disconnects. A shim that sends anything after its request counts as
// disconnected.
func (s *Server) watch(conn Conn, peer Peer, log hclog.Logger) {
	var b [1]byte
	if n, _ := conn.Read(b[:]); n > 0 {
		s.warnings.Warn(log, userName(peer.UID), "session ended", "why", "bytes after the request: one request a connection")
	}
}

// reply writes the reply of a session. A shim that does not receive it asks again.
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
