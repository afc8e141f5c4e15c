package planner

import (
	"slices"
	"sort"

	"accordion/core"
)

// Calendar records which resources are free at every instant.
type Calendar struct {
	slots []slot // in order of time, never empty; each slot lasts until the start of the next one, the last until core.Forever
}

type slot struct {
	from core.Time
	free Set // not shared with other slots
}

// NewCalendar returns a calendar in which the usable resources are always free, and the other resources are never free.
func NewCalendar(usable Set) *Calendar {
	return &Calendar{slots: []slot{{from: -core.Forever, free: slices.Clone(usable)}}}
}

// Take marks resources as taken in the interval [`from`, `to`), whether they were free or not.
func (c *Calendar) Take(what Set, from, to core.Time) {
	if from >= to {
		return
	}
	i := c.cut(from)
	end := len(c.slots)
	if to < core.Forever {
		end = c.cut(to)
	}
	first, last := what.span() // only these words of the sets change
	for ; i < end; i++ {
		c.slots[i].free[first:last].Drop(what[first:last])
	}
}

// at returns the index of the slot that contains an instant.
func (c *Calendar) at(t core.Time) int {
	return max(0, sort.Search(len(c.slots), func(i int) bool { return c.slots[i].from > t })-1)
}

// cut returns the index of the slot that starts at the instant. If there is none, it splits the slot that contains the
// instant.
func (c *Calendar) cut(t core.Time) int {
	i := c.at(t)
	if c.slots[i].from == t {
		return i
	}
	c.slots = slices.Insert(c.slots, i+1, slot{t, slices.Clone(c.slots[i].free)})
	return i + 1
}

// search finds the earliest place of a choice in a calendar. It reuses its memory for the next choice.
type search struct {
	cal         *Calendar
	free, taken Set
	eligible    Set
}

// earliest returns the first instant, not before `from`, at which the choice can start. Its resources are then free
// for its whole duration. It leaves the resources in s.taken. `ok` is false if there is no such instant.
func (s *search) earliest(c Choice, from core.Time) (start core.Time, ok bool) {
	s.reset(c)
	least := 0
	for _, g := range c.Groups {
		least += g.least()
	}
	slots := s.cal.slots
	for i := s.cal.at(from); i < len(slots); i++ {
		start = max(slots[i].from, from)
		short := s.throughout(start, c.Duration, i, least)
		if short >= 0 {
			i = short // every start up to the end of this slot would fail in the same slot
			continue
		}
		if s.pick(c) {
			return start, true
		}
	}
	return 0, false
}

func (s *search) reset(c Choice) {
	n := len(s.cal.slots[0].free)
	if len(s.free) != n {
		s.free, s.taken, s.eligible = make(Set, n), make(Set, n), make(Set, n)
	}
	clear(s.eligible)
	for _, g := range c.Groups {
		g.Tree.of(s.eligible).Join(g.Tree.words)
	}
}

// throughout sets s.free to the resources that are free from `start` on for the duration; slot i contains `start`. If at least `least`
// resources are free, it returns −1. Otherwise it returns the index of a slot, and no start before the end of that slot can succeed.
func (s *search) throughout(start, duration core.Time, i, least int) int {
	slots := s.cal.slots
	copy(s.free, s.eligible)
	for j := i; j < len(slots) && slots[j].from < start+duration; j++ {
		s.free.Keep(slots[j].free)
		if s.free.Len() >= least {
			continue
		}
		if slots[j].free.common(s.eligible) < least {
			return j
		}
		return i
	}
	return -1
}

// pick chooses the choice's resources from s.free, group after group, into s.taken.
func (s *search) pick(c Choice) bool {
	clear(s.taken)
	if len(c.Groups) == 1 {
		return c.Groups[0].pick(s.free, s.taken)
	}
	for _, g := range c.Groups {
		part := make(Set, len(s.taken))
		if !g.pick(s.free, part) {
			return false
		}
		s.taken.Join(part)
		s.free.Drop(part)
	}
	return len(c.Groups) > 0
}
