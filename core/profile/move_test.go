package profile

import (
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

// drawUsed draws an occupation of seconds 0 to 60, as a list or, though small, as a tree.
func drawUsed(t *rapid.T, nodes int) *Profile {
	p := New(nodes)
	for range rapid.IntRange(0, 12).Draw(t, "rectangles") {
		from := rapid.Int64Range(0, 50).Draw(t, "from")
		p.Change(from, from+rapid.Int64Range(1, 10).Draw(t, "length"), rapid.IntRange(1, nodes).Draw(t, "used"))
	}
	if rapid.Bool().Draw(t, "tree") {
		p.plant()
	}
	return p
}

func TestEarlierIsTheFirstSecondFromWhichThereIsRoomUpToWhereItLay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		p := drawUsed(t, nodes)
		n, d := rapid.IntRange(0, nodes+1).Draw(t, "n"), rapid.Int64Range(1, 30).Draw(t, "d")
		from, before := rapid.Int64Range(-5, 60).Draw(t, "from"), rapid.Int64Range(-5, 70).Draw(t, "before")
		until := min(before, rapid.Int64Range(-5, 90).Draw(t, "until"))
		want, found := before, false
		for at := from; at < until && !found; at++ {
			found = true
			for s := at; s < min(at+d, before); s++ {
				found = found && (n <= 0 || p.nodes-p.At(s) >= n)
			}
			if found {
				want = at
			}
		}
		if got, ok := p.Earlier(n, d, from, until, before); ok != found || ok && got != want {
			t.Fatalf("%d nodes for %d s in [%d, %d), up to %d, of %v: got %d, %v; want %d, %v", n, d, from, until, before, p.Steps(0), got, ok, want, found)
		}
	})
}

func TestMostFreeIsThatOfEverySecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawUsed(t, 6)
		from, to, want := rapid.Int64Range(-5, 60).Draw(t, "from"), rapid.Int64Range(-5, 70).Draw(t, "to"), 0
		for s := from; s < to; s++ {
			want = max(want, p.Free(s))
		}
		if got := p.MostFree(from, to); got != want {
			t.Fatalf("in [%d, %d) of %v: got %d, want %d", from, to, p.Steps(0), got, want)
		}
	})
}

func TestWhatIsForgottenChangesNothingToCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.SampledFrom([]int{0, 20, 40, 3000}).Draw(t, "points")
		p := New(10)
		for i := range points {
			p.Change(core.Time(2*i), core.Time(2*i+1), 1+i%7)
		}
		q, before := p.Clone(), core.Time(rapid.IntRange(-1, 2*points+2).Draw(t, "before"))
		p.Forget(before)
		for s := before; s < core.Time(2*points+3); s += max(1, core.Time(points/50)) {
			if p.At(s) != q.At(s) {
				t.Fatalf("at %d: %d, and %d when nothing was forgotten before %d", s, p.At(s), q.At(s), before)
			}
		}
		if points > 32 && before > core.Time(2*points) && len(p.Steps(-core.Forever)) > points {
			t.Fatalf("%d steps are left of %d", len(p.Steps(-core.Forever)), points)
		}
	})
}
