package apps

import (
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// Settings are the settings of a Machine. Durations are in seconds.
type Settings struct {
	FairStart    core.Time // time for which the hosts of an ended part stay free, so that applications that wait can request them
	Timer        core.Time // shortest time between two passes; at least 1
	Answer       core.Time // how long a launcher may take to answer a view
	Grace        core.Time // how long a launcher may be away
	BringUp      core.Time // how long the parts of an application may take to come up
	Guard        core.Time // time that is added to the time limits of batch jobs
	Applications int       // number of applications that a pass considers, by rank; one user may have at most a quarter of them, but always one
	PerUser      int       // number of applications that a user may have at the same time; 0 means no limit
	Pace         float64   // number of seconds by which the clock advances in one real second; 0 means 1
}

// Event is an event for a Machine.
type Event interface{ event() }

// Received is the event that a message arrived.
type Received struct {
	Session uint64
	User    string // name of the user at the session's other end
	Seq     int64  // number of the message, which an answer repeats
	Message launcher.Message
}

// Disconnected is the event that a session has ended.
type Disconnected struct{ Session uint64 }

// StateShown is the event that a cluster has a new state.
type StateShown struct {
	Cluster int
	State   *mailbox.ClusterState
}

func (Received) event()     {}
func (Disconnected) event() {}
func (StateShown) event()   {}

// Effects are the decisions of a Machine. The caller of the machine first writes Stored, Deleted and Notes, in one transaction. Only when
// these are on the disk, it sends the messages, in their order, and the orders.
type Effects struct {
	Stored  []Record // each replaces the former record of the same application
	Deleted []int64  // applications whose records are deleted
	Notes   []Note   // entries for people to read, in addition to the records
	Sent    []Outgoing
	Failed  []Failure
	Ordered []ClusterOrders
}

// Outgoing is a message to a session. If Close is set, the session ends after this message, and Message may be nil.
type Outgoing struct {
	Session uint64
	Message launcher.Message
	Close   bool
}

// ClusterOrders are all orders for a cluster. They replace the previous orders.
type ClusterOrders struct {
	Cluster int
	All     []mailbox.Order
}

// Note is an entry of the journal about an application, for people to read.
type Note struct {
	At          core.Time
	Application int64
	Verb        string // such as "prepare", "commit", "go", "abort" or "end"
	Text        string
}

// Failure is a try that a cluster could not prepare or could not start.
type Failure struct{ Cluster, Why string }
