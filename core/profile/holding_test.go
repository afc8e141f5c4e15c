package profile

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
)

func TestHoldIsToAddEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		from := rapid.SampledFrom([]core.Time{-core.Forever, 0, 7}).Draw(t, "from")
		want, got := New(nodes), drawUsed(t, 3)
		var all []Holding
		for range rapid.IntRange(0, 20).Draw(t, "held") {
			h := Holding{Until: rapid.Int64Range(0, 20).Draw(t, "until"), Nodes: rapid.IntRange(1, 4).Draw(t, "nodes")}
			if rapid.IntRange(0, 9).Draw(t, "endless") == 9 {
				h.Until = core.Forever + rapid.Int64Range(0, 3).Draw(t, "by")
			}
			all = append(all, h)
			want.Change(from, h.Until, h.Nodes)
		}
		slices.SortFunc(all, func(a, b Holding) int { return cmp.Compare(a.Until, b.Until) })
		got.Hold(nodes, from, all)
		if got.Nodes() != nodes || !slices.Equal(got.list.At, want.list.At) || !slices.Equal(got.list.Used, want.list.Used) {
			t.Fatalf("%v from %d on: got %v %v, want %v %v", all, from, got.list.At, got.list.Used, want.list.At, want.list.Used)
		}
	})
}
