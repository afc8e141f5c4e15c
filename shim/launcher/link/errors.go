package link

import (
	"errors"
	"fmt"

	"accordion/shim/wire/launcher"
)

// ErrAway is a message that went nowhere: its connection is over.
var ErrAway = errors.New("the connection to the sidecar is over")

// errSilent: the sidecar sent nothing for too long.
var errSilent = fmt.Errorf("the sidecar said nothing for %v", dead)

// VersionError is a sidecar that does not speak our version.
type VersionError struct{ Says string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the sidecar takes no launchers (it says: %s): ask the administrator for a section [delegate] in its configuration, and where it is of an older release than this one for one that speaks version %d of the protocol", e.Says, launcher.Version)
}

// RefusedError is a hello that the sidecar refused.
type RefusedError struct{ Refuse launcher.Refuse }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the sidecar refuses: %s (%s)", e.Refuse.Text, e.Refuse.Code)
}

// EndedError is an application that the sidecar ended, or a connection that a newer one has replaced.
type EndedError struct{ End launcher.End }

func (e *EndedError) Error() string {
	if e.End.Why == launcher.WhyNewer {
		return "another launcher has taken the application over"
	}
	return fmt.Sprintf("the sidecar has ended the application: %s", e.End.Why)
}
