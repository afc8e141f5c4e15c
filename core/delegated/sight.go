package delegated

import (
	"accordion/core"
	"accordion/core/profile"
)

// sights are what viewers have seen of a board: a viewer, a cluster.
type sights [][]sight

// of is what a viewer saw of so many clusters.
func (s *sights) of(viewer, clusters int) []sight {
	for len(*s) <= viewer {
		*s = append(*s, nil)
	}
	for len((*s)[viewer]) < clusters {
		(*s)[viewer] = append((*s)[viewer], sight{})
	}
	return (*s)[viewer]
}

// Forget implements Board.
func (s *sights) Forget(viewer int) {
	for c := range s.of(viewer, 0) {
		(*s)[viewer][c].seen = false
	}
}

// Seen implements Board.
func (s *sights) Seen(viewer, cluster int) []profile.Point {
	if seen := &s.of(viewer, cluster+1)[cluster]; seen.seen {
		return seen.points
	}
	return nil
}

// sight is what a viewer saw of one cluster.
type sight struct {
	seen   bool
	hosts  int
	points []profile.Point
	first  int // the point that held at the last look
}

// from is what the viewer saw of the time from now on; nil when nothing.
func (s *sight) from(now core.Time) []profile.Point {
	if !s.seen {
		return nil
	}
	for s.first+1 < len(s.points) && s.points[s.first+1].At <= now {
		s.first++
	}
	return s.points[s.first:]
}

// update makes a sight what stands on the board from now on, which is these points, and says whether that is something else.
func (s *sight) update(cluster, hosts int, now core.Time, points []profile.Point) (Change, bool) {
	old := s.from(now)
	head, most := 0, min(len(old), len(points))
	for head < most && old[head].Used == points[head].Used && (head == 0 || old[head].At == points[head].At) {
		head++
	}
	if s.seen && s.hosts == hosts && head == len(old) && head == len(points) {
		return Change{}, false
	}
	tail := 0
	for tail < most-head && old[len(old)-1-tail] == points[len(points)-1-tail] {
		tail++
	}
	s.points, s.first, s.hosts, s.seen = append(s.points[:0], points...), 0, hosts, true
	return Change{Cluster: cluster, Hosts: hosts, Points: s.points, Head: head, Tail: tail}, true
}
