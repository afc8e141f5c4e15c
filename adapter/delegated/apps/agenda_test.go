package apps

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
)

func Example() {
	var a agenda[string]
	ghost, launcher := entry[string]{Of: "a ghost"}, entry[string]{Of: "a launcher"}
	a.Put(&ghost, 60)
	a.Put(&launcher, 30)
	a.Put(&ghost, 20)
	for due := a.Take(30); due != nil; due = a.Take(30) {
		fmt.Println(due.Of)
	}
	fmt.Println(a.First() == core.Forever)
	// Output:
	// a ghost
	// a launcher
	// true
}

// An agenda returns each value once, in the order of the seconds at which they are due. The test compares it with a map.
func TestAgendaReturnsEachValueOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda[int]
		all := make([]entry[int], 6)
		for i := range all {
			all[i].Of = i
		}
		plain := map[int]core.Time{}
		first := func() core.Time {
			f := core.Forever
			for _, due := range plain {
				f = min(f, due)
			}
			return f
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, len(all)-1).Draw(t, "thing")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				due := rapid.OneOf(rapid.Int64Range(0, 20), rapid.Just(core.Forever)).Draw(t, "due")
				a.Put(&all[i], due)
				if plain[i] = due; due == core.Forever {
					delete(plain, i)
				}
			case 2:
				a.Remove(&all[i])
				delete(plain, i)
			case 3:
				now, want := rapid.Int64Range(0, 20).Draw(t, "now"), first()
				switch e := a.Take(now); {
				case e == nil && want <= now:
					t.Fatalf("nothing is given at %d, and something is due at %d", now, want)
				case e != nil && (want > now || plain[e.Of] != want):
					t.Fatalf("%d is given at %d; the first is due at %d", e.Of, now, want)
				case e != nil:
					delete(plain, e.Of)
				}
			}
			if got := a.First(); got != first() {
				t.Fatalf("the first is due at %d, want %d", got, first())
			}
		}
	})
}
