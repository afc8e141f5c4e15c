// Package wire holds the messages between the shim in a job and the sidecar, and nothing else.
//
// A frame is a length (4 bytes, big endian, at most MaxFrame) and so many bytes of msgpack: a Request from the shim, a Reply
// from the sidecar. One request a connection. Version is checked before anything else is believed: a frame of another
// version is a *VersionError even when its other fields mean nothing to us. Within a version the reply may get more fields, which a
// shim that does not know them passes over; the request may not.
//
//	err := wire.WriteRequest(conn, wire.Request{Job: 4711, Step: 1})
//	…
//	reply, err := wire.ReadReply(conn)
//
// Over a network the kernel cannot tell who is at the other end, and each message is preceded by a proof of who wrote it:
// the sidecar begins with a Challenge, and a Proof goes before the request and before the reply. What proves is not of this
// package's concern (shim/seal).
//
// It is not a session: deadlines, credentials and repetition belong to the two ends (adapter/session, shim).
package wire

// Version of the messages. Another one is refused.
const Version = 1

// MaxFrame bounds a frame's msgpack, in bytes; checked before it is read.
const MaxFrame = 64 << 10

// Socket is where the sidecar listens and the shim asks, unless they are told otherwise (configuration [session] socket;
// environment ACCORDION_SOCKET).
const Socket = "/run/accordion/accordion.sock"

// MaxProof bounds the msgpack of a Challenge or a Proof, in bytes: they come from somebody who has not shown yet who he is.
const MaxProof = 4 << 10

// NonceSize is the length of a Challenge's nonce, in bytes.
const NonceSize = 32

// Challenge is the first message of a session over a network, from the sidecar.
type Challenge struct {
	Version int    `codec:"v"`             // set by WriteChallenge
	Nonce   []byte `codec:"nonce"`         // NonceSize bytes that never came before; absent when Why says something
	Why     string `codec:"why,omitempty"` // why there will be no session now: ask again
}

// Proof goes before a message over a network. Its credential covers the nonce and the message after it.
type Proof struct {
	Version    int    `codec:"v"` // set by WriteProof
	Credential string `codec:"credential"`
	Why        string `codec:"why,omitempty"` // set by the sidecar in place of a credential: why it refused the shim's credential
}

// Request says that the job's current step is over and asks for the next one's nodes.
//
// A request may be repeated without harm: after a lost connection the shim asks again, and cannot know whether the resize
// it asked for has happened. Step tells the two apart.
type Request struct {
	Version int    `codec:"v"` // set by WriteRequest
	Job     int64  `codec:"job"`
	Step    int    `codec:"step,omitempty"`    // the step that is over, from 1; when the job is already past it, the reply comes at once. 0: the one it is in
	Keep    string `codec:"keep,omitempty"`    // host list: the nodes to keep at a shrink
	Release string `codec:"release,omitempty"` // host list: the nodes to give back at a shrink
	Waits   int64  `codec:"waits,omitempty"`   // seconds until the shim gives up; 0: never
}

// Status says how a request ended.
type Status string

// The statuses.
const (
	Resized Status = "resized" // the next step's nodes are there
	Refused Status = "refused" // not the caller's job, not a managed job, bad node names: Why says
	Over    Status = "over"    // there is no next step: the last one goes on
	Late    Status = "late"    // the shim's patience ended before the nodes came
	Busy    Status = "busy"    // too many sessions are open, or the request came too slowly: ask again. From the session server; describes no allocation
)

// Reply describes the allocation as it is now, whatever the status (Count is 0 when the sidecar cannot say).
type Reply struct {
	Version    int    `codec:"v"` // set by WriteReply
	Status     Status `codec:"status"`
	Why        string `codec:"why,omitempty"`
	Nodes      string `codec:"nodes"` // host list
	Count      int    `codec:"count"`
	Step       int    `codec:"step"` // the step that begins now, from 1
	Steps      int    `codec:"steps"`
	Until      int64  `codec:"until"`      // Unix second at which it ends as planned
	Generation int    `codec:"generation"` // number of resizes so far

	// Allocations of a job that has companions: its own first, then one a companion; together they have the Nodes. Absent when
	// the job's own has them all. A shim of an earlier release refuses a reply with this field.
	Allocations []Allocation `codec:"allocations,omitempty"`
}

// Allocation is nodes that the batch system gave to one job.
type Allocation struct {
	Job   int64  `codec:"job"`
	Nodes string `codec:"nodes"` // host list, not empty
}
