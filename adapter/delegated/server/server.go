package server

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter/session"
	"accordion/shim/wire/launcher"
)

// Options are the options of a Server.
type Options struct {
	Meter Meter        // nil if nothing is counted
	Log   hclog.Logger // nil if there is none
}

// Server serves the sessions of launchers and parts that connect to the session servers of all clusters.
type Server struct {
	life   context.Context
	meter  Meter
	log    hclog.Logger
	events chan Event
	last   atomic.Uint64 // number of the last session

	warnings session.LogLimit
}

// New returns a server. When the context `life` ends, all sessions of the server end. Until then, the caller must read its events.
func New(life context.Context, o Options) *Server {
	if o.Meter == nil {
		o.Meter = noMeter{}
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	return &Server{life: life, meter: o.Meter, log: o.Log, events: make(chan Event)}
}

// Events returns the channel with the messages of all sessions. Messages of the same session come in order. The reader of the channel
// must not wait for a session. It may call Send and Close, which never block. After the reader has closed a session, a message that was
// already on its way may still come. The channel is never closed.
func (s *Server) Events() <-chan Event { return s.events }

// Of returns the session.Launchers for the session server of one cluster. `lookup` returns the name that the cluster's batch system has
// for a user ID; nil means session.LookupUser.
func (s *Server) Of(cluster string, lookup func(uid uint32) (string, error)) session.Launchers {
	if lookup == nil {
		lookup = session.LookupUser
	}
	return &entrance{server: s, cluster: cluster, users: session.NewUserNames(lookup)}
}

// entrance serves the launchers that connect to one cluster's session server.
type entrance struct {
	server  *Server
	cluster string
	users   *session.UserNames
}

var _ session.Launchers = (*entrance)(nil)

// Session implements session.Launchers.
func (e *entrance) Session(ctx context.Context, conn net.Conn, peer session.Peer, first []byte) {
	s := e.server
	defer context.AfterFunc(s.life, func() { conn.Close() })()
	log := s.log.With("cluster", e.cluster, "uid", peer.UID, "pid", peer.PID)
	if peer.From != "" {
		log = s.log.With("cluster", e.cluster, "uid", peer.UID, "from", peer.From)
	}
	l := newConnection(s, conn, log)
	go l.write()

	l.user, l.uid = User{Cluster: e.cluster, PID: peer.PID}, fmt.Sprintf("user %d", peer.UID)
	hello, m, refuse := l.greet(first)
	if refuse == nil {
		l.setCluster(hello, e.cluster)
		l.agreePacking(hello)
		refuse = l.seal(hello, m.seq)
	}
	if refuse == nil {
		var err error
		if l.user.Name, err = e.users.Name(ctx, peer.UID); err != nil {
			refuse = &launcher.Refuse{To: m.seq, Code: launcher.CodeAuth, Text: "your user name is not known here: " + err.Error()}
		}
	}
	if refuse != nil {
		l.refuse(refuse)
		l.end()
		return
	}
	l.serve(m)
}

// Full implements session.Launchers.
func (e *entrance) Full(conn net.Conn, first []byte, why string) {
	l := newConnection(e.server, conn, hclog.NewNullLogger()) // no log, because the session server has already logged the refusal
	go l.write()
	_, m, refuse := l.greet(first)
	if refuse == nil {
		refuse = &launcher.Refuse{To: m.seq, Code: launcher.CodeFull, Text: why + ": try again later"}
	}
	l.refuse(refuse)
	l.end()
}

// Time limits of a session (docs/protocol.md).
const (
	quiet     = 15 * time.Second // a ping is sent after this time without a frame
	pings     = 3                // the peer counts as dead after this many pings without a frame
	frameTime = 10 * time.Second // time limit for reading a frame after its first byte
	writeTime = 5 * time.Second
	lastRead  = time.Second // time for a peer to read its last message before the connection is closed
)

// Limits of what may be queued for a peer.
const (
	maxQueue      = 64 // messages
	maxQueueBytes = 8 << 20
)
