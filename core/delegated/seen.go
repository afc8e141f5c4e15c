package delegated

import (
	"accordion/core"
	"accordion/core/profile"
)

// seenViews has what viewers have seen of a board, by viewer and cluster.
type seenViews [][]seenView

// of returns what a viewer saw of each cluster. It extends the result to at least `clusters` entries.
func (s *seenViews) of(viewer, clusters int) []seenView {
	for len(*s) <= viewer {
		*s = append(*s, nil)
	}
	for len((*s)[viewer]) < clusters {
		(*s)[viewer] = append((*s)[viewer], seenView{})
	}
	return (*s)[viewer]
}

// Forget implements Board.
func (s *seenViews) Forget(viewer int) {
	for c := range s.of(viewer, 0) {
		(*s)[viewer][c].seen = false
	}
}

// Seen implements Board.
func (s *seenViews) Seen(viewer, cluster int) []profile.Point {
	if seen := &s.of(viewer, cluster+1)[cluster]; seen.seen {
		return seen.points
	}
	return nil
}

// seenView is what a viewer saw of one cluster.
type seenView struct {
	seen   bool
	hosts  int
	points []profile.Point
	first  int // index of the point that applied at the viewer's last Look
}

// from returns what the viewer saw of the time from now on, or nil.
func (s *seenView) from(now core.Time) []profile.Point {
	if !s.seen {
		return nil
	}
	for s.first+1 < len(s.points) && s.points[s.first+1].At <= now {
		s.first++
	}
	return s.points[s.first:]
}

// update replaces a seenView by points, the board's occupation from now on. It returns the change, and false if there is none.
func (s *seenView) update(cluster, hosts int, now core.Time, points []profile.Point) (Change, bool) {
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
