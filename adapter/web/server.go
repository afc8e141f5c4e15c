package web

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"accordion/adapter/connlimit"
	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
)

// Options say what is shown, and how.
type Options struct {
	Journal *journal.Journal // of the cluster, which is only read; nil: there is none
	// Application is the application of a launcher of which a job is a part, nil of none; nil: there are none.
	Application func(job core.JobID, request string) (*status.Application, error)
	// Clock is the cluster's; nil: the wall clock. Pace is how many of its seconds pass in one; 0: 1.
	Clock   func() time.Time
	Pace    int
	Private bool     // jobs are shown without their users and names
	Names   []string // under which browsers may ask, beside addresses, localhost and the host's own name
	Any     bool     // whatever the name is: a proxy before a Unix socket has looked at it
	PID     int      // of the sidecar, for explanations
}

// Server is where the cluster is shown. The loop is on its one side (status.Subscriber), readers are on the other.
type Server struct {
	options   Options
	wants     atomic.Bool
	snapshots chan *view.Snapshot // the newest one that was not composed yet

	mu      sync.Mutex
	version *version      // nil: none yet
	fresh   chan struct{} // closed when a newer one is there

	streams   *connlimit.Limiter // readers of versions
	asking    *connlimit.Limiter // clients that wait for an explanation, or get one
	explainer chan struct{}      // bounds explanations
}

var _ status.Subscriber = (*Server)(nil)

// New makes a server, in which nothing is shown yet.
func New(o Options) *Server {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Pace = cmp.Or(o.Pace, 1)
	h := &Server{options: o, snapshots: make(chan *view.Snapshot, 1), fresh: make(chan struct{}),
		streams: connlimit.New(connlimit.Limits{Total: mostStreams}), asking: connlimit.New(asking), explainer: make(chan struct{}, mostExplained)}
	h.wants.Store(true)
	return h
}

// WantsSnapshot implements status.Subscriber: the composer is done with the snapshot before, and had its pause.
func (h *Server) WantsSnapshot() bool { return h.wants.Load() }

// Receive implements status.Subscriber.
func (h *Server) Receive(s *view.Snapshot) {
	h.wants.Store(false)
	select {
	case h.snapshots <- s:
	default: // the composer wants one at a time; that it has one already cannot be
	}
}

// How long the composer pauses: so many times as long as composing took, so that it takes a twentieth of one processor, between these bounds.
const (
	leastPause = time.Second
	mostPause  = 10 * time.Second
	pauseShare = 19
)

// compose makes versions of what the loop hands over, until ctx ends.
func (h *Server) compose(ctx context.Context) {
	past := newPast(h.options.Journal, h.options.Clock())
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
			h.wants.Store(true)
			continue
		case s := <-h.snapshots:
			begun := time.Now()
			past.look(s)
			h.publish(newEdition(h.newest(), s, past, &h.options, h.streams.Open() > 0))
			pause.Reset(min(max(leastPause, pauseShare*time.Since(begun)), mostPause))
		}
	}
}

// newest is the newest version; nil before the first.
func (h *Server) newest() *version {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version
}

// look is the newest version, and what is closed when there is a newer one.
func (h *Server) look() (*version, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version, h.fresh
}

func (h *Server) publish(e *version) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.version = e
	close(h.fresh)
	h.fresh = make(chan struct{})
}

// report is the queue of an version as status knows it.
func (h *Server) report(e *version) status.QueueReport {
	return status.QueueReport{Sidecar: status.Sidecar{Running: true, PID: h.options.PID}, Read: e.snapshot.Read, Queue: e.snapshot.Queue}
}
