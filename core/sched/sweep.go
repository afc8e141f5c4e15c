package sched

import (
	"cmp"
	"math/bits"
	"slices"

	"accordion/core"
	"accordion/core/profile"
)

// sweep goes through the waiting jobs once: each may move to an earlier place.
//
// A rectangle need not be lifted out for that. Its own nodes are free to it where it lies, so that it can begin at t, before
// its start s, if and only if its nodes are free from t to s or for its length, whichever is over first, while it stays
// where it is. In the first case it slides, in the second it leaps to a place apart.
func (s *conservative) sweep(now core.Time) {
	s.memo.begin(s.waiting)
	for i := range s.waiting {
		r := &s.waiting[i]
		if r.shape != nil {
			s.sweepShape(now, r)
			continue
		}
		slides, leaps := s.memo.slides(r), s.memo.leaps(r)
		if !slides && !leaps {
			continue
		}
		if !(leaps && s.leap(now, r, slides)) && slides {
			s.slide(now, r)
		}
		s.memo.placed(r)
		s.due = min(s.due, r.start)
	}
}

// leap moves a rectangle to a place apart, if there is one and sliding leads to none that is earlier.
func (s *conservative) leap(now core.Time, r *reserved, slides bool) bool {
	at, ok := s.memo.apart(s.view, now, r)
	if !ok || slides && max(now, s.view.FreeSince(r.nodes, r.start)) <= at {
		return false
	}
	s.view.Change(at, at+r.length, r.nodes)
	if old := r.start; old < core.Forever { // else it had none
		s.view.Change(old, old+r.length, -r.nodes)
		s.memo.freed(s.view, old, old+r.length, r.nodes)
	}
	r.start = at
	return true
}

// slide moves a rectangle as far forward as it can without leaving its nodes.
func (s *conservative) slide(now core.Time, r *reserved) {
	old := r.start
	if r.start = s.view.Slide(r.nodes, r.length, old, now); r.start < old {
		s.memo.freed(s.view, max(old, r.start+r.length), old+r.length, r.nodes)
	}
}

// sweepShape is a sweep's part for a job that is no rectangle. It is lifted out when there is a better place only: most
// of the time there is none.
func (s *conservative) sweepShape(now core.Time, r *reserved) {
	old, end := r.shape.place, core.Forever
	if r.start < core.Forever {
		end = old.End()
	} else {
		old = core.Planned{}
	}
	p, ok := s.chooser.Earliest(s.view.Without(old.Start, old.EP), now, r.shape.job, end)
	if !ok {
		return
	}
	s.view.Remove(old.Start, old.EP)
	s.chooser.Improve(s.view, r.shape.job, &p)
	r.shape.place, r.start = p, p.Start
	s.view.Add(p.Start, p.EP)
	s.due = min(s.due, p.Start)
	if end < core.Forever {
		s.memo.freed(s.view, old.Start, end, s.machine.Nodes)
	}
}

// memo makes nearly all searches of a sweep needless; the answers are the same.
//
// When a waiting rectangle was placed, and whenever it was looked at, there was no earlier place for it. So an earlier one that
// it has now is one of two:
//
// Its place slid forward by less than its length. The nodes right before its begin, which have to be free for that, were not
// free then: some were given back there since.
//
// Or a place apart, which is over when the present one begins, and where the nodes are free for the whole length. It overlaps
// stretches in which nodes were given back since, and after the last of these changes that mattered to it, it lay in the room that
// the change had made (profile.Rooms). On a machine with a queue few rooms are wide and early enough for any that wait.
//
// What is known of places apart serves all rectangles of as many nodes and as long, a class: for many users submit the same many
// times.
type memo struct {
	changes uint64        // stretches in which nodes were given back, so far
	last    [spans]uint64 // of them, by the span of time that it reached; so many spans apart it is the same
	classes []class       // some without jobs, to be used again
	idle    []int32       // those
	recent  [1 << 8]int32 // classes by a hash of what they are
	lanes   [bits.UintSize + 1]lane
	fewest  int            // nodes of a class, or fewer
	rooms   []profile.Room // memory
}

// Spans of time: with 24 days of them, 17 minutes each, most jobs that a change did not reach have a span without changes.
const (
	spanBits = 10 // of the seconds in a span
	spans    = 1 << 11
)

// class is the waiting rectangles of so many nodes and so long. All places apart for them begin in [from, to).
type class struct {
	nodes    int
	length   core.Time
	jobs     int
	latest   core.Time // start, or later
	from, to core.Time
}

// lane is the classes whose numbers of nodes have so many bits, the shortest first.
type lane struct {
	classes []int32
	latest  core.Time // start, or later
}

// none forgets all places apart.
func (c *class) none() { c.from, c.to = core.Forever, -core.Forever }

// renew is for when all that wait have new places.
func (m *memo) renew() {
	for i := range m.classes {
		m.classes[i].none()
	}
}

