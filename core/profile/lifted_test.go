package profile

import (
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

func TestALiftedProfileIsTheProfileWithoutThatPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		p, own := drawUsed(t, nodes), drawPlace(t, nodes)
		p.Add(own.Start, own.EP)
		if rapid.Bool().Draw(t, "a tree after all") && p.tree == nil {
			p.buildTree()
		}
		lifted, without := p.Without(own.Start, own.EP), p.Clone()
		without.Remove(own.Start, own.EP)

		n, d := rapid.IntRange(0, nodes+1).Draw(t, "n"), rapid.Int64Range(1, 30).Draw(t, "d")
		if rapid.IntRange(0, 20).Draw(t, "endless need") == 20 {
			d = core.Forever
		}
		from := rapid.Int64Range(-5, 70).Draw(t, "from")
		until := from + rapid.Int64Range(-1, 80).Draw(t, "until")
		start, ok := without.FirstFit(n, d, from)
		if got, found := lifted.FirstFit(n, d, from, until); found != (ok && start < until) || found && got != start {
			t.Fatalf("%d nodes for %d s in [%d, %d) of %v without %v: got %d, %v; want %d, %v", n, d, from, until, p.Steps(-9), own, got, found, start, ok)
		}
		below, ok := without.FirstBelow(n, from)
		if got, found := lifted.FirstBelow(n, from); found != ok || got != below {
			t.Fatalf("fewer than %d from %d on of %v without %v: got %d, %v; want %d, %v", n, from, p.Steps(-9), own, got, found, below, ok)
		}
		to := from + rapid.Int64Range(0, 40).Draw(t, "to")
		if got, want := lifted.FreeSince(n, from, to), max(from, without.FreeSince(n, to)); got != want {
			t.Fatalf("%d free up to %d since %d or later, of %v without %v: got %d, want %d", n, to, from, p.Steps(-9), own, got, want)
		}
	})
}

// drawPlace draws a place: some are empty, without end, or with a gap.
func drawPlace(t *rapid.T, nodes int) core.Allocation {
	a := core.Allocation{Start: rapid.Int64Range(-3, 40).Draw(t, "start")}
	for range rapid.IntRange(0, 4).Draw(t, "steps") {
		a.EP = append(a.EP, core.Step{Duration: rapid.Int64Range(1, 9).Draw(t, "duration"), Nodes: rapid.IntRange(0, nodes).Draw(t, "nodes")})
	}
	if len(a.EP) > 0 && rapid.IntRange(0, 9).Draw(t, "endless") == 9 {
		a.EP[rapid.IntRange(0, len(a.EP)-1).Draw(t, "step")].Duration = core.Forever
	}
	return a
}
