package ep

import (
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

func TestTheLeastOfASlidingWindowIsThatOfEverySecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l leastWaste
		sums := map[core.Time]int64{}
		at := core.Time(0)
		for range rapid.IntRange(0, 6).Draw(t, "pieces") {
			q := piece{value: rapid.Int64Range(0, 30).Draw(t, "value"), slope: rapid.Int64Range(-5, 5).Draw(t, "slope")}
			q.from = at + rapid.Int64Range(0, 3).Draw(t, "gap")
			q.to = q.from + rapid.Int64Range(0, 9).Draw(t, "length")
			at = q.to + 1
			l.sums = append(l.sums, q)
			for s := q.from; s <= q.to; s++ {
				sums[s] = q.at(s)
			}
		}
		s := stepRange{nodes: rapid.Int64Range(0, 3).Draw(t, "nodes"), length: rapid.Int64Range(1, 3).Draw(t, "duration")}
		width := rapid.SampledFrom([]core.Time{0, 1, 2, 3, 5, 8, 20, core.Forever}).Draw(t, "width")
		s.longest = s.length + width
		from := rapid.Int64Range(0, 10).Draw(t, "from")
		to := from + rapid.Int64Range(0, 40).Draw(t, "span")
		l.window(&s, from, to)
		rest := l.pieces
		for u := from; u <= to; u++ {
			want, ok := int64(0), false
			for v := u; v <= min(u+width, at); v++ {
				if sum, is := sums[v]; is && (!ok || sum < want) {
					want, ok = sum, true
				}
			}
			start := u - s.length
			if len(rest) > 0 && rest[0].to < start {
				rest = rest[1:]
			}
			covered := len(rest) > 0 && rest[0].from <= start
			if covered != ok || ok && rest[0].at(start) != want-s.nodes*u {
				t.Fatalf("at %d: want %d, %t of %v; pieces %v", start, want-s.nodes*u, ok, l.sums, l.pieces)
			}
		}
		if len(rest) > 1 || len(rest) == 1 && rest[0].to > to-s.length {
			t.Fatalf("pieces behind %d: %v", to-s.length, l.pieces)
		}
	})
}
