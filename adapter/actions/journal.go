package actions

import (
	"time"

	"accordion/adapter/journal"
	"accordion/core"
)

// Journal is the sidecar's memory over its own death: *journal.Journal, or what stands for it in a simulation. What a
// call wrote is durable when it returns; an error means that nothing more may be done. Calls come from several goroutines.
type Journal interface {
	// Records, Unfinished and View are what a sidecar reads when it begins.
	Records() ([]journal.Record, error)
	View() (data []byte, err error)
	Unfinished() ([]journal.Entry, error)
	// Queue is what PutQueue wrote last; nil: nothing.
	Queue() ([]byte, error)

	// Begin writes an intent, before it is carried out; Finish its outcome; Resolve an outcome in words.
	Begin(journal.Intent) (id int64, err error)
	Finish(id int64, at time.Time, failure error) error
	Resolve(id int64, at time.Time, outcome string) error

	// Event writes what happened to a job; Put what is remembered of it, with what happened to it, all or nothing; Delete forgets
	// it; PutView writes what status shows, PutQueue what queue and explain do.
	Event(journal.Event) error
	Put(r journal.Record, happened ...journal.Event) error
	Delete(job, submitted int64) error
	PutView(data []byte) error
	PutQueue(data []byte) error
}

var _ Journal = (*journal.Journal)(nil)

// Deaf is a Meter for those who count nothing.
type Deaf struct{}

// Cycle counts nothing.
func (Deaf) Cycle(time.Duration, time.Time, map[string]int, int) {}

// Call counts nothing.
func (Deaf) Call(string, time.Duration, error) {}

// Grew counts nothing.
func (Deaf) Grew(time.Duration, string) {}

// Broke counts nothing.
func (Deaf) Broke(string) {}

// Spared counts nothing.
func (Deaf) Spared(int64) {}

// Unused counts nothing.
func (Deaf) Unused(core.Time, int) {}

// Limited counts nothing.
func (Deaf) Limited(string) {}

// Meter hears what the loop does, for whoever counts it (adapter/metrics for Prometheus). Its methods are called from
// several goroutines and must not block. Seconds and counts are of the cluster's own time, which may be virtual.
type Meter interface {
	// Cycle: one look, plan and act is over. The reading it was made on began at read; shown is how many managed jobs
	// stand in each phase, as view.Job has them, and waiting how many jobs wait in all.
	Cycle(took time.Duration, read time.Time, phases map[string]int, waiting int)
	// Call: one call of the batch system is over; verb is "observe" or an intent's.
	Call(verb string, took time.Duration, err error)
	// Grew: a job's new nodes are usable, late after the planned second; cause is what they waited for, "" for nothing.
	Grew(late time.Duration, cause string)
	// Broke: a promise was broken, for the cause.
	Broke(cause string)
	// Spared: so many node-seconds were not held that the same jobs, held at their peaks all the time they ran, would have.
	Spared(nodeSeconds int64)
	// Unused: nodeSeconds were reserved ahead since the last cycle for steps that did not begin.
	// For over users nothing is reserved ahead any more.
	Unused(nodeSeconds core.Time, over int)
	// Limited: a job met one of the Limits.
	Limited(limit string)
}

// The limits that a job, or its user, may reach: the arguments of Meter.Limited.
const (
	LimitClients      = "clients_per_minute" // a resize, or an act, waits for its turn
	LimitShortestStep = "shortest_step"      // a job is refused
	LimitResizes      = "resizes_per_hour"   // a growth waits
	LimitReservations = "reservations"       // a step has none ahead, for its user has too many
)

// Limits are all of them.
var Limits = []string{LimitClients, LimitShortestStep, LimitResizes, LimitReservations}
