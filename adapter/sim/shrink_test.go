package sim

import (
	"maps"
	"slices"
	"testing"

	"accordion/adapter"
)

// smallest removes jobs, events and faults from a failing scenario for as long as it still fails.
func smallest(t *testing.T, s *scenario) *scenario {
	for {
		smaller := shrinkOnce(t, s)
		if smaller == nil {
			return s
		}
		s = smaller
	}
}

// shrinkOnce returns a smaller scenario that still fails, or nil if it finds none.
func shrinkOnce(t *testing.T, s *scenario) *scenario {
	wrong := func(c *scenario) bool { return len(tryScenario(t, c)) > 0 }
	for i := range s.apps {
		if c := *s; len(s.apps) > 1 {
			c.apps = slices.Delete(slices.Clone(s.apps), i, i+1)
			if wrong(&c) {
				return &c
			}
		}
	}
	for _, e := range s.events {
		if e.what == "back" || e.what == "undrained" {
			continue // the return of a node is removed only together with its loss
		}
		c := *s
		c.events = slices.DeleteFunc(slices.Clone(s.events), func(o event) bool { return o == e || e.node != "" && o.node == e.node && o.at > e.at })
		if wrong(&c) {
			return &c
		}
	}
	happened := simulate(t, s, true, false).faults
	for size := len(happened); size > 0; size /= 2 {
		for some := range slices.Chunk(happened, size) {
			c := *s
			if c.without = maps.Clone(s.without); c.without == nil {
				c.without = map[string]bool{}
			}
			for _, name := range some {
				c.without[name] = true
			}
			if wrong(&c) {
				return &c
			}
		}
	}
	return nil
}

func TestFailingScenarioIsMadeSmall(t *testing.T) {
	var s *scenario
	for seed := uint64(1); s == nil; seed++ {
		s = generate(seed)
		s.sabotage = func(b adapter.BatchSystem) adapter.BatchSystem { return &saboteur{BatchSystem: b, unreserve: true} }
		if len(s.apps) < 4 || len(s.events) == 0 || s.rate == 0 || s.sqlite || len(tryScenario(t, s)) == 0 {
			s = nil
		}
	}
	small := smallest(t, s)
	if len(small.apps) != 1 || len(small.events) != 0 || len(simulate(t, small, true, false).faults) != 0 || len(tryScenario(t, small)) == 0 {
		t.Errorf("one job is enough for a reservation that is forgotten; the smallest scenario is %v", small)
	}
}
