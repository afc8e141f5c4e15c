package ep_test

import (
	"testing"

	"accordion/core"
	"accordion/core/ep"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFitBeforeEqualsFitWithoutThePresentPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, requested := busy(4).Draw(t, "machine"), profiles(5, 4, 4).Draw(t, "ep")
		limit, begin := limits.Draw(t, "limit"), rapid.Int64Range(-2, 12).Draw(t, "not before")
		// The profile got its place when another job was still on the machine, or it has no place yet.
		other := core.Allocation{Start: rapid.Int64Range(0, 14).Draw(t, "else"), EP: profiles(5, 4, 4).Draw(t, "else")}
		p.Add(other.Start, other.EP)
		var f ep.Fitter
		start, scheduled, ok := f.Fit(requested, p, limit, rapid.Int64Range(0, 9).Draw(t, "then"))
		if !ok || rapid.IntRange(0, 9).Draw(t, "none") == 9 {
			start, scheduled = 0, nil
		}
		p.Remove(other.Start, other.EP)

		wantStart, want, ok := f.Fit(requested, p, limit, begin)
		before := wantStart + want.Total() + rapid.Int64Range(-2, 3).Draw(t, "before")
		ok = ok && wantStart+want.Total() < before
		p.Add(start, scheduled)
		gotStart, got, found := f.FitBefore(requested, p.Without(start, scheduled), limit, begin, before)
		if found != ok || ok && (gotStart != wantStart || !cmp.Equal(got, want)) {
			t.Fatalf("%v, limit %v, in [%d, %d), so far at %d as %v of %v: got %d %v %t, want %d %v %t",
				requested, limit, begin, before, start, scheduled, p.Steps(0), gotStart, got, found, wantStart, want, ok)
		}
	})
}
