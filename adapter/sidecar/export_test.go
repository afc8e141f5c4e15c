package sidecar

// Remembered is how many things the sidecar remembers of jobs and reservations, by what they are. Only for a sidecar that
// does not run.
func (s *Sidecar) Remembered() map[string]int {
	entries, shown := s.show.Size()
	return map[string]int{
		"jobs": len(s.records), "told": len(s.told), "strays": len(s.strays), "wants": len(s.wants), "tending": len(s.tending),
		"awaited": len(s.awaited), "queued": entries, "shown": shown,
	}
}
