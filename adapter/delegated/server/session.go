package server

import "accordion/shim/wire/launcher"

// User is the user at the other end of a session. Munge keys and user IDs differ between clusters, so a user is known by name.
type User struct {
	Name    string
	Cluster string // the cluster whose server took the session
	PID     int32  // the peer's process; 0 if it is on another host, or in another PID namespace
}

// Session is one connection of a launcher or of a part, from its hello to its end. Its methods never block, and any goroutine may call them.
// After the end of the session they do nothing.
type Session interface {
	// Number returns a number that is unique among the sessions of the process.
	Number() uint64
	User() User
	// Send queues a message. If the queue is full, because the peer reads too little, the session is cut off.
	Send(launcher.Message)
	// Close queues a last message, or none if last is nil. It ends the session when the message is written, or could not be written in time.
	Close(last launcher.Message)
}

// Event is a message of a session. The first is a *launcher.Hello, and its sender is proved. The server itself answers pings, and frames
// without a message. Seq is the message's "s", which an Okay or a Refuse names. A nil Message is the end of the session, and nothing follows
// it.
type Event struct {
	Session Session
	Seq     int64
	Message launcher.Message
}
