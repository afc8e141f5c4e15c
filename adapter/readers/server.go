package readers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/session"
	"accordion/shim/wire"
)

// Options configure a Server.
type Options struct {
	Journal      string                                        // path of the cluster's journal
	Applications string                                        // path of the journal of applications; "" if there are none
	Name         func(context.Context, uint32) (string, error) // returns a user's name
	Hides        func(context.Context) (adapter.Hidden, error) // returns what the batch system hides from other users; nil means that it hides nothing
	// Reset removes the counts of what a user's jobs used and left unused, and reports whether there were any. It is nil if nothing is
	// counted.
	Reset  func(ctx context.Context, user string) (bool, error)
	Limits Limits
	Log    hclog.Logger     // nil if there is none
	Now    func() time.Time // nil means time.Now
}

// Server answers queries. It implements session.Readers.
type Server struct {
	options      Options
	log          hclog.Logger
	cluster      *source
	applications *source // nil if there are none
	allowances   *allowances
	privacy      *privacy
}

var _ session.Readers = (*Server)(nil)

// New returns a server, which opens the journals when the first query comes. The caller must call Close after the last session.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	o.Limits = o.Limits.orDefaults()
	s := &Server{options: o, log: o.Log, cluster: &source{path: o.Journal, now: o.Now}, allowances: newAllowances(o.Limits, o.Now),
		privacy: newPrivacy(o.Hides, o.Now)}
	if o.Applications != "" {
		s.applications = &source{path: o.Applications, now: o.Now}
	}
	return s
}

// Close closes the journals.
func (s *Server) Close() {
	s.cluster.close()
	if s.applications != nil {
		s.applications.close()
	}
}

// Session implements session.Readers.
func (s *Server) Session(ctx context.Context, conn net.Conn, peer session.Peer, first []byte) {
	q, err := wire.ParseQuery(first)
	if err != nil {
		s.refuse(conn, wire.Refused, refusal{why: err.Error()})
		return
	}
	if r := s.allowances.enter(peer.UID, q.Follow); r != nil {
		if n := s.allowances.refusalsToLog(peer.UID); n > 0 {
			s.log.Warn("query refused", "uid", peer.UID, "reason", r.why, "times", n)
		}
		s.refuse(conn, wire.Busy, *r)
		return
	}
	defer s.allowances.leave(peer.UID, q.Follow)
	ctx, cancel := context.WithTimeout(ctx, s.timeLimit(q))
	defer cancel()
	go func() { // a client sends nothing after its query, so a Read returns only when the client disconnects
		var b [1]byte
		conn.Read(b[:])
		cancel()
	}()
	a := &answer{ctx: ctx, conn: conn, piece: s.options.Limits.Piece, spend: func(n int) time.Duration { return s.allowances.spend(peer.UID, n) }}
	s.end(ctx, a, q, s.answer(ctx, a, q, peer))
}

// end writes the last piece of an answer. err is the error with which the answer ended.
func (s *Server) end(ctx context.Context, a *answer, q wire.Query, err error) {
	var no *refused
	switch {
	case err == nil, q.Follow && errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = a.close(wire.Piece{Status: wire.Done})
	case errors.As(err, &no):
		err = a.close(wire.Piece{Status: no.status, Why: no.why, Again: 1})
	case ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed):
		s.log.Debug("answer not read by client", "error", err)
		return
	default:
		s.log.Error("query failed", "query", q.What, "error", err)
		err = a.close(wire.Piece{Status: wire.Busy, Why: "the journal cannot be read now; the sidecar's log says why", Again: 5})
	}
	if err != nil {
		s.log.Debug("answer not read by client", "error", err)
	}
}

// timeLimit returns how long the whole answer to a query may take.
func (s *Server) timeLimit(q wire.Query) time.Duration {
	switch {
	case q.Follow:
		return s.options.Limits.Follow
	case q.What == wire.QueryEntries:
		return s.options.Limits.Entries
	}
	return s.options.Limits.Document
}

// refused is the error that a query is not answered.
type refused struct {
	status wire.Status
	why    string
}

func (r *refused) Error() string { return r.why }

// refuse sends a refusal without any data.
func (s *Server) refuse(conn net.Conn, status wire.Status, r refusal) {
	conn.SetWriteDeadline(time.Now().Add(s.options.Limits.Piece))
	wire.WritePiece(conn, wire.Piece{Status: status, Why: r.why, Again: r.again}) // a client that does not read the refusal will ask again
}

// answer writes what the query asks for.
func (s *Server) answer(ctx context.Context, a *answer, q wire.Query, peer session.Peer) error {
	if q.What == wire.QueryReset {
		return s.reset(ctx, a, q.User, peer)
	}
	from := s.cluster
	if q.Applications {
		from = s.applications
	}
	if from == nil {
		return &refused{wire.Refused, "this sidecar serves no launchers, so there are no applications"}
	}
	a.first = wire.Piece{Path: from.path, PID: os.Getpid()}
	v, err := s.viewer(ctx, from, peer)
	if err != nil {
		return err
	}
	if q.What == wire.QueryEntries {
		return s.entries(ctx, a, from, v, q)
	}
	return s.document(a, from, v, q)
}

