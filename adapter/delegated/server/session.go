package server

import "accordion/shim/wire/launcher"

// User is the user at the other end of a session. A user is identified by name, because munge keys and user IDs may differ between clusters.
type User struct {
	Name    string
	Cluster string // the cluster to whose session server the peer has connected
	PID     int32  // ID of the peer's process; 0 if it is on another host, or in another PID namespace
}

// Session is one connection of a launcher or a part, from its hello to its end. Its methods never block, and any goroutine may call them.
// After the end of the session they do nothing.
type Session interface {
	// Number returns a number that is unique among the sessions of the process.
	Number() uint64
	User() User
	// Send queues a message. If the queue is full, because the peer reads too slowly, the connection is closed.
	Send(launcher.Message)
	// Close queues a last message, unless `last` is nil. The session ends when all queued messages are written, or cannot be written in
	// time.
	Close(last launcher.Message)
}

// Event is a message of a session, or the end of the session. The first message of a session is a *launcher.Hello, whose sender is
// verified. The server itself answers pings, and frames without a message, so these are no events. Seq is the number of the message (the
// field "s"), which answers such as launcher.Okay and launcher.Refuse contain. A nil Message means the end of the session, after which no
// event of the session follows.
type Event struct {
	Session Session
	Seq     int64
	Message launcher.Message
}
