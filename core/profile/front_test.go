package profile

import (
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
)

// What a front remembers changes no result, while the profile fills up and time advances or is set back.
func TestAFrontChangesNoAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		p, front := drawUsed(t, nodes), new(Front)
		if rapid.Bool().Draw(t, "a tree after all") && p.tree == nil {
			p.buildTree()
		}
		now := rapid.Int64Range(-5, 10).Draw(t, "now")
		front.Forget(now)
		for range rapid.IntRange(1, 40).Draw(t, "searches") {
			if rapid.IntRange(0, 4).Draw(t, "time goes on") == 4 {
				now += rapid.Int64Range(-2, 5).Draw(t, "by")
				front.Since(now)
			}
			n, d := rapid.IntRange(0, nodes+1).Draw(t, "n"), rapid.Int64Range(0, 12).Draw(t, "d")
			if rapid.IntRange(0, 20).Draw(t, "endless need") == 20 {
				d = core.Forever
			}
			from := now + rapid.SampledFrom([]core.Time{0, 0, 0, 0, 3, -3, 20}).Draw(t, "from")
			until := core.Forever
			if rapid.Bool().Draw(t, "limited") {
				until = from + rapid.Int64Range(-1, 30).Draw(t, "until")
			}
			want, ok := p.Earlier(n, d, from, until)
			view := p.Behind(front)
			at, found := view.FirstFit(n, d, from, until)
			if found != ok || ok && at != want {
				t.Fatalf("%d nodes for %d s in [%d, %d) of %v: got %d, %v; want %d, %v", n, d, from, until, p.Steps(-9), at, found, want, ok)
			}
			if ok && rapid.Bool().Draw(t, "takes it") {
				p.Change(at, at+max(d, 1), n)
			}
		}
	})
}

// A front serves several profiles one after the other.
func TestAFrontForgets(t *testing.T) {
	front := new(Front)
	full, empty := New(4), New(9)
	full.Change(0, 100, 4)
	view := full.Behind(front)
	if at, ok := view.FirstFit(2, 10, 0, core.Forever); at != 100 || !ok {
		t.Fatalf("in the full one: %d, %v", at, ok)
	}
	front.Forget(0)
	view = empty.Behind(front)
	for _, n := range []int{2, 9} {
		if at, ok := view.FirstFit(n, 10, 0, core.Forever); at != 0 || !ok {
			t.Fatalf("%d nodes in the empty one: %d, %v", n, at, ok)
		}
	}
}
