package readers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"time"

	"github.com/cenkalti/backoff/v5"

	"accordion/adapter/journal"
	"accordion/shim/wire"
)

// client is a journal.Reader that sends queries to the sidecar, because the caller may not open the journal.
type client struct {
	socket, path string
	applications bool
	pid          int // process ID of the sidecar, from its last answer
}

var _ journal.Reader = (*client)(nil)

// Remote returns a reader of the journal of the cluster whose sidecar listens on the socket. path is the journal's file, which the caller
// may not open. Remote itself sends no query. Methods of the result return an *AwayError if no sidecar answers.
func Remote(socket, path string) journal.Reader { return &client{socket: socket, path: path} }

// RemoteApplications does the same as Remote for the journal of applications of the process that listens on the socket.
func RemoteApplications(socket, path string) journal.Reader {
	return &client{socket: socket, path: path, applications: true}
}

func (c *client) Path() string { return c.path }

func (c *client) Close() error { return nil }

// Writer implements journal.Reader. The sidecar that answers is the process that writes the journal.
func (c *client) Writer() (pid int, running bool, err error) {
	if c.pid == 0 {
		if _, err := c.View(); err != nil {
			return 0, false, err
		}
	}
	return c.pid, true, nil
}

func (c *client) View() ([]byte, error) { return c.document(wire.QueryView) }

func (c *client) Queue() ([]byte, error) { return c.document(wire.QueryQueue) }

// largest is the maximum size of a document that the client accepts, in bytes.
const largest = 256 << 20

func (c *client) document(what string) ([]byte, error) {
	r, err := c.ask(context.Background(), wire.Query{What: what})
	if err != nil {
		return nil, err
	}
	defer r.close()
	data, err := io.ReadAll(io.LimitReader(r, largest))
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, nil
	}
	return data, nil
}

func (c *client) Entries(since int64) iter.Seq2[journal.Entry, error] {
	return c.entries(context.Background(), wire.Query{Since: since})
}

func (c *client) JobEntries(job, since int64) iter.Seq2[journal.Entry, error] {
	return c.entries(context.Background(), wire.Query{Job: job, Since: since})
}

// Follow implements journal.Reader. It ignores the pause, because the sidecar uses its own. If the
// sidecar is restarted, Follow sends the query again.
func (c *client) Follow(ctx context.Context, since, job int64, _ time.Duration) iter.Seq2[journal.Entry, error] {
	return c.entries(ctx, wire.Query{Since: since, Job: job, Follow: true})
}

// Reset asks the sidecar that listens on the socket to remove the counts of what a user's jobs used and left unused. It reports whether
// there were such counts.
func Reset(ctx context.Context, socket, user string) (had bool, err error) {
	r, err := (&client{socket: socket}).ask(ctx, wire.Query{What: wire.QueryReset, User: user})
	if err != nil {
		return false, err
	}
	defer r.close()
	return had, json.NewDecoder(io.LimitReader(r, 100)).Decode(&had)
}

const (
	dialPatience  = 5 * time.Second
	piecePatience = time.Minute // long, because an answer is slow if the user's allowance is used up
	busyPatience  = 30 * time.Second
	againPause    = 2 * time.Second
	againPatience = 5 * time.Minute // how long Follow waits for the sidecar to be restarted
)

// entries asks for entries. If an answer ends too early, it asks again for the entries after the last one that it received.
func (c *client) entries(ctx context.Context, q wire.Query) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		q.What = wire.QueryEntries
		last := time.Now() // when the last entry arrived, or an answer ended
		for answered := false; ; {
			before := q.Since
			whole, err := c.answered(ctx, &q, func(e journal.Entry) bool { last = time.Now(); return yield(e, nil) })
			answered = answered || err == nil || q.Since > before
			switch {
			case ctx.Err() != nil, whole && !q.Follow, errors.Is(err, errEnough):
				return
			case whole:
				last = time.Now()
			case err != nil && (!answered || !q.Follow && q.Since == before || time.Since(last) > againPatience):
				yield(journal.Entry{}, err)
				return
			}
			if q.Follow {
				select {
				case <-ctx.Done():
					return
				case <-time.After(againPause):
				}
			}
		}
	}
}

