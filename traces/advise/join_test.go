package advise

import (
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/ep"

	"pgregory.net/rapid"
)

// stretches parses a profile as stretches from second 0.
func stretches(t *testing.T, text string) []stretch {
	t.Helper()
	requested, err := ep.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var all []stretch
	at := core.Time(0)
	for _, s := range requested {
		all = append(all, stretch{at, at + s.Duration, s.Nodes})
		at += s.Duration
	}
	return all
}

func TestShortStretchesAreJoinedUpwards(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"2x100s,6x100s,1x100s", "2x100s,6x100s,1x100s"},
		{"2x10s,6x100s,1x100s", "6x110s,1x100s"},
		{"2x100s,6x10s,1x200s", "6x110s,1x200s"},                  // a peak is joined where that adds less area
		{"2x200s,6x10s,1x100s", "2x200s,6x110s"},                  // here with the right neighbor
		{"6x100s,1x10s,6x100s", "6x210s"},                         // a dip is filled
		{"6x100s,1x10s,4x100s", "6x100s,4x110s"},                  // a dip is filled up to its lower side
		{"1x10s,2x10s,3x10s,4x10s", "2x20s,4x20s"},                // neighbors are joined first
		{"1x10s,2x5s", "2x15s"},                                   // a whole job may be shorter than a step
		{"1x100s,2x10s,3x9s,2x10s,1x100s", "1x100s,3x29s,1x100s"}, // several short stretches become one that is long enough
	} {
		if got := profile(joinShort(stretches(t, c.in), 20)).String(); got != c.want {
			t.Errorf("%s became %s, want %s", c.in, got, c.want)
		}
	}
}

func TestJoiningNeverRemovesNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in []stretch
		at := core.Time(0)
		for range rapid.IntRange(1, 30).Draw(t, "stretches") {
			to := at + rapid.Int64Range(1, 40).Draw(t, "length")
			in = lengthen(in, stretch{at, to, rapid.IntRange(1, 5).Draw(t, "nodes")})
			at = to
		}
		before := slices.Clone(in)
		shortest := rapid.Int64Range(1, 60).Draw(t, "shortest")
		for name, out := range map[string][]stretch{"joined": joinShort(in, shortest), "coarse": joinInOnePass(slices.Clone(in), shortest)} {
			was, is := profile(in), profile(out)
			for s := range at {
				if is.At(s) < was.At(s) {
					t.Fatalf("%s: %d nodes at %d, where %d were used: %s became %s", name, is.At(s), s, was.At(s), was, is)
				}
			}
			if is.Total() != was.Total() {
				t.Errorf("%s lasts %d s, want %d", name, is.Total(), was.Total())
			}
			for i := range out {
				if i > 0 && out[i].nodes == out[i-1].nodes {
					t.Errorf("%s: neighbours of the same size: %s", name, is)
				}
				if out[i].length() < shortest && len(out) > 1 && (name == "joined" || i < len(out)-1) {
					t.Errorf("%s: a step of %d s: %s", name, out[i].length(), is)
				}
			}
		}
		if !slices.Equal(in, before) {
			t.Error("it changed what it was given")
		}
	})
}
