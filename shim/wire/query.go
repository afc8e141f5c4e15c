package wire

import "io"

// VersionOfQueries is the version of a Query and of its Pieces. It leaves room for the versions of sessions, whose next
// one is 3.
const VersionOfQueries = 100

// What a Query can ask for.
const (
	QueryView    = "view"    // the document of accordion status
	QueryQueue   = "queue"   // the document of accordion queue
	QueryEntries = "entries" // the journal's entries, one JSON object per line
	QueryReset   = "reset"   // resets the record of what the user's jobs left unused; has no data, and is only for root
)

// Query asks the sidecar for a part of its journal, on behalf of a user who may not open the file. It is the only request of its
// connection.
type Query struct {
	Version      int    `codec:"v"` // set by WriteQuery
	What         string `codec:"what"`
	Applications bool   `codec:"applications,omitempty"` // set to ask for the journal of applications
	Job          int64  `codec:"job,omitempty"`          // only this job's entries; 0 means all
	Since        int64  `codec:"since,omitempty"`        // only entries with an id above this one
	Follow       bool   `codec:"follow,omitempty"`       // continue with new entries as they come
	User         string `codec:"user,omitempty"`         // user for QueryReset
}

// Done is the status of the last Piece of a complete answer.
const Done Status = "done"

// Piece is a part of the answer to a Query. The answer is the data of all pieces in order.
type Piece struct {
	Version int    `codec:"v"` // set by WritePiece
	Data    []byte `codec:"data,omitempty"`
	Status  Status `codec:"status,omitempty"` // Done, Busy or Refused in the last piece; "" if more pieces follow
	Why     string `codec:"why,omitempty"`    // with Busy and Refused
	Again   int64  `codec:"again,omitempty"`  // with Busy: seconds after which to ask again
	Path    string `codec:"path,omitempty"`   // path of the journal, in the first piece
	PID     int    `codec:"pid,omitempty"`    // process ID of the sidecar, in the first piece
}

// WriteQuery writes one query, with its version in it. It returns the same errors as WriteRequest.
func WriteQuery(w io.Writer, q Query) error {
	q.Version = VersionOfQueries
	return write(w, &q)
}

// ParseQuery parses a query from a frame, which includes its length. It ignores unknown fields. A client of a later release, which may ask
// for more, gets what this release knows.
func ParseQuery(frame []byte) (Query, error) {
	var q Query
	if v := VersionOf(frame); v != VersionOfQueries {
		return q, &VersionError{Version: v}
	}
	if err := decode(frame[header:], lenient, &q); err != nil {
		return q, err
	}
	switch {
	case q.What != QueryView && q.What != QueryQueue && q.What != QueryEntries && q.What != QueryReset:
		return q, malformed("%.20q is not a known query", q.What)
	case q.Job < 0 || q.Since < 0:
		return q, malformed("a negative number")
	case (q.What == QueryReset) != (q.User != ""):
		return q, malformed("only a reset needs a user, and it needs one")
	case q.Follow && q.What != QueryEntries:
		return q, malformed("only entries can be followed")
	}
	return q, nil
}

// WritePiece writes one piece, with its version in it. It returns the same errors as WriteRequest.
func WritePiece(w io.Writer, p Piece) error {
	p.Version = VersionOfQueries
	return write(w, &p)
}

// ReadPiece reads one piece. A sidecar that does not know queries, or that cannot accept another one, answers with a Reply. Then the piece
// has the Reply's status and reason. ReadPiece returns the same errors as ReadRequest.
func ReadPiece(r io.Reader) (Piece, error) {
	var p Piece
	frame, err := ReadFrame(r)
	if err != nil {
		return p, err
	}
	if v := VersionOf(frame); v != VersionOfQueries && v != Version {
		return p, &VersionError{Version: v}
	}
	if err := decode(frame[header:], lenient, &p); err != nil {
		return p, err
	}
	switch p.Status {
	case "", Done, Busy, Refused:
	default:
		return p, malformed("status %q is none of ours", p.Status)
	}
	return p, nil
}