// errEnough is returned by answered if the caller wants no more entries.
var errEnough = errors.New("enough")

// answered sends the query once, and passes each entry of the answer to `take`. The result `whole` is
// true if the answer was complete.
func (c *client) answered(ctx context.Context, q *wire.Query, take func(journal.Entry) bool) (whole bool, err error) {
	r, err := c.ask(ctx, *q)
	if err != nil {
		return false, err
	}
	defer r.close()
	lines := json.NewDecoder(r)
	for {
		var e journal.Entry
		switch err := lines.Decode(&e); {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, err
		}
		q.Since = max(q.Since, e.ID) // the maximum, because an intent arrives again with the same ID when it has an outcome
		if !take(e) {
			return false, errEnough
		}
	}
}

// ask sends a query and waits for the first piece of the answer. If the sidecar is busy, ask repeats the query for some time.
func (c *client) ask(ctx context.Context, q wire.Query) (*pieces, error) {
	q.Applications = c.applications
	return backoff.Retry(ctx, func() (*pieces, error) {
		r, err := c.once(ctx, q)
		if busy := (*busyError)(nil); err != nil && !errors.As(err, &busy) {
			err = backoff.Permanent(err)
		}
		return r, err
	}, backoff.WithMaxElapsedTime(busyPatience))
}

// busyError is the error that the sidecar did not answer because it was too busy.
type busyError struct {
	why   string
	again int64
}

func (e *busyError) Error() string {
	if e.again > 1 {
		return fmt.Sprintf("ask the sidecar: %s; try again in %d s", e.why, e.again)
	}
	return fmt.Sprintf("ask the sidecar: %s; try again", e.why)
}

// Unwrap returns an error from which backoff.Retry takes the pause before the next try.
func (e *busyError) Unwrap() error { return backoff.RetryAfter(int(max(1, e.again))) }

func (c *client) once(ctx context.Context, q wire.Query) (*pieces, error) {
	dialer := net.Dialer{Timeout: dialPatience}
	conn, err := dialer.DialContext(ctx, "unix", c.socket)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, away(c.socket, err)
	}
	r := &pieces{conn: conn, follow: q.Follow}
	r.stop = context.AfterFunc(ctx, func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(piecePatience))
	err = wire.WriteQuery(conn, q)
	if err == nil && !q.Follow {
		err = r.next()
	}
	switch {
	case err == nil:
		if r.pid != 0 {
			c.pid, c.path = r.pid, r.path
		}
		return r, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case r.refused == nil:
		err = away(c.socket, err)
	}
	r.close()
	return nil, err
}

// pieces reads the pieces of an answer.
type pieces struct {
	conn    net.Conn
	stop    func() bool
	follow  bool
	data    bytes.Reader
	done    bool
	pid     int
	path    string
	refused error
}

func (r *pieces) close() {
	r.stop()
	r.conn.Close()
}

func (r *pieces) Read(b []byte) (int, error) {
	for r.data.Len() == 0 {
		if r.done {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			if errors.Is(err, io.EOF) { // the last piece is missing
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
	return r.data.Read(b)
}

// next reads the next piece.
func (r *pieces) next() error {
	patience := time.Now().Add(piecePatience)
	if r.follow {
		patience = time.Time{}
	}
	r.conn.SetReadDeadline(patience)
	p, err := wire.ReadPiece(r.conn)
	if err != nil {
		return err
	}
	if p.PID != 0 {
		r.pid, r.path = p.PID, p.Path
	}
	switch p.Status {
	case wire.Done:
		r.done = true
	case wire.Busy:
		r.refused = &busyError{p.Why, p.Again}
		return r.refused
	case wire.Refused:
		r.refused = fmt.Errorf("ask the sidecar: %s", p.Why)
		return r.refused
	}
	r.data.Reset(p.Data)
	return nil
}
