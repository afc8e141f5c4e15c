package managed

import (
	"fmt"

	"accordion/core"
)

// CountSuspension counts the seconds for which a running job was suspended. The job does not count
// as late in these seconds.
func (r *Job) CountSuspension(now core.Time) {
	if r.SuspendedAt > 0 && now > r.SuspendedAt {
		r.SuspendedFor, r.Unsaved = r.SuspendedFor+now-r.SuspendedAt, true
	}
	if r.SuspendedAt = 0; r.Phase == Running && r.Seen != nil && r.Seen.Suspended {
		r.SuspendedAt = now
	}
}

// SuspendedText returns a message for the user of a suspended job.
func (r *Job) SuspendedText() string {
	return fmt.Sprintf("suspended by an operator; it goes on after scontrol resume %d", r.ID)
}
