package apps

import (
	"accordion/core"
	"accordion/core/delegate"
)

// State is what launchers are told; placed says that its request was placed.
func (a *Application) State(placed bool, now core.Time) string {
	switch {
	case a.Phase == Fresh, a.Phase == Subscribed:
		return delegate.Submitted.String()
	case a.Phase == Waiting && placed, a.Phase == Preparing:
		return delegate.Waiting.String()
	case a.Phase == Waiting:
		return delegate.RequestSent.String()
	case a.Phase.Started():
		return delegate.Started.String()
	case a.Reason == "" && now >= a.EndAt:
		return delegate.Ghost.String()
	}
	return delegate.FinishSent.String()
}
