package sizing

import "math"

// Share gives a job its part of the machine by the square root of its reference. The demand D is the sum of the nodes that running
// jobs hold and the references of the waiting jobs. M is the mean reference of these jobs, and s = machine / D. A job of reference
// N may get
//
//	N · min(s·√(M / 2N), max(1, s/3))
//
// nodes. Small jobs get relatively more than large ones. No job gets more than its reference unless less than a third
// of the machine is in demand.
type Share struct{}

// Factor implements Sizing.
func (Share) Factor(w *World, s *Sizes) float64 {
	demand := w.Held + w.Wanted
	if demand <= 0 {
		return math.Inf(1)
	}
	part := float64(w.Machine) / float64(demand)
	mean := float64(w.References) / float64(w.Jobs)
	return min(part*math.Sqrt(mean/(2*float64(s.Nodes))), max(1, part/3))
}

// Filling implements Sizing.
func (Share) Filling() Filling { return UpTo }
