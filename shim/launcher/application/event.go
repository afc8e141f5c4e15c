package application

import (
	"time"

	"accordion/core/moldable"
	"accordion/shim/launcher/selector"
	"accordion/shim/wire/launcher"
)

// Event is an input of a Launcher.
type Event interface{ event() }

// The events.
type (
	// Heard is a message of the sidecar that is not an answer to a message of this launcher.
	Heard struct{ Message launcher.Message }
	// Answered is the sidecar's answer to a message of this launcher.
	Answered struct {
		To     launcher.Message
		Refuse *launcher.Refuse // nil if the answer is okay
	}
	// Submitted is the outcome of a Submit.
	Submitted struct {
		Cluster string
		Job     int64
		Err     error
	}
	// Selected is the model's answer to a view.
	Selected struct{ selector.Said }
	// Worked is sent when the command on this host has ended.
	Worked struct{ Code int }
	// Interrupted is sent when the user interrupts the launcher.
	Interrupted struct{}
	// Expired is sent when the time that Expect set has passed.
	Expired struct{}
	// Lost is sent when the link has ended and will not reconnect.
	Lost struct{ Err error }
)

// Act is an action that a Launcher requests.
type Act interface{ act() }

// The acts.
type (
	// Send sends a message.
	Send struct{ Message launcher.Message }
	// Ask passes a view to the model. Selected is the answer.
	Ask struct{ Sight selector.Sight }
	// Submit submits the batch job for a cluster, held and marked with the application. Submitted is the answer.
	Submit struct {
		Cluster     string
		Application int64
	}
	// Print writes a line to standard output, for programs.
	Print struct{ Line string }
	// Say writes a line to standard error, for the user.
	Say struct{ Line string }
	// Work starts the command on this host. Worked is the answer.
	Work struct {
		Application int64
		Hosts       []Host
		Parts       []moldable.Part // the same hosts, as numbers of hosts by cluster
	}
	// Stop ends the command that Work started.
	Stop struct{}
	// Expect asks for Expired after a time. It replaces an earlier Expect.
	Expect struct{ After time.Duration }
	// Reconnect closes the connection and opens another one.
	Reconnect struct{ Why error }
	// Exit ends the launcher.
	Exit struct{ Code int }
)

// Host is a host that the application has.
type Host struct{ Cluster, Name string }

func (Heard) event()       {}
func (Answered) event()    {}
func (Submitted) event()   {}
func (Selected) event()    {}
func (Worked) event()      {}
func (Interrupted) event() {}
func (Expired) event()     {}
func (Lost) event()        {}

func (Send) act()      {}
func (Ask) act()       {}
func (Submit) act()    {}
func (Print) act()     {}
func (Say) act()       {}
func (Work) act()      {}
func (Stop) act()      {}
func (Expect) act()    {}
func (Reconnect) act() {}
func (Exit) act()      {}
