package apps

import (
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// Settings of a Machine. Times are seconds.
type Settings struct {
	FairStart    core.Time // how long the hosts of an ended part stay free for applications that could not request them before
	Timer        core.Time // shortest time between two passes; at least 1
	Answer       core.Time // how long a launcher may take to answer a view
	Grace        core.Time // how long a launcher may be away
	BringUp      core.Time // how long the parts of an application may take to come up
	Guard        core.Time // added to the time limits of batch jobs
	Applications int       // number of applications that a pass considers, by rank; at most a quarter of them, but at least one, may belong to one user
	PerUser      int       // applications that a user may have at a time; 0 means any number
	Pace         float64   // seconds of the clock per second of real time; 0 means 1
}

// Event is an event for a Machine.
type Event interface{ event() }

// Received is a message of a session.
type Received struct {
	Session uint64
	User    string // name of the user at the session's other end
	Seq     int64  // the message's number, which an answer names
	Message launcher.Message
}

// Disconnected is the end of a session.
type Disconnected struct{ Session uint64 }

// StateShown is a cluster's new state.
type StateShown struct {
	Cluster int
	State   *mailbox.ClusterState
}

func (Received) event()     {}
func (Disconnected) event() {}
func (StateShown) event()   {}

// Effects are what a Machine decided. Its caller writes Stored and Deleted first, in one transaction, and does nothing else before they are
// on the disk. It then sends the messages, in their order, and the orders.
type Effects struct {
	Stored  []Record // each replaces the former record of the same application
	Deleted []int64  // applications whose records are deleted
	Notes   []Note   // for people, in addition to the records
	Sent    []Outgoing
	Failed  []Failure
	Ordered []ClusterOrders
}

// Outgoing is a message to a session. If Close is set it is the last one, and Message may be nil.
type Outgoing struct {
	Session uint64
	Message launcher.Message
	Close   bool
}

// ClusterOrders are all orders for a cluster. They replace the former ones.
type ClusterOrders struct {
	Cluster int
	All     []mailbox.Order
}

// Note is a journal entry about an application, for people.
type Note struct {
	At          core.Time
	Application int64
	Verb        string // prepare, commit, go, abort, end…
	Text        string
}

// Failure is a try that a cluster could not prepare or could not start.
type Failure struct{ Cluster, Why string }
