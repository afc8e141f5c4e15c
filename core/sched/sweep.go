package sched

import (
	"cmp"
	"math/bits"
	"slices"

	"accordion/core"
	"accordion/core/profile"
)

// sweep goes through the waiting jobs once and moves each to an earlier place if there is one.
//
// A rectangle need not be removed from the view for that, because it can always use the nodes of its present
// place. So it can start at t, before its present start s, if and only if enough nodes are free from t until
// its new end or until s, whichever is earlier. A rectangle whose new place reaches s slides. Otherwise it
// leaps to a place that does not overlap its present place.
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

// leap moves a rectangle to an earlier place that does not overlap its present one. It returns false if there is none
// or if sliding leads to an earlier start.
func (s *conservative) leap(now core.Time, r *reserved, slides bool) bool {
	at, ok := s.memo.apart(s.view, now, r)
	if !ok || slides && max(now, s.view.FreeSince(r.nodes, r.start)) <= at {
		return false
	}
	s.view.Change(at, at+r.length, r.nodes)
	if old := r.start; old < core.Forever { // otherwise the rectangle had no place
		s.view.Change(old, old+r.length, -r.nodes)
		s.memo.freed(s.view, old, old+r.length, r.nodes)
	}
	r.start = at
	return true
}

// slide moves a rectangle to an earlier start, as far as its nodes are free.
func (s *conservative) slide(now core.Time, r *reserved) {
	old := r.start
	if r.start = s.view.Slide(r.nodes, r.length, old, now); r.start < old {
		s.memo.freed(s.view, max(old, r.start+r.length), old+r.length, r.nodes)
	}
}

// sweepShape moves a job that is not a rectangle. It changes the view only when there is a better place, because
// usually there is none.
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

// memo avoids nearly all searches of a sweep without changing its results.
//
// When a waiting rectangle was last placed or checked, it had no earlier place. If it has an earlier place now, there are two
// cases.
//
// In the first case it slides to a start that is earlier by less than its length. The nodes directly before its start were not
// all free at the last check, so nodes were released there since.
//
// In the second case it leaps to a place that ends before the present place starts. This place overlaps a time in which nodes
// were released since the last check. After the last of these releases that mattered, the place was inside the room that the
// release had made (profile.Rooms). On a machine with a queue few rooms are wide and early enough for a waiting job.
//
// All rectangles with the same nodes and length form a class, and share the information about leaps. Users submit many equal
// jobs.
type memo struct {
	changes uint64        // number of releases so far
	last    [spans]uint64 // number of the last release in each span of time; spans a multiple of `spans` apart share an entry
	classes []class       // some have no jobs and are reused
	idle    []int32       // classes without jobs
	recent  [1 << 8]int32 // classes by a hash of nodes and length
	lanes   [bits.UintSize + 1]lane
	fewest  int            // a lower bound of the nodes of all classes
	rooms   []profile.Room // reused memory
}

// The table of spans covers 24 days in spans of 17 minutes. The spans are so short that a job whose place no release reached is
// usually in a span without releases.
const (
	spanBits = 10 // log2 of the seconds in a span
	spans    = 1 << 11
)

// class describes all waiting rectangles with the same nodes and length. All places to which they can leap
// start in [from, to).
type class struct {
	nodes    int
	length   core.Time
	jobs     int
	latest   core.Time // an upper bound of the starts of its rectangles
	from, to core.Time
}

// lane is a list of the classes whose node counts have the same number of bits, the class with the shortest length first.
type lane struct {
	classes []int32
	latest  core.Time // an upper bound of the starts of their rectangles
}

// none records that there is no place to leap to.
func (c *class) none() { c.from, c.to = core.Forever, -core.Forever }

// renew resets all classes. It is called when all waiting jobs have new places.
func (m *memo) renew() {
	for i := range m.classes {
		m.classes[i].none()
	}
}

// enter adds a waiting rectangle that has its place. It may make a second class with the same nodes and length, which does no
// harm.
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

// placed records that a rectangle has its earliest place.
func (m *memo) placed(r *reserved) {
	r.seen = m.changes
	c, l := &m.classes[r.class], &m.lanes[bits.Len(uint(r.nodes))]
	c.latest, l.latest = max(c.latest, r.start), max(l.latest, r.start)
}

// leave removes a rectangle that no longer waits.
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

// begin prepares a sweep: it makes the bounds exact.
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
	m.fewest = tooMany
	for i := range m.lanes {
		l := &m.lanes[i]
		l.latest = -core.Forever
		for _, k := range l.classes {
			c := &m.classes[k]
			l.latest, m.fewest = max(l.latest, c.latest), min(m.fewest, c.nodes)
		}
	}
}

// freed records that at most the given number of nodes was released in [from, to).
func (m *memo) freed(view *profile.Profile, from, to core.Time, nodes int) {
	to = min(to, core.Forever)
	m.changes++
	first, last := (from+1)>>spanBits, to>>spanBits // the spans of the starts that this affects
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

// offer records a room around [from, to) in the classes of a lane.
func (m *memo) offer(l *lane, r *profile.Room, from, to core.Time) {
	for _, i := range l.classes {
		c := &m.classes[i]
		if r.To-r.From < c.length {
			return // all later classes are longer
		}
		begin := max(r.From, from-c.length+1)
		if c.nodes > r.Above && c.nodes <= r.Free && begin+c.length <= c.latest {
			c.from, c.to = min(c.from, begin), max(c.to, min(r.To-c.length+1, to))
		}
	}
}

// slides reports whether a rectangle that has a place may be able to slide to an earlier start.
func (m *memo) slides(r *reserved) bool {
	return m.last[r.start>>spanBits&(spans-1)] > r.seen && r.start < core.Forever
}

// leaps reports whether there may be a place to which a rectangle can leap.
func (m *memo) leaps(r *reserved) bool { return r.start-r.length >= m.classes[r.class].from }

// apart returns the earliest place from now on to which a rectangle can leap.
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

// clone returns an independent copy.
func (m *memo) clone() memo {
	c := *m
	c.classes, c.idle, c.rooms = slices.Clone(m.classes), slices.Clone(m.idle), nil
	for i := range c.lanes {
		c.lanes[i].classes = slices.Clone(c.lanes[i].classes)
	}
	return c
}
