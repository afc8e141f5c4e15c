package managed

import (
	"testing"

	"accordion/adapter"
	"accordion/core"
)

func TestSecondsOfSuspensionDoNotCountAsLate(t *testing.T) {
	r := &Job{Record: Record{Phase: Running, Promise: []core.Time{1100}}, Reading: Reading{Seen: &adapter.Job{}}}
	for _, c := range []struct {
		now       core.Time
		suspended bool
		late      core.Time // second from which the job is late
	}{{1000, false, 1100}, {1010, true, 1100}, {1020, true, 1110}, {1050, true, 1140}, {1055, false, 1145}, {1200, false, 1145}} {
		r.Seen.Suspended = c.suspended
		if r.CountSuspension(c.now); r.LateFrom() != c.late {
			t.Errorf("in second %d it is late from %d on, want %d", c.now, r.LateFrom(), c.late)
		}
	}
}
