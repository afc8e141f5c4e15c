package application

import (
	"context"

	"accordion/shim/wire/launcher"
)

// Link is a connection to a sidecar after its first two frames.
type Link interface {
	// Send sends a message, and gives the number by which an okay or a refusal names it. It does not block for long.
	Send(launcher.Message) (seq int64, err error)
	// Messages are what the sidecar says, but for pings. It is closed when the connection is over.
	Messages() <-chan launcher.Message
	Close()
}

// Connect makes a connection and says hello. An error is a *Refusal when the sidecar was there and refused.
type Connect func(context.Context, *launcher.Hello) (Link, *launcher.Welcome, error)

// Refusal is a hello that was refused.
type Refusal struct{ *launcher.Refuse }

func (r *Refusal) Error() string { return refusal(r.Refuse) }
