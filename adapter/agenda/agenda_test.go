package agenda_test

import (
	"testing"

	"pgregory.net/rapid"

	"accordion/adapter/agenda"
	"accordion/core"
)

// The twin is a table that is searched.
func TestTheFirstIsGivenFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const things = 8
		var (
			all     agenda.Agenda[int]
			entries [things]agenda.Entry[int]
			due     [things]core.Time
		)
		for i := range entries {
			entries[i].Of, due[i] = i, core.Forever
		}
		for now := range core.Time(rapid.IntRange(1, 40).Draw(t, "seconds")) {
			i := rapid.IntRange(0, things-1).Draw(t, "which")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				all.Remove(&entries[i])
				due[i] = core.Forever
			case 1:
				all.Put(&entries[i], core.Forever)
				due[i] = core.Forever
			default:
				due[i] = now + rapid.Int64Range(-2, 9).Draw(t, "due")
				all.Put(&entries[i], due[i])
			}
			last := -core.Forever
			for e := all.Take(now); e != nil; e = all.Take(now) {
				if due[e.Of] > now || due[e.Of] < last {
					t.Fatalf("%d is given at %d, behind one of %d, and is due at %d", e.Of, now, last, due[e.Of])
				}
				last, due[e.Of] = due[e.Of], core.Forever
			}
			first := core.Forever
			for i := range due {
				first = min(first, due[i])
			}
			if first <= now || all.First() != first {
				t.Fatalf("at %d the first is said to be due at %d, and is at %d", now, all.First(), first)
			}
		}
	})
}
