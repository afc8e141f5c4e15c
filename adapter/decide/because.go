package decide

import (
	"fmt"

	"accordion/adapter/managed"
	"accordion/core"
)

// `because` returns why a step begins when it does, for the journal and for the application's log.
// `meant` is the second for which the step was planned. The result is "" if the application and its
// nodes were in time.
func because(s managed.Settings, r *managed.Job, meant, now core.Time) string {
	asked := meant // an application that sends no messages is never early or late
	if r.Question != nil {
		asked = r.Question.At.Unix()
	}
	switch {
	case asked > meant+r.NotLateFor()+managed.Tolerance:
		return fmt.Sprintf("the application was %d s late, %d s in all of the %d s that it may be", asked-meant-r.NotLateFor(), r.OverrunUsed, r.Allowance(s.Overrun))
	case r.OutageCost > 0 && asked > meant+r.SidecarDelay+managed.Tolerance:
		return fmt.Sprintf("%d s after the planned second: %s, which cost the application %d s", now-meant, managed.Outaged.ForUsers(), asked-meant-r.SidecarDelay)
	case now < meant-managed.Tolerance:
		return fmt.Sprintf("%d s before the planned second, which delays nobody", meant-now)
	case now > meant+managed.Tolerance && r.Obstacle != managed.Nobody:
		return fmt.Sprintf("%d s after the planned second: %s", now-meant, r.Obstacle.ForUsers())
	case asked < meant-managed.Tolerance && now > r.Due()+managed.Tolerance: // from Due on, the resize would have delayed no other job
		why := "the batch system was slow, or resized others first"
		if r.Obstacle != managed.Nobody {
			why = r.Obstacle.ForUsers()
		}
		return fmt.Sprintf("the application was %d s early and might have gone on %d s ago: %s", now-asked, now-r.Due(), why)
	case asked < meant-managed.Tolerance && !s.Advance:
		return fmt.Sprintf("the application asked %d s early and waited for the planned second", now-asked)
	case asked < meant-managed.Tolerance:
		return fmt.Sprintf("the application was %d s early and had to wait: going on at once would have delayed others", now-asked)
	}
	return ""
}
