package sidecar

import (
	"fmt"

	"accordion/core"
)

// because says why a step begins when it does, for the journal and for the application's log: it is early, it was early and
// had to wait, it was late, or its nodes were. It is "" for one that came and went on in time.
func (s *Sidecar) because(r *record, meant, now core.Time) string {
	asked := meant // a silent application is never early or late
	if r.ask != nil {
		asked = r.ask.at.Unix()
	}
	switch {
	case asked > meant+tolerance:
		return fmt.Sprintf("the application was %d s late, %d s in all of the %d s that it may be", asked-meant, r.Overran, s.allowance(r))
	case now < meant-tolerance:
		return fmt.Sprintf("%d s before the planned second, which delays nobody", meant-now)
	case now > meant+tolerance && r.obstacle != nobody:
		return fmt.Sprintf("%d s after the planned second: %s", now-meant, r.obstacle.forUsers())
	case asked < meant-tolerance && now > r.due()+tolerance: // from then on nobody minded
		why := "the batch system was slow, or resized others first"
		if r.obstacle != nobody {
			why = r.obstacle.forUsers()
		}
		return fmt.Sprintf("the application was %d s early and might have gone on %d s ago: %s", now-asked, now-r.due(), why)
	case asked < meant-tolerance && !s.settings.Advance:
		return fmt.Sprintf("the application asked %d s early and waited for the planned second", now-asked)
	case asked < meant-tolerance:
		return fmt.Sprintf("the application was %d s early and had to wait: going on at once would have delayed others", now-asked)
	}
	return ""
}

// forUsers is the obstacle as a sentence.
func (o obstacle) forUsers() string {
	switch o {
	case managed:
		return "another evolving job gave its nodes back late"
	case overrunning:
		return "an ordinary job held its nodes past its limit"
	case lostNode:
		return "a node was lost"
	case boots:
		return "a node that was powered down had to boot"
	case limit:
		return "a limit of the site allowed no more nodes"
	default:
		return "the batch system had not freed the nodes"
	}
}