// reset removes the counts of what a user's jobs used and left unused, and writes whether there were any.
func (s *Server) reset(ctx context.Context, a *answer, user string, peer session.Peer) error {
	switch {
	case peer.UID != 0 && int64(peer.UID) != int64(os.Geteuid()):
		return &refused{wire.Refused, "only root may reset limits"}
	case s.options.Reset == nil:
		return &refused{wire.Refused, "this sidecar counts nothing that could be reset"}
	}
	had, err := s.options.Reset(ctx, user)
	if err == nil {
		err = json.NewEncoder(a).Encode(had)
	}
	return err
}

// viewer returns what the user may see. nil means that the user may see everything.
func (s *Server) viewer(ctx context.Context, from *source, peer session.Peer) (*viewer, error) {
	if peer.UID == 0 || int64(peer.UID) == int64(os.Geteuid()) {
		return nil, nil
	}
	// A user ID without a name is not a user of this host. It gets no data, because one user may have
	// thousands of such IDs in user namespaces.
	name, err := s.options.Name(ctx, peer.UID)
	if err != nil {
		return nil, &refused{wire.Busy, fmt.Sprintf("who user %d is could not be found out: %v", peer.UID, err)}
	}
	hidden := s.privacy.now(ctx)
	if hidden == (adapter.Hidden{}) {
		return nil, nil
	}
	v, err := from.viewer(name)
	v.hidden = hidden
	return &v, err
}

// document writes a document that the loop published.
func (s *Server) document(a *answer, from *source, v *viewer, q wire.Query) error {
	if v != nil {
		c, err := from.split(q.What == wire.QueryQueue, q.Applications)
		if err != nil {
			return err
		}
		return c.write(a, *v)
	}
	status, queue, err := from.documents()
	if err != nil {
		return err
	}
	if q.What == wire.QueryQueue {
		status = queue
	}
	_, err = a.Write(status)
	return err
}

// followPause is the pause between two readings of the journal for a follower.
const followPause = time.Second

// hiddenCost is the number of bytes that is subtracted from a user's allowance for each entry that the
// server reads but does not send, because the user may not see it.
const hiddenCost = 200

// entries writes the entries of the journal, one on each line.
func (s *Server) entries(ctx context.Context, a *answer, from *source, v *viewer, q wire.Query) error {
	j, err := from.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for e, err := range selected(ctx, j, q) {
		if err != nil {
			return err
		}
		if v != nil {
			shown, may := v.record(e)
			if !may {
				if err := a.cost(hiddenCost); err != nil {
					return err
				}
				continue
			}
			e = shown
		}
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := a.Write(append(text, '\n')); err != nil {
			return err
		}
		if q.Follow {
			if err := a.flush(wire.Piece{}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// privacy caches for a minute what the batch system hides. While that is not known, everything is
// hidden.
type privacy struct {
	ask   func(context.Context) (adapter.Hidden, error) // nil means that nothing is hidden
	clock func() time.Time

	mu     sync.Mutex
	known  bool
	hides  adapter.Hidden
	asked  time.Time
	answer chan struct{} // closed when the batch system has answered; nil if no call is in progress
}

const (
	hidingKept     = time.Minute
	hidingPatience = 10 * time.Second
)

func newPrivacy(ask func(context.Context) (adapter.Hidden, error), clock func() time.Time) *privacy {
	return &privacy{ask: ask, clock: clock}
}

// now returns what is hidden about other users. Callers wait for the batch system only while there is no earlier answer.
func (h *privacy) now(ctx context.Context) adapter.Hidden {
	if h.ask == nil {
		return adapter.Hidden{}
	}
	h.mu.Lock()
	if h.answer == nil && (h.asked.IsZero() || h.clock().Sub(h.asked) > hidingKept) {
		h.answer, h.asked = make(chan struct{}), h.clock()
		go h.learn(h.answer)
	}
	known, answer := h.known, h.answer
	h.mu.Unlock()
	if !known && answer != nil {
		select {
		case <-answer:
		case <-ctx.Done():
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.known {
		return adapter.Hidden{Jobs: true, Reservations: true, Nodes: true, Accounts: true}
	}
	return h.hides
}

func (h *privacy) learn(answer chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), hidingPatience)
	defer cancel()
	hides, err := h.ask(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.hides, h.known = hides, true
	}
	h.answer = nil
	close(answer)
}

// selected returns the entries that the query asks for.
func selected(ctx context.Context, j *journal.Journal, q wire.Query) entries {
	switch {
	case q.Follow:
		return j.Follow(ctx, q.Since, q.Job, followPause)
	case q.Job != 0:
		return j.JobEntries(q.Job, q.Since)
	}
	return j.Entries(q.Since)
}
