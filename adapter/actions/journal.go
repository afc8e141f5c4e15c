package actions

import (
	"time"

	"accordion/adapter/journal"
	"accordion/core"
)

// A Journal keeps what the sidecar has to know after a restart: *journal.Journal, or a stand-in of
// a simulation. Data that a method wrote is durable when the method returns. After a method
// returned an error, no calls of the batch system may be made. Methods may be called from several
// goroutines.
type Journal interface {
	// A sidecar calls Records, View, Unfinished and Queue when it starts.
	Records() ([]journal.Record, error)
	View() (data []byte, err error)
	Unfinished() ([]journal.Entry, error)
	// Queue returns what PutQueue wrote last, and nil if it never did.
	Queue() ([]byte, error)

	// Begin writes an intent, before its call is made. Finish writes the intent's outcome. Resolve
	// writes an outcome as a text.
	Begin(journal.Intent) (id int64, err error)
	Finish(id int64, at time.Time, failure error) error
	Resolve(id int64, at time.Time, outcome string) error

	// Event writes what happened to a job. Put writes a job's record and events about the job,
	// either all of them or none. Delete removes the record. PutView writes the document that
	// `accordion status` shows. PutQueue writes the document that `accordion queue` and `accordion
	// explain` show.
	Event(journal.Event) error
	Put(r journal.Record, happened ...journal.Event) error
	Delete(job, submitted int64) error
	PutView(data []byte) error
	PutQueue(data []byte) error
}

var _ Journal = (*journal.Journal)(nil)

// NoMeter is a Meter that counts nothing.
type NoMeter struct{}

// Cycle counts nothing.
func (NoMeter) Cycle(time.Duration, time.Time, map[string]int, int) {}

// Call counts nothing.
func (NoMeter) Call(string, time.Duration, error) {}

// Grew counts nothing.
func (NoMeter) Grew(time.Duration, string) {}

// Broke counts nothing.
func (NoMeter) Broke(string) {}

// Spared counts nothing.
func (NoMeter) Spared(int64) {}

// Unused counts nothing.
func (NoMeter) Unused(core.Time, int) {}

// Limited counts nothing.
func (NoMeter) Limited(string) {}

// A Meter counts what the loop does. (adapter/metrics has a Meter for Prometheus.) Its methods may
// be called from several goroutines, and must not block. Seconds are measured by the cluster's clock,
// which may be virtual.
type Meter interface {
	// Cycle counts a cycle of the loop. `read` is the instant at which the cycle's reading began.
	// `phases` maps each phase (view.Job) to the number of managed jobs in it. `waiting` is the
	// number of all jobs that wait.
	Cycle(took time.Duration, read time.Time, phases map[string]int, waiting int)
	// Call counts a call of the batch system. `verb` is "observe", or the verb of an intent.
	Call(verb string, took time.Duration, err error)
	// Grew counts a growth. `late` is how long after the planned second the new nodes were usable.
	// `cause` is what the growth waited for, and "" if it waited for nothing.
	Grew(late time.Duration, cause string)
	// Broke counts a broken promise, by its cause.
	Broke(cause string)
	// Spared counts the node-seconds that jobs left to others: the difference between what they
	// would have held at their peak sizes and what they held.
	Spared(nodeSeconds int64)
	// Unused counts node-seconds that were reserved ahead for steps that did not begin. nodeSeconds
	// has those since the last cycle. `over` is the number of users for whom no nodes are reserved
	// ahead any more.
	Unused(nodeSeconds core.Time, over int)
	// Limited counts a job that a limit delays or refuses. The parameter is one of `Limits`.
	Limited(limit string)
}

// The limits that a job or its user may reach. They are the arguments of Meter.Limited.
const (
	LimitClients      = "clients_per_minute" // a call waits for its turn
	LimitShortestStep = "shortest_step"      // a job is refused
	LimitResizes      = "resizes_per_hour"   // a growth waits
	LimitReservations = "reservations"       // a step has no reservation ahead, because its user has too many
)

// Limits has all limits.
var Limits = []string{LimitClients, LimitShortestStep, LimitResizes, LimitReservations}
