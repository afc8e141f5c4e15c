package delegated

import (
	"errors"
	"fmt"

	"accordion/core"
)

// Reasons for which an event is refused. Each Error wraps one of them.
var (
	ErrUnknown    = errors.New("no such application is subscribed")
	ErrSubscribed = errors.New("it is subscribed already")
	ErrStarted    = errors.New("it has started: its request can no longer be changed")
	ErrNotStarted = errors.New("it has not started")
	ErrOver       = errors.New("it is over, or being ended")
	ErrNoHosts    = errors.New("a request needs at least one host on each cluster that it names, and at least one cluster")
	ErrTooMany    = errors.New("the cluster has not so many hosts")
	ErrTwice      = errors.New("name each cluster once, the lowest first")
	ErrNoCluster  = errors.New("there is no such cluster")
	ErrWalltime   = fmt.Errorf("a walltime is 1 to %d seconds", core.MaxTotal)
	ErrPast       = errors.New("events come in the order of their seconds")
	ErrStretch    = errors.New("an occupation is of at least one host, and ends after it begins")
)

// Error describes an event that the RMS refused. The event has changed nothing: an earlier request stays in force.
type Error struct {
	Event  string // "request", "done"…
	ID     core.JobID
	Detail string // shows the wrong values; may be empty
	Err    error
}

func (e *Error) Error() string {
	detail := e.Detail
	if detail != "" {
		detail = " (" + detail + ")"
	}
	if e.ID == noID {
		return fmt.Sprintf("%s%s: %v", e.Event, detail, e.Err)
	}
	return fmt.Sprintf("%s of application %d%s: %v", e.Event, e.ID, detail, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// noID is the ID of errors that concern no application.
const noID = core.JobID(-1 << 63)
