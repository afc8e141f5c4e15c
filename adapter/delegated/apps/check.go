package apps

import (
	"fmt"
	"slices"

	"accordion/core"
)

// mostShown is larger than the number of views, tries or hosts of any application. It is small enough that sums of such numbers do not
// overflow.
const mostShown = 1 << 50

// check returns an error if the application, read from the record with the ID, has values that no sidecar writes. The machine could not
// handle them correctly.
func (a *Application) check(id int64) error {
	phases := []Phase{Fresh, Subscribed, Waiting, Preparing, Starting, Running, Ending}
	switch {
	case a.ID != id || id <= 0:
		return fmt.Errorf("it is of application %d", a.ID)
	case a.User == "":
		return fmt.Errorf("it has no user")
	case !slices.Contains(phases, a.Phase):
		return fmt.Errorf("%.20q is no phase", a.Phase)
	case a.Tag < -1 || a.View < 0 || a.View > mostShown || a.Acked < 0 || a.Acked > mostShown || a.Try < 0 || a.Try > mostShown:
		return fmt.Errorf("its request is %d, its view %d of which %d was acknowledged, its try %d", a.Tag, a.View, a.Acked, a.Try)
	case a.Walltime < 0 || a.Walltime > core.MaxTotal:
		return fmt.Errorf("its walltime is %d", a.Walltime)
	case len(a.Tries) > perMinute:
		return fmt.Errorf("%d tries failed in a minute", len(a.Tries))
	}
	for _, at := range slices.Concat(a.Tries, []core.Time{a.Rank, a.Most, a.At, a.By, a.Went, a.Since, a.EndAt}) {
		if at < 0 || at > core.Forever {
			return fmt.Errorf("it has %d for a second", at)
		}
	}
	return a.checkParts()
}

func (a *Application) checkParts() error {
	names, hosts := map[string]bool{}, 0
	for _, p := range a.Parts {
		switch {
		case p == nil || p.Name == "" || names[p.Name]:
			return fmt.Errorf("it has a part without a cluster, or two on one")
		case p.Hosts < 0 || p.Hosts > mostShown || p.Kept < 0 || p.Kept > mostShown || p.Drop < 0 || p.Drop > mostShown || p.Job < 0:
			return fmt.Errorf("its part on %.60q is job %d with %d hosts, %d of them kept, of try %d", p.Name, p.Job, p.Hosts, p.Kept, p.Drop)
		case min(p.Since, p.Lost, p.Ghost) < 0 || max(p.Since, p.Lost, p.Ghost) > core.Forever:
			return fmt.Errorf("its part on %.60q has the seconds %d, %d and %d", p.Name, p.Since, p.Lost, p.Ghost)
		}
		names[p.Name] = true
		hosts += p.Hosts
	}
	if (a.Phase == Waiting || a.Phase == Preparing || a.Phase.Started()) && (hosts == 0 || a.Walltime == 0) {
		return fmt.Errorf("it is %s, and requests %d hosts for %d s", a.Phase, hosts, a.Walltime)
	}
	return nil
}
