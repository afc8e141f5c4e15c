package adapter

import (
	"time"

	"accordion/adapter/journal"
)

// Journal is the sidecar's memory over its own death: *journal.Journal, or what stands for it in a simulation. What a
// call wrote is durable when it returns; an error means that nothing more may be done. Calls come from several goroutines.
type Journal interface {
	// Records and Unfinished are what a sidecar reads when it begins.
	Records() ([]journal.Record, error)
	Unfinished() ([]journal.Entry, error)

	// Begin writes an intent, before it is carried out; Finish its outcome; Resolve an outcome in words.
	Begin(journal.Intent) (id int64, err error)
	Finish(id int64, at time.Time, failure error) error
	Resolve(id int64, at time.Time, outcome string) error

	// Event writes what happened to a job; Put and Delete what is remembered of it; PutView what status shows, PutQueue
	// what queue and explain do.
	Event(journal.Event) error
	Put(journal.Record) error
	Delete(job, submitted int64) error
	PutView(data []byte) error
	PutQueue(data []byte) error
}

var _ Journal = (*journal.Journal)(nil)
