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

// Options of a Server.
type Options struct {
	Meter Meter        // nil if nothing is counted
	Log   hclog.Logger // nil if there is none
}

// Server serves the sessions of launchers and of parts, of all clusters' session servers.
type Server struct {
	life   context.Context
	meter  Meter
	log    hclog.Logger
	events chan Event
	last   atomic.Uint64 // number of the last session

	warnings session.LogLimit
}

// New returns a server that lives until life ends. Then all its sessions end. Its events must be read until then.
func New(life context.Context, o Options) *Server {
	if o.Meter == nil {
		o.Meter = noMeter{}
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	return &Server{life: life, meter: o.Meter, log: o.Log, events: make(chan Event)}
}

// Events returns the channel of all sessions' messages. Messages of one session come in order. Its reader must not wait for a session; Send and
// Close never block. After the reader closed a session, a message that was under way may still come. The channel is never closed.
func (s *Server) Events() <-chan Event { return s.events }

// Of returns the session.Launchers for the session server of one cluster. `lookup` returns the name of a user ID, as the cluster's batch
// system knows it; nil means session.LookupUser.
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
	l := newConnection(e.server, conn, hclog.NewNullLogger()) // the session server has logged it
	go l.write()
	_, m, refuse := l.greet(first)
	if refuse == nil {
		refuse = &launcher.Refuse{To: m.seq, Code: launcher.CodeFull, Text: why + ": try again later"}
	}
	l.refuse(refuse)
	l.end()
}

// The times of a session (docs/protocol.md).
const (
	quiet     = 15 * time.Second // a ping is sent after this time without a frame
	pings     = 3                // the peer counts as dead after this many pings without a frame
	frameTime = 10 * time.Second // time for the rest of a frame
	writeTime = 5 * time.Second
	lastRead  = time.Second // time for a peer to read its last message; after that, its input is discarded
)

// Bounds of what may be queued for a peer.
const (
	maxQueue      = 64 // messages
	maxQueueBytes = 8 << 20
)
