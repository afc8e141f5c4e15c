package profile

import (
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

func TestEveryRoomIsThatOfEverySecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 8).Draw(t, "machine")
		p := drawUsed(t, nodes)
		from := rapid.Int64Range(0, 60).Draw(t, "from")
		to := from + rapid.Int64Range(1, 15).Draw(t, "length")
		given, fewest := rapid.IntRange(1, nodes).Draw(t, "given back"), rapid.IntRange(1, nodes+1).Draw(t, "fewest")
		p.Change(from, to, given)
		p.Change(from, to, -given)
		free := func(s core.Time) int { return p.nodes - p.At(s) }
		most, before := 0, nodes // before is the number of nodes that were free throughout before the release
		for s := from; s < to; s++ {
			most, before = max(most, free(s)), min(before, free(s)-given)
		}
		rooms, k := p.Rooms(from, to, given, fewest, nil), 0
		for n := most; n >= max(fewest, before+1, 1); n-- {
			begin, end := from, to
			for begin > -20 && free(begin-1) >= n {
				begin--
			}
			for end < 100 && free(end) >= n {
				end++
			}
			if begin == -20 {
				begin = -core.Forever
			}
			if end == 100 {
				end = core.Forever
			}
			for k < len(rooms) && rooms[k].Above >= n {
				k++
			}
			if k == len(rooms) || rooms[k].Free < n || rooms[k].From != begin || rooms[k].To != end {
				t.Fatalf("%d of %d nodes given back in [%d, %d), at least %d: for %d the room is [%d, %d), not one of %v; used %v", given, nodes, from, to, fewest, n, begin, end, rooms, p.Steps(-20))
			}
		}
		if most < max(fewest, before+1) && len(rooms) > 0 {
			t.Fatalf("%d of %d nodes given back in [%d, %d), at least %d: %v is too small; used %v", given, nodes, from, to, fewest, rooms, p.Steps(-20))
		}
	})
}
