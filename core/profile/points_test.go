package profile_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/profile"
)

// The plain implementation counts change points. A list must visit exactly as many points. A tree skips most of them.
func TestSearchesAndChangesSayWhatTheyLookAt(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 2))
		changes, span := random.IntN(60), core.Time(200)
		if seed < 3 {
			changes, span = 3000, 20_000
		}
		p := profile.New(100)
		for range changes {
			from := random.Int64N(span)
			to := from + 1 + random.Int64N(30)
			touched := 0 // points that apply somewhere in [from, to)
			all := len(p.Points(-1, nil))
			for _, point := range p.Points(from, nil) {
				if point.At < to {
					touched++
				}
			}
			before := p.Visited()
			p.Change(from, to, 1+random.IntN(3))
			if steps := int(p.Visited() - before); steps != touched && all < 1000 || steps < 1 || steps > touched+200 {
				t.Fatalf("seed %d: a change that touches %d of %d points says %d", seed, touched, all, steps)
			}
		}
		n, d, from := 1+random.IntN(100), 1+random.Int64N(span), random.Int64N(span)
		start, ok, steps := p.Search(n, d, from, core.Forever)
		if at, fits := p.FirstFit(n, d, from); at != start || fits != ok {
			t.Fatalf("seed %d: a search finds %d, %v, and the first fit is %d, %v", seed, start, ok, at, fits)
		}
		passed := 0 // number of points up to the one that decides the search
		for _, point := range p.Points(from, nil) {
			if passed == 0 || point.At < start+d {
				passed++
			}
		}
		if len(p.Points(-1, nil)) < 1000 && steps != passed || steps < 1 || steps > passed+200 {
			t.Fatalf("seed %d: a search says that it looked at %d, of %d points up to its end", seed, steps, passed)
		}
	}
}

// TestPointsAreTheOccupation checks points second by second, on lists and, with many changes, on trees.
func TestPointsAreTheOccupation(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		changes := random.IntN(40)
		span := core.Time(200)
		if seed < 3 {
			changes, span = 3000, 20_000
		}
		p := profile.New(100)
		for range changes {
			from := random.Int64N(span)
			to := from + 1 + random.Int64N(30)
			if random.IntN(20) == 0 {
				to = core.Forever
			}
			p.Change(from, to, 1+random.IntN(3))
		}
		from := random.Int64N(span+20) - 10
		points := p.Points(from, nil)
		if points[0].At != from || len(points) > 1 && points[len(points)-1].Used != p.At(core.Forever-1) {
			t.Fatalf("seed %d: from %d: %v", seed, from, points)
		}
		for i, point := range points {
			if i > 0 && (point.At <= points[i-1].At || point.Used == points[i-1].Used) {
				t.Fatalf("seed %d: point %d does not differ: %v", seed, i, points)
			}
		}
		i := 0
		for at := from; at < span+40; at++ {
			for i+1 < len(points) && points[i+1].At <= at {
				i++
			}
			if points[i].Used != p.At(at) {
				t.Fatalf("seed %d: at %d %d are used, the points say %v", seed, at, p.At(at), points[i])
			}
		}
		if !p.Same(from, points) || p.Same(from, points[:len(points)-1]) && len(points) > 1 {
			t.Fatalf("seed %d: the points are not the same as themselves, or without the last one", seed)
		}
		other := slices.Clone(points)
		other[random.IntN(len(other))].Used++
		if p.Same(from, other) {
			t.Fatalf("seed %d: other points are the same", seed)
		}
		p.Clear(7)
		if p.Nodes() != 7 || !p.Same(0, []profile.Point{{}}) {
			t.Fatalf("seed %d: cleared, it has %d nodes, %v", seed, p.Nodes(), p.Points(0, nil))
		}
	}
}
