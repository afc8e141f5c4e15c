package server

import "accordion/shim/wire/launcher"

// User is who is at the other end of a session. Munge keys and numbers of users differ between clusters: a user is known by name.
type User struct {
	Name    string
	Cluster string // whose server took the session
	PID     int32  // the process that asks; 0 when it is on another host or in another PID namespace
}

// Session is one connection of a launcher or of a part, from its hello to its end. Its methods never block and may be called from any
// goroutine; after the session is over they do nothing.
type Session interface {
	// Number is unique among the sessions of one process.
	Number() uint64
	User() User
	// Send queues a message. A peer who takes so little that the queue is full is cut off. Messages are numbered by the session.
	Send(launcher.Message)
	// Close queues a last message, nil for none, and ends the session when it is written or its deadline is over.
	Close(last launcher.Message)
}

// Event is one message of a session, handed to the loop in the order in which the session sent them. The first is always a
// *launcher.Hello, which has been proved; pings, and what is no message at all, are dealt with by the server. Seq is the message's "s",
// which an Okay or a Refuse names. A nil Message is the end of the session; nothing follows it.
type Event struct {
	Session Session
	Seq     int64
	Message launcher.Message
}
