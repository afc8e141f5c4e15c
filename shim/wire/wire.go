// Package wire contains the messages between the shim in a job and the sidecar.
//
// A frame is a length (4 bytes, big endian, at most MaxFrame) and that many bytes of msgpack. It is a Request from the
// shim or a Reply from the sidecar, and a connection carries one request. Version is checked before anything else. So
// a frame of another version is a *VersionError, even if its other fields mean nothing to us. Within a version the
// reply may get more fields, which a shim that does not know them ignores. The request may not.
//
//	err := wire.WriteRequest(conn, wire.Request{Job: 4711, Step: 1})
//	…
//	reply, err := wire.ReadReply(conn)
//
// Over a network the kernel cannot prove which user is at the other end. There the sidecar first sends a Challenge, and a Proof, which
// proves the sender, precedes the request and the reply. Package shim/seal makes and checks the proofs.
//
// Deadlines, credentials and repetition are for the two ends (adapter/session, shim).
package wire

// Version is the version of the messages. Other versions are refused.
const Version = 1

// MaxFrame limits a frame's msgpack in bytes. It is checked before the frame is read.
const MaxFrame = 64 << 10

// Socket is the default socket, where the sidecar listens and the shim asks (configuration [session] socket;
// environment ACCORDION_SOCKET).
const Socket = "/run/accordion/accordion.sock"

// MaxProof limits the msgpack of a Challenge or a Proof in bytes, because they come from a peer whose user is not proved yet.
const MaxProof = 4 << 10

// NonceSize is the length of a Challenge's nonce, in bytes.
const NonceSize = 32

// Challenge is the first message of a session over a network, from the sidecar.
type Challenge struct {
	Version int    `codec:"v"`             // set by WriteChallenge
	Nonce   []byte `codec:"nonce"`         // NonceSize bytes that were never used before; absent when Why is set
	Why     string `codec:"why,omitempty"` // why there is no session now; the shim should ask again
}

// Proof precedes a message over a network. Its credential covers the nonce and the message.
type Proof struct {
	Version    int    `codec:"v"` // set by WriteProof
	Credential string `codec:"credential"`
	Why        string `codec:"why,omitempty"` // set by the sidecar in place of a credential: why it refused the shim's credential
}

// Request ends the job's current step and asks for the nodes of the next one.
//
// A request may be repeated without harm. If the connection is lost, the shim asks again, and cannot know whether the requested resize has
// happened. The field Step distinguishes the two cases.
type Request struct {
	Version int    `codec:"v"` // set by WriteRequest
	Job     int64  `codec:"job"`
	Step    int    `codec:"step,omitempty"`    // number of the step that ends, counted from 1; 0 means the present step. If the job is already past that step, the reply comes without delay
	Keep    string `codec:"keep,omitempty"`    // host list: the nodes to keep when the job shrinks
	Release string `codec:"release,omitempty"` // host list: the nodes to release when the job shrinks
	Waits   int64  `codec:"waits,omitempty"`   // seconds until the shim gives up; 0 means never
}

// Status is how a request ended.
type Status string

// The statuses.
const (
	Resized Status = "resized" // the job has the nodes of the next step
	Refused Status = "refused" // not the caller's job, not a managed job, or wrong node names (see Why)
	Over    Status = "over"    // there is no next step, and the last step continues
	Late    Status = "late"    // the shim's timeout passed before the nodes came
	Busy    Status = "busy"    // too many sessions are open, or the request came too slowly; the shim should ask again. The session server sends this status, and the reply describes no allocation
)

// Reply describes the present allocation, whatever the status is. If the sidecar does not know the allocation, Count is 0.
type Reply struct {
	Version    int    `codec:"v"` // set by WriteReply
	Status     Status `codec:"status"`
	Why        string `codec:"why,omitempty"`
	Nodes      string `codec:"nodes"` // host list
	Count      int    `codec:"count"`
	Step       int    `codec:"step"` // number of the step that begins now, counted from 1
	Steps      int    `codec:"steps"`
	Until      int64  `codec:"until"`      // Unix second at which that step is planned to end
	Generation int    `codec:"generation"` // number of resizes so far

	// Allocations is set for a job that has companions. It has first the job's own allocation, then one for each companion; together they
	// have the Nodes. It is absent if the job's own allocation has all nodes. A shim of an earlier release refuses a reply with this field.
	Allocations []Allocation `codec:"allocations,omitempty"`
}

// Allocation is nodes that the batch system gave to one job.
type Allocation struct {
	Job   int64  `codec:"job"`
	Nodes string `codec:"nodes"` // host list, not empty
}
