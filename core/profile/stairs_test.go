package profile

import (
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

func TestStairsTellHowLongNodesAreFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 8).Draw(t, "machine")
		p := drawUsed(t, nodes)
		from := rapid.Int64Range(0, 60).Draw(t, "from")
		fewest := rapid.IntRange(0, nodes).Draw(t, "fewest")
		stairs := p.Stairs(from, fewest, nil)
		if stairs[0].From != from || stairs[0].Free != p.Free(from) {
			t.Fatalf("the first of %v, from %d on", stairs, from)
		}
		for n := fewest + 1; n <= nodes; n++ {
			until := core.Forever
			for _, s := range stairs {
				if s.Free < n {
					until = s.From
					break
				}
			}
			if want, _ := p.FirstBelow(n, from); until != want {
				t.Fatalf("%d nodes are free from %d until %d, not %d: %v", n, from, want, until, stairs)
			}
		}
	})
}
