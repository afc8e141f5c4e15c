package planner

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plainPick implements pick in a simple way: parts are lists of resources.
func plainPick(t *Tree, counts []int, free map[int]bool) (taken []int, ok bool) {
	if len(counts) == 0 {
		for r := range t.all() {
			if !free[r] {
				return nil, false
			}
			taken = append(taken, r)
		}
		return taken, len(taken) > 0
	}
	need, most := wanted(counts[0], len(t.children))
	found := 0
	for _, child := range t.children {
		if found == most {
			break
		}
		if some, fits := plainPick(child, counts[1:], free); fits {
			found++
			taken = append(taken, some...)
		}
	}
	if found < need {
		return nil, false
	}
	return taken, true
}

func TestResourcesAreThoseOfAPlainSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "resources")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		hosts := rapid.IntRange(1, n).Draw(t, "hosts")
		spread := rapid.Bool().Draw(t, "spread") // the resources of a host have no consecutive numbers
		eligible, free, isFree := NewSet(n), NewSet(n), map[int]bool{}
		host, each := make(Property, n), make(Property, n)
		for r := range n {
			host[r], each[r] = int32(r*hosts/n), int32(r)
			if spread {
				host[r] = int32(random.IntN(hosts))
			}
			if random.IntN(10) == 0 {
				host[r] = -1
			}
			if random.IntN(8) > 0 {
				eligible.Add(r)
			}
			if random.IntN(4) > 0 {
				free.Add(r)
				isFree[r] = true
			}
		}
		levels := [][]Property{{each}, {host}, {host, each}}[rapid.IntRange(0, 2).Draw(t, "levels")]
		g := Group{Tree: NewTree(eligible, levels...)}
		for range levels {
			g.Counts = append(g.Counts, rapid.OneOf(rapid.IntRange(1, 80), rapid.SampledFrom([]int{AllOfThem, Best, BestHalf})).Draw(t, "count"))
		}
		taken := NewSet(n)
		ok := g.pick(free, taken)
		want, fits := plainPick(g.Tree, g.Counts, isFree)
		slices.Sort(want)
		if got := slices.Collect(taken.All()); ok != fits || !slices.Equal(got, want) {
			t.Fatalf("%v: %v, %v; want %v, %v", g.Counts, got, ok, want, fits)
		}
	})
}
