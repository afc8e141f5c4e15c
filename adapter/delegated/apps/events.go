package apps

import (
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// Settings are how a Machine works. Spans are seconds.
type Settings struct {
	FairStart    core.Time // how long the hosts of a part that is done stay free for who was not asked yet
	Timer        core.Time // between two passes; at least 1
	Answer       core.Time // how long a launcher may take to answer a change
	Grace        core.Time // how long it may be away
	BringUp      core.Time // how long the parts of an application may take to come up
	Guard        core.Time // added to the limits of batch jobs
	Applications int       // considered in a pass, by rank; of one user at most a quarter, but one at least
	PerUser      int       // applications that a user may have at a time; 0: any number
	Pace         float64   // seconds of the clock a second, as welcome tells it
}

// Event is what may happen to a Machine.
type Event interface{ event() }

// Heard is a message of a session.
type Received struct {
	Session uint64
	User    string // who is at its other end, by name
	Seq     int64  // the message's own number, which an answer names
	Message launcher.Message
}

// Left is the end of a session.
type Disconnected struct{ Session uint64 }

// Shown is a cluster's new state.
type StateShown struct {
	Cluster int
	State   *mailbox.ClusterState
}

func (Received) event()     {}
func (Disconnected) event() {}
func (StateShown) event()   {}

// Effects are what is to be done about what happened. Stored and Gone come first, in one transaction: nothing else may be done before they
// are on the disk. Then comes what is said, in its order, and what is ordered.
type Effects struct {
	Stored  []Record // in place of the former record of the same application
	Deleted []int64  // applications whose records are deleted
	Notes   []Note   // for people, beside the records
	Sent    []Outgoing
	Failed  []Failure
	Ordered []ClusterOrders
}

// Say is a message to a session; its last one, if Close is set. Of a Close Message may be nil.
type Outgoing struct {
	Session uint64
	Message launcher.Message
	Close   bool
}

// Orders are all orders for a cluster, in place of the former.
type ClusterOrders struct {
	Cluster int
	All     []mailbox.Order
}

// Note is one line of what happened to an application.
type Note struct {
	At          core.Time
	Application int64
	Verb        string // prepare, commit, go, abort, end…
	Text        string
}

// Failure is a try that a cluster refused to prepare, or to start.
type Failure struct{ Cluster, Why string }
