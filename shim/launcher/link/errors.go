package link

import (
	"errors"
	"fmt"

	"accordion/shim/wire/launcher"
)

// ErrAway means that a message was not sent, because its connection has ended.
var ErrAway = errors.New("the connection to the sidecar is over")

// errSilent means that the sidecar sent nothing for too long.
var errSilent = fmt.Errorf("the sidecar said nothing for %v", dead)

// VersionError means that the sidecar does not speak this version.
type VersionError struct{ Says string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the sidecar takes no launchers (it says: %s): ask the administrator for a section [delegate] in its configuration, and where it is of an older release than this one for one that speaks version %d of the protocol", e.Says, launcher.Version)
}

// RefusedError means that the sidecar refused the hello.
type RefusedError struct{ Refuse launcher.Refuse }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the sidecar refuses: %s (%s)", e.Refuse.Text, e.Refuse.Code)
}

// EndedError means that the sidecar ended the application, or that a newer connection replaced this one.
type EndedError struct{ End launcher.End }

func (e *EndedError) Error() string {
	if e.End.Why == launcher.WhyNewer {
		return "another launcher has taken the application over"
	}
	return fmt.Sprintf("the sidecar has ended the application: %s", e.End.Why)
}
