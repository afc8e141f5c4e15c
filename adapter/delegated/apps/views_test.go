package apps

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/profile"
	"accordion/shim/wire/launcher"
)

func drawPoints(t *rapid.T, now core.Time, label string) []profile.Point {
	points := []profile.Point{{At: now, Used: rapid.IntRange(0, 4).Draw(t, label)}}
	for at := now; len(points) < 8; {
		at += rapid.Int64Range(1, 5).Draw(t, "span")
		if rapid.IntRange(0, 5).Draw(t, "end") == 0 {
			break
		}
		points = append(points, profile.Point{At: at, Used: rapid.IntRange(0, 4).Draw(t, label)})
	}
	return points
}

func used(points []profile.Point, t core.Time) (n int) {
	for _, p := range points {
		if p.At <= t {
			n = p.Used
		}
	}
	return n
}

// If a difference is applied to the old occupation, the result is the new occupation. A difference is never longer than the whole
// occupation.
func TestOldOccupationWithDifferenceIsTheNewOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Int64Range(1_800_000_000, 1_800_000_020).Draw(t, "now")
		old := clip(drawPoints(t, now, "old"), 3, now)
		fresh := clip(drawPoints(t, now, "new"), 3, now)
		from, to, steps, differ := difference(old, fresh, now)
		if differ == slices.Equal(old, fresh) {
			t.Fatalf("differ is %v for %v and %v", differ, old, fresh)
		}
		if len(steps) > 2*len(fresh) || to != 0 && len(steps) > 2*len(fresh)-2 {
			t.Fatalf("%v is longer than the whole %v", steps, fresh)
		}
		_, _, whole, _ := difference(nil, fresh, now)
		if d, w := inFrame(t, from, to, steps), inFrame(t, now, 0, whole); differ && d > w {
			t.Fatalf("a difference of %d bytes is longer than the whole, of %d: %v on [%d, %d), %v", d, w, steps, from, to, whole)
		}
		var news []profile.Point
		for i := 0; i < len(steps); i += 2 {
			news = append(news, profile.Point{At: steps[i], Used: int(steps[i+1])})
		}
		for at := now; at < now+60; at++ {
			have := used(old, at)
			if differ && at >= from && (to == 0 || at < to) {
				have = used(news, at)
			}
			if have != used(fresh, at) {
				t.Fatalf("at %d %d and not %d: %v, then %v, by [%d, %d) %v", at, have, used(fresh, at), old, fresh, from, to, steps)
			}
		}
	})
}

// inFrame returns the number of bytes of a message with the given change.
func inFrame(t *rapid.T, from, to core.Time, steps []int64) int {
	frame, err := launcher.Append(nil, 1, &launcher.Change{All: []launcher.ClusterChange{{Kind: launcher.KindOccupation, From: from, To: to, Steps: steps}}})
	if err != nil {
		t.Fatal(err)
	}
	return len(frame)
}

func TestClip(t *testing.T) {
	got := clip([]profile.Point{{At: 0, Used: 1}, {At: 5, Used: 9}, {At: 9, Used: 4}, {At: 12, Used: 0}}, 4, 7)
	if want := []profile.Point{{At: 7, Used: 4}, {At: 12, Used: 0}}; !slices.Equal(got, want) {
		t.Errorf("%v, and not %v", got, want)
	}
}