// enter notes that one more rectangle waits, which has its place. It may found a class although there is one.
func (m *memo) enter(r *reserved) {
	recent := &m.recent[(uint64(r.nodes)*0x9e3779b97f4a7c15+uint64(r.length)*0xbf58476d1ce4e5b9)>>56]
	i, l := *recent, &m.lanes[bits.Len(uint(r.nodes))]
	if int(i) >= len(m.classes) || m.classes[i].jobs == 0 || m.classes[i].nodes != r.nodes || m.classes[i].length != r.length {
		if last := len(m.idle) - 1; last >= 0 {
			i, m.idle = m.idle[last], m.idle[:last]
		} else {
			i, m.classes = int32(len(m.classes)), append(m.classes, class{})
		}
		*recent = i
		c := &m.classes[i]
		*c = class{nodes: r.nodes, length: r.length, latest: r.start}
		c.none()
		k, _ := slices.BinarySearchFunc(l.classes, r.length, func(i int32, length core.Time) int {
			return cmp.Compare(m.classes[i].length, length)
		})
		l.classes = slices.Insert(l.classes, k, i)
	}
	r.class = i
	m.classes[i].jobs++
	m.placed(r)
	m.fewest = min(m.fewest, r.nodes)
}

// placed notes that a rectangle has its earliest place.
func (m *memo) placed(r *reserved) {
	r.seen = m.changes
	c, l := &m.classes[r.class], &m.lanes[bits.Len(uint(r.nodes))]
	c.latest, l.latest = max(c.latest, r.start), max(l.latest, r.start)
}

// leave notes that a rectangle waits no more.
func (m *memo) leave(r *reserved) {
	c := &m.classes[r.class]
	if c.jobs--; c.jobs > 0 {
		return
	}
	l := &m.lanes[bits.Len(uint(r.nodes))]
	k := slices.Index(l.classes, r.class)
	l.classes = slices.Delete(l.classes, k, k+1)
	m.idle = append(m.idle, r.class)
}

// begin is the begin of a sweep: what is an estimate becomes exact.
func (m *memo) begin(waiting []reserved) {
	for i := range m.classes {
		m.classes[i].latest = -core.Forever
	}
	for i := range waiting {
		if r := &waiting[i]; r.shape == nil {
			c := &m.classes[r.class]
			c.latest = max(c.latest, r.start)
		}
	}
	m.fewest = never
	for i := range m.lanes {
		l := &m.lanes[i]
		l.latest = -core.Forever
		for _, k := range l.classes {
			c := &m.classes[k]
			l.latest, m.fewest = max(l.latest, c.latest), min(m.fewest, c.nodes)
		}
	}
}

// freed notes that at most so many nodes were given back at an instant of [from, to).
func (m *memo) freed(view *profile.Profile, from, to core.Time, nodes int) {
	to = min(to, core.Forever)
	m.changes++
	first, last := (from+1)>>spanBits, to>>spanBits // of the starts that have to do with it
	for i := max(first, last-spans+1); i <= last; i++ {
		m.last[i&(spans-1)] = m.changes
	}
	m.rooms = view.Rooms(from, to, nodes, m.fewest, m.rooms[:0])
	for i := range m.rooms {
		r := &m.rooms[i]
		for b := bits.Len(uint(r.Above + 1)); b <= bits.Len(uint(r.Free)); b++ {
			if l := &m.lanes[b]; l.latest > from {
				m.offer(l, r, from, to)
			}
		}
	}
}

// offer tells the classes of a lane of a room around [from, to).
func (m *memo) offer(l *lane, r *profile.Room, from, to core.Time) {
	for _, i := range l.classes {
		c := &m.classes[i]
		if r.To-r.From < c.length {
			return // and all behind are longer
		}
		begin := max(r.From, from-c.length+1)
		if c.nodes > r.Above && c.nodes <= r.Free && begin+c.length <= c.latest {
			c.from, c.to = min(c.from, begin), max(c.to, min(r.To-c.length+1, to))
		}
	}
}

// slides says that a rectangle that has a place may slide forward.
func (m *memo) slides(r *reserved) bool {
	return m.last[r.start>>spanBits&(spans-1)] > r.seen && r.start < core.Forever
}

// leaps says that there may be a place apart for a rectangle.
func (m *memo) leaps(r *reserved) bool { return r.start-r.length >= m.classes[r.class].from }

// apart is the earliest place apart, from an instant on, for a rectangle that leaps.
func (m *memo) apart(view *profile.Profile, now core.Time, r *reserved) (core.Time, bool) {
	c := &m.classes[r.class]
	from, until := max(c.from, now), min(c.to, r.start-r.length+1)
	at, ok := view.Earlier(r.nodes, r.length, from, until)
	switch {
	case ok:
		c.from = at
	case until < c.to:
		c.from = max(from, until)
	default:
		c.none()
	}
	return at, ok
}

// clone is an independent copy.
func (m *memo) clone() memo {
	c := *m
	c.classes, c.idle, c.rooms = slices.Clone(m.classes), slices.Clone(m.idle), nil
	for i := range c.lanes {
		c.lanes[i].classes = slices.Clone(c.lanes[i].classes)
	}
	return c
}
