package profile

import (
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

// drawUsed draws an occupation of seconds 0 to 60, as a list, or as a tree although it is small.
func drawUsed(t *rapid.T, nodes int) *Profile {
	p := New(nodes)
	for range rapid.IntRange(0, 12).Draw(t, "rectangles") {
		from := rapid.Int64Range(0, 50).Draw(t, "from")
		p.Change(from, from+rapid.Int64Range(1, 10).Draw(t, "length"), rapid.IntRange(1, nodes).Draw(t, "used"))
	}
	if rapid.Bool().Draw(t, "tree") {
		p.buildTree()
	}
	return p
}

func TestEarlierIsTheFirstSecondFromWhichThereIsRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		p := drawUsed(t, nodes)
		n, d := rapid.IntRange(0, nodes+1).Draw(t, "n"), rapid.Int64Range(1, 30).Draw(t, "d")
		from, until := rapid.Int64Range(-5, 60).Draw(t, "from"), rapid.Int64Range(-5, 90).Draw(t, "until")
		want, found := until, false
		for at := from; at < until && !found; at++ {
			if found = n <= 0 || freeThroughout(p, n, at, at+d); found {
				want = at
			}
		}
		if got, ok := p.Earlier(n, d, from, until); ok != found || ok && got != want {
			t.Fatalf("%d nodes for %d s in [%d, %d) of %v: got %d, %v; want %d, %v", n, d, from, until, p.Steps(0), got, ok, want, found)
		}
	})
}

// freeThroughout reports whether n nodes are free in every second of [from, to).
func freeThroughout(p *Profile, n int, from, to core.Time) bool {
	for s := from; s < to; s++ {
		if p.nodes-p.At(s) < n {
			return false
		}
	}
	return true
}

func TestARectangleSlidesAsFarAsItCouldHadItBeenTakenOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "machine")
		p := drawUsed(t, nodes)
		n, d := rapid.IntRange(1, nodes).Draw(t, "n"), rapid.Int64Range(1, 30).Draw(t, "d")
		start, earliest := rapid.Int64Range(0, 60).Draw(t, "start"), rapid.Int64Range(-5, 65).Draw(t, "earliest")
		want := start
		for want > earliest && p.nodes-p.At(want-1) >= n {
			want--
		}
		p.Change(start, start+d, n) // the rectangle to slide; the machine may be exceeded there
		q := p.Clone()
		q.Change(start, start+d, -n)
		q.Change(want, want+d, n)
		if got := p.Slide(n, d, start, earliest); got != want {
			t.Fatalf("%d nodes for %d s slid from %d to %d, want %d, in %v", n, d, start, got, want, p.Steps(0))
		}
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		for s := core.Time(-10); s < 130; s++ {
			if p.At(s) != q.At(s) {
				t.Fatalf("at %d: %d are used, and %d when it is taken out and put back", s, p.At(s), q.At(s))
			}
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
