package ep_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"

	"pgregory.net/rapid"
)

// This test compares Fit, Compact and LeastWaste with an exhaustive search in whole seconds, for any machine,
// profile and limit. The search finds no schedule that completes earlier than the schedule of Fit. Among the
// schedules with the same completion, none starts later than the schedule of Compact, and none wastes less than
// the schedule of LeastWaste.
func TestNoScheduleOfAllCompletesEarlierOrStartsLaterOrWastesLess(t *testing.T) {
	check(t, 3000, func(t *rapid.T) {
		p := busy(4).Draw(t, "machine")
		requested := profiles(4, 4, 5).Draw(t, "ep")
		begin := rapid.Int64Range(0, 5).Draw(t, "begin")
		for _, limit := range everyLimit {
			start, fitted, ok := new(ep.Fitter).Fit(requested, p, limit, begin)
			want, wanted := everyPlace(requested, p, limit, begin, 60)
			if ok != wanted {
				t.Fatalf("limit %v fits: %t, want %t", limit, ok, wanted)
			}
			if !ok {
				continue
			}
			checkPlace(t, requested, p, limit, begin, start, fitted)
			if end := start + fitted.Total(); end != want.completion {
				t.Fatalf("limit %v completes at %d, the earliest is %d", limit, end, want.completion)
			}
			late, compacted := new(ep.Fitter).Compact(requested, p, limit, start, fitted)
			checkPlace(t, requested, p, limit, begin, late, compacted)
			if end := late + compacted.Total(); end != want.completion || late != want.latest {
				t.Fatalf("limit %v compacted: [%d, %d), want the latest start: [%d, %d)", limit, late, end, want.latest, want.completion)
			}
			at, least := new(ep.Fitter).LeastWaste(requested, p, limit, start, fitted)
			checkPlace(t, requested, p, limit, begin, at, least)
			if got := least.Area() - requested.Area(); got != want.waste || !slices.Equal(starts(at, least), want.starts) {
				t.Fatalf("limit %v, least waste: %d, starts %v; want %d, %v", limit, got, starts(at, least), want.waste, want.starts)
			}
		}
	})
}

// starts returns the seconds at which the steps of a scheduled profile start.
func starts(start core.Time, scheduled core.EP) []core.Time {
	var all []core.Time
	for _, s := range scheduled {
		all = append(all, start)
		start += s.Duration
	}
	return all
}

// This test has longer steps, more of them and more holes than an exhaustive search can handle.
func TestTheLeastWasteIsThatOfEverySecondTried(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 4))
	wasteful, better := 0, 0
	for n := range 2000 * long() {
		p := profile.New(20)
		for range 10 + random.IntN(40) {
			p.Add(random.Int64N(300), core.EP{{Duration: 1 + random.Int64N(6), Nodes: 6 + random.IntN(12)}})
		}
		requested := make(core.EP, 4+random.IntN(8))
		for i := range requested {
			requested[i] = core.Step{Duration: 1 + random.Int64N(15), Nodes: 1 + random.IntN(16)}
		}
		limit := []ep.Limit{1_130_000, ep.Twice, 3_141_592, 8_000_000, ep.Unlimited}[n%5]
		start, fitted, ok := new(ep.Fitter).Fit(requested, p, limit, 0)
		if !ok {
			t.Fatalf("%v does not fit an idle machine", requested)
		}
		_, compacted := new(ep.Fitter).Compact(requested, p, limit, start, fitted)
		at, least := new(ep.Fitter).LeastWaste(requested, p, limit, start, fitted)
		want, wantStarts := leastSecondBySecond(requested, p, limit, 0, start+fitted.Total())
		if got := least.Area() - requested.Area(); got != want || !slices.Equal(starts(at, least), wantStarts) {
			t.Fatalf("test %d, limit %v: %v on %v\n got %d, %v\nwant %d, %v", n, limit, requested, p.Steps(0), got, starts(at, least), want, wantStarts)
		}
		if want > 0 {
			wasteful++
		}
		if least.Area() < compacted.Area() {
			better++
		}
	}
	if wasteful < 100 || better < 20 {
		t.Errorf("only %d schedules wasted anything, and %d less than compacted: the cases are too easy", wasteful, better)
	}
}
