package sidecar

// Remembered is how many things the sidecar remembers of jobs and reservations, by what they are. Only for a sidecar that
// does not run.
func (s *Sidecar) Remembered() map[string]int {
	entries, shown := s.show.Size()
	return map[string]int{
		"jobs": len(s.jobs.records), "told": len(s.eventLog.told), "orphans": len(s.orphans.ended), "wants": len(s.reservations.wants), "tending": len(s.reservations.tending),
		"awaited": len(s.jobs.awaited), "queued": entries, "shown": shown,
	}
}
