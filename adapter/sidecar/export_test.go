package sidecar

import "reflect"

// Remembered returns the lengths of the lists and tables that the sidecar keeps of jobs and
// reservations. The sidecar must not run during the call.
func (s *Sidecar) Remembered() map[string]int {
	past := reflect.ValueOf(s.publisher).Elem().FieldByName("past")
	return map[string]int{
		"jobs": len(s.jobs.records), "told": len(s.eventLog.lastNotice), "orphans": len(s.orphans.ended), "wants": len(s.reservations.wants), "tending": len(s.reservations.tending),
		"awaited": len(s.jobs.awaited), "queued": past.FieldByName("entries").Len(), "shown": past.FieldByName("queued").FieldByName("Jobs").Len(),
	}
}
