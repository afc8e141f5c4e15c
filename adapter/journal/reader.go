package journal

import (
	"context"
	"iter"
	"time"
)

// A Reader reads a journal for a command. It is a *Journal. For users who may not open the
// journal's file, it is a client that asks the sidecar.
type Reader interface {
	// Path returns the journal's file.
	Path() string
	// Writer reports whether a sidecar has the journal open for writing now, and returns its
	// process ID (0 if not known).
	Writer() (pid int, running bool, err error)
	// View returns what PutView wrote last, and nil if it never did.
	View() ([]byte, error)
	// Queue returns what PutQueue wrote last, and nil if it never did.
	Queue() ([]byte, error)
	// Entries returns every intent and event with an id above `since`, in order. An error ends the
	// sequence.
	Entries(since int64) iter.Seq2[Entry, error]
	// JobEntries returns the entries of one job id, as Entries does.
	JobEntries(job, since int64) iter.Seq2[Entry, error]
	// Follow returns the entries of Entries, or of JobEntries if `job` is not 0. Then it returns
	// every new entry until ctx ends.
	Follow(ctx context.Context, since, job int64, pause time.Duration) iter.Seq2[Entry, error]
	// Close closes the reader's files or connections.
	Close() error
}

var _ Reader = (*Journal)(nil)
