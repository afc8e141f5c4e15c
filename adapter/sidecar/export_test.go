package sidecar

import "reflect"

// Remembered returns how many things the sidecar remembers of jobs and reservations, by what they are. Only for a sidecar that
// does not run.
func (s *Sidecar) Remembered() map[string]int {
	past := reflect.ValueOf(s.publisher).Elem().FieldByName("past")
	return map[string]int{
		"jobs": len(s.jobs.records), "told": len(s.eventLog.lastNotice), "orphans": len(s.orphans.ended), "wants": len(s.reservations.wants), "tending": len(s.reservations.tending),
		"awaited": len(s.jobs.awaited), "queued": past.FieldByName("entries").Len(), "shown": past.FieldByName("queued").FieldByName("Jobs").Len(),
	}
}
