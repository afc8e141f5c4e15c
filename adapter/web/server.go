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

// Options configure a Server.
type Options struct {
	Journal *journal.Journal // the cluster's journal, which the server only reads; nil if there is none
	// Application returns the application of which a job is a part, or nil if the job is not a part of
	// an application. A nil function means that there are no applications.
	Application func(job core.JobID, request string) (*status.ApplicationExplanation, error)
	// Clock is the cluster's clock; nil means the wall clock. Pace is the number of seconds by which
	// that clock advances in one real second; 0 means 1.
	Clock   func() time.Time
	Pace    int
	Private bool     // users and names of jobs are hidden from browsers
	Names   []string // host names by which browsers may address the server, in addition to IP addresses, localhost and the name of this host
	Any     bool     // accept any host name if Names is empty, because a proxy in front of a Unix socket has checked the name
	PID     int      // the sidecar's process ID, for explanations
}

// Server shows a cluster to browsers. The loop passes snapshots to the server (status.Subscriber),
// and HTTP requests read versions of these snapshots.
type Server struct {
	options   Options
	wants     atomic.Bool
	snapshots chan *view.Snapshot // has the newest snapshot until the composer takes it

	mu      sync.Mutex
	version *version      // nil if there is none yet
	fresh   chan struct{} // closed when a newer version exists

	streams   *connlimit.Limiter // limits the readers of streams
	asking    *connlimit.Limiter // limits the requests that wait for an explanation
	explainer chan struct{}      // limits simultaneous explanations: each puts one element into the channel
}

var _ status.Subscriber = (*Server)(nil)

// New returns a server that has no version to show yet.
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

// WantsSnapshot implements status.Subscriber. It returns true when the version of the previous snapshot is made, and the pause after that
// has ended.
func (h *Server) WantsSnapshot() bool { return h.wants.Load() }

// Receive implements status.Subscriber.
func (h *Server) Receive(s *view.Snapshot) {
	h.wants.Store(false)
	select {
	case h.snapshots <- s:
	default: // not reached, because the composer wants one snapshot at a time
	}
}

// After each version, the composer pauses for pauseShare times the time that it took to make the
// version, but at least leastPause and at most mostPause. So it uses a twentieth of one processor.
const (
	leastPause = time.Second
	mostPause  = 10 * time.Second
	pauseShare = 19
)

// compose makes a version of each snapshot, until ctx ends. The goroutine that runs it is the composer.
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
			past.observe(s)
			h.publish(newVersion(h.newest(), s, past, &h.options, h.streams.Open() > 0))
			pause.Reset(min(max(leastPause, pauseShare*time.Since(begun)), mostPause))
		}
	}
}

// newest returns the newest version, and nil before the first one.
func (h *Server) newest() *version {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version
}

// latest returns the newest version and a channel that is closed when a newer one exists.
func (h *Server) latest() (*version, <-chan struct{}) {
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

// report returns the queue of a version as a status.QueueReport.
func (h *Server) report(e *version) status.QueueReport {
	return status.QueueReport{Sidecar: status.Sidecar{Running: true, PID: h.options.PID}, Read: e.snapshot.Read, Queue: e.snapshot.Queue}
}
