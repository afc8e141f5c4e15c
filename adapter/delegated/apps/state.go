package apps

import (
	"accordion/core"
	"accordion/core/delegated"
)

// State is what launchers are told; placed says that its request was placed.
func (a *Application) State(placed bool, now core.Time) string {
	switch {
	case a.Phase == Fresh, a.Phase == Subscribed:
		return delegated.Submitted.String()
	case a.Phase == Waiting && placed, a.Phase == Preparing:
		return delegated.Waiting.String()
	case a.Phase == Waiting:
		return delegated.RequestSent.String()
	case a.Phase.Started():
		return delegated.Started.String()
	case a.Reason == "" && now >= a.EndAt:
		return delegated.Ghost.String()
	}
	return delegated.FinishSent.String()
}
