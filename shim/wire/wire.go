// Package wire holds the messages between the shim in a job and the sidecar, and nothing else.
//
// A frame is a length (4 bytes, big endian, at most MaxFrame) and so many bytes of msgpack: a Request from the shim, a Reply
// from the sidecar. One request a connection. Version is checked before anything else is believed.
package wire

// Version of the messages. Another one is refused.
const Version = 1

// MaxFrame bounds a frame's msgpack, in bytes; checked before it is read.
const MaxFrame = 64 << 10

// Request says that the job's current step is over and asks for the next one's nodes.
type Request struct {
	Version int    `codec:"v"`
	Job     int64  `codec:"job"`
	Keep    string `codec:"keep,omitempty"`    // host list: the nodes to keep at a shrink
	Release string `codec:"release,omitempty"` // host list: the nodes to give back at a shrink
	Waits   int64  `codec:"waits,omitempty"`   // seconds until the shim gives up; 0: never
}

// Status says how a request ended.
type Status string

const (
	Resized Status = "resized" // the next step's nodes are there
	Refused Status = "refused" // not the caller's job, not a managed job, bad node names: Why says
	Over    Status = "over"    // there is no next step: the last one goes on
	Late    Status = "late"    // the shim's patience ended before the nodes came
)

// Reply describes the allocation as it is now, whatever the status.
type Reply struct {
	Version    int    `codec:"v"`
	Status     Status `codec:"status"`
	Why        string `codec:"why,omitempty"`
	Nodes      string `codec:"nodes"` // host list
	Count      int    `codec:"count"`
	Step       int    `codec:"step"` // the step that begins now, from 1
	Steps      int    `codec:"steps"`
	Until      int64  `codec:"until"`      // Unix second at which it ends as planned
	Generation int    `codec:"generation"` // number of resizes so far
}
