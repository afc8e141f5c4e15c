package application

import (
	"time"

	"accordion/core/moldable"
	"accordion/shim/launcher/selector"
	"accordion/shim/wire/launcher"
)

// Event is something that a Launcher is told.
type Event interface{ event() }

// The events.
type (
	// Heard is a message of the sidecar that answers none of this launcher's.
	Heard struct{ Message launcher.Message }
	// Answered is an okay, or a refusal, of a message of this launcher.
	Answered struct {
		To     launcher.Message
		Refuse *launcher.Refuse // nil: okay
	}
	// Submitted is the outcome of a Submit.
	Submitted struct {
		Cluster string
		Job     int64
		Err     error
	}
	// Selected is what the application's model says about a view.
	Selected struct{ selector.Said }
	// Worked is the end of what ran on this host.
	Worked struct{ Code int }
	// Interrupted is sent when the user wants to leave.
	Interrupted struct{}
	// Expired is sent when what was expected did not come.
	Expired struct{}
	// Lost is the end of the connection: the sidecar will not be reached again.
	Lost struct{ Err error }
)

// Act is something that is to be done for a Launcher.
type Act interface{ act() }

// The acts.
type (
	// Send sends a message.
	Send struct{ Message launcher.Message }
	// Ask hands a view to the model; Selected answers it.
	Ask struct{ Sight selector.Sight }
	// Submit submits the batch job for a cluster, held and marked with the application; Submitted answers it.
	Submit struct {
		Cluster     string
		Application int64
	}
	// Print writes a line for programs.
	Print struct{ Line string }
	// Say writes a line for the user.
	Say struct{ Line string }
	// Work begins what runs on this host; Worked answers it.
	Work struct {
		Application int64
		Hosts       []Host
		Parts       []moldable.Part // the same, counted
	}
	// Stop ends what Work began.
	Stop struct{}
	// Expect asks for Expired after a while, and not before, whatever was expected.
	Expect struct{ After time.Duration }
	// Reconnect breaks the connection and makes another.
	Reconnect struct{ Why error }
	// Exit ends the launcher.
	Exit struct{ Code int }
)

// Host is one that the application has.
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
