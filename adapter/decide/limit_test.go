package decide

import (
	"testing"

	"accordion/adapter/managed"
	"accordion/core"
)

func TestTheLimitOfAJobEndsBeforeAReservationOfOthers(t *testing.T) {
	for ahead, want := range map[core.Time]core.Time{394: 360, 463: 420, 500: 450, 10_000: 450} { // the profile lasts 300 s, and may be 150 s late
		c := set(waiting(), reserved(ahead, false, "n1"))
		c.settings.Overrun = managed.Overrun{Least: 30, Share: 0.5}
		c.decide()
		course := &managed.Course{Start: now, EP: core.EP{{Duration: 300, Nodes: 1}}, Layers: []managed.Layer{{From: now, To: now + 300, Nodes: []string{"n1"}}}}
		if got := c.s.limit(course); got != want {
			t.Errorf("%d s before a reservation its limit is %d s, want %d", ahead, got, want)
		}
	}
}
