package ep_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// everyLimit includes fractional limits that affect the durations of small cases: 1.333333 × 3 is 3 seconds, and
// 1.333334 × 3 is 4.
var everyLimit = []ep.Limit{0, ep.NoExpansion, 1_130_000, 1_250_000, 1_333_333, 1_333_334, 1_500_000, 1_750_000, ep.Twice, 2_500_000,
	3_000_000, ep.Unlimited}

var limits = rapid.SampledFrom(everyLimit)

// busy draws a machine that is partly occupied until about second 20.
func busy(nodes int) *rapid.Generator[*profile.Profile] {
	return rapid.Custom(func(t *rapid.T) *profile.Profile {
		p := profile.New(nodes)
		for range rapid.IntRange(0, 6).Draw(t, "allocations") {
			p.Add(rapid.Int64Range(0, 14).Draw(t, "start"), core.EP{{
				Duration: rapid.Int64Range(1, 6).Draw(t, "duration"), Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes")}})
		}
		return p
	})
}

// checkPlace checks the paper's conditions for a scheduled profile. C1: it is the requested profile, delayed or expanded
// within the limit. C2: the machine has enough free nodes.
func checkPlace(t *rapid.T, requested core.EP, p *profile.Profile, limit ep.Limit, begin, start core.Time, scheduled core.EP) {
	t.Helper()
	if start < begin || len(scheduled) != len(requested) {
		t.Fatalf("start %d, begin %d, %v scheduled as %v", start, begin, requested, scheduled)
	}
	for i, s := range scheduled {
		longest := limit.Longest(requested[i].Duration)
		if i == 0 || i == len(requested)-1 {
			longest = requested[i].Duration
		}
		if s.Nodes != requested[i].Nodes || s.Duration < requested[i].Duration || s.Duration > longest {
			t.Fatalf("C1: step %d is %v, requested %v, limit %v", i, s, requested[i], limit)
		}
	}
	sum := p.Clone()
	sum.Add(start, scheduled)
	for at := start; at < start+scheduled.Total(); at++ {
		if sum.At(at) > p.Nodes() {
			t.Fatalf("C2: %d nodes used at %d", sum.At(at), at)
		}
	}
}

func TestFitIsThePrintedAlgorithmStepByStep(t *testing.T) {
	const tests, horizon = 4000, 100_000
	random := rand.New(rand.NewPCG(3, 5))
	for n := range tests {
		p := profile.New(20)
		for range random.IntN(30) {
			nodes, length := 1+random.IntN(12), 1+random.Int64N(100)
			start, _ := p.FirstFit(nodes, length, random.Int64N(300))
			p.Add(start, core.EP{{Duration: length, Nodes: nodes}})
		}
		requested := make(core.EP, 1+random.IntN(6))
		for i := range requested {
			requested[i] = core.Step{Duration: 1 + random.Int64N(60), Nodes: 1 + random.IntN(20)}
		}
		limit := []ep.Limit{ep.NoExpansion, 1_130_000, ep.Twice, 5_000_000, ep.Unlimited}[n%5]
		start, got, ok := new(ep.Fitter).Fit(requested, p, limit, 0)
		want, wantEP := printed{ep: requested, p: p, limit: limit, horizon: horizon}.fit(0, 0)
		if !ok || start != want || !cmp.Equal(got, wantEP) {
			t.Fatalf("test %d, limit %v: %v on %v\n got %d %v %t\nwant %d %v", n, limit, requested, p.Steps(0), start, got, ok, want, wantEP)
		}
	}
}

func TestPruningChangesNoStart(t *testing.T) {
	jobs, number := 3000, 60
	if *longFlag {
		jobs, number = 100_000, 1000
	}
	machine := pack(jobs)
	for _, size := range sizes {
		for i, requested := range applications(number, 10, 10, size.draw) {
			for _, limit := range []ep.Limit{ep.NoExpansion, 1_130_000, ep.Twice, ep.Unlimited} {
				start, scheduled, ok := new(ep.Fitter).Fit(requested, machine, limit, 0)
				want, wanted := plain(requested, machine, limit, 0)
				if ok != wanted || !slices.Equal(starts(start, scheduled), want) {
					t.Fatalf("%s, profile %d, limit %v: %v, %t; want %v, %t", size.name, i, limit, starts(start, scheduled), ok, want, wanted)
				}
			}
		}
	}
}

func TestAHeldFirstStepIsKeptUntilTheSecondOnesNodesAreThere(t *testing.T) {
	p := profile.New(4)
	p.Add(0, core.EP{{Duration: 50, Nodes: 2}})
	requested := core.EP{{Duration: 5, Nodes: 2}, {Duration: 5, Nodes: 3}, {Duration: 5, Nodes: 1}}
	var f ep.Fitter
	got, ok := f.Resume(requested, p, ep.NoExpansion, 10)
	if want := (core.EP{{Duration: 40, Nodes: 2}, {Duration: 5, Nodes: 3}, {Duration: 5, Nodes: 1}}); !ok || !cmp.Equal(got, want) {
		t.Errorf("Resume = %v, %t; want %v", got, ok, want)
	}
	p.Add(30, core.EP{{Duration: 1, Nodes: 1}})
	if got, ok := f.Resume(requested, p, ep.Unlimited, 10); ok {
		t.Errorf("held across an instant at which its nodes are not free: %v", got)
	}
}

func TestResumeGivesTheEarliestCompletionOfAHeldStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := busy(4).Draw(t, "machine")
		requested := profiles(3, 4, 4).Draw(t, "ep")
		now := rapid.Int64Range(0, 10).Draw(t, "now")
		limit := limits.Draw(t, "limit")
		var f ep.Fitter
		got, ok := f.Resume(requested, p, limit, now)
		// The simple method tries every length of the first step, and places the other steps directly behind it.
		best := core.Forever
		for length := requested[0].Duration; length < 60; length++ {
			if p.Nodes()-p.Max(now, now+length) < requested[0].Nodes {
				break
			}
			if len(requested) == 1 {
				best = min(best, now+requested[0].Duration)
				break
			}
			if end, ok := placedExactly(requested[1:], p, limit, now+length); ok {
				best = min(best, end)
			}
		}
		if ok != (best < core.Forever) || ok && now+got.Total() != best {
			t.Fatalf("Resume = %v, %t; the earliest completion is %d", got, ok, best)
		}
	})
}

// placedExactly returns the earliest completion of steps that start at the given time. The first of these steps may be
// expanded too.
func placedExactly(requested core.EP, p *profile.Profile, limit ep.Limit, start core.Time) (end core.Time, ok bool) {
	longest := limit.Longest(requested[0].Duration)
	if len(requested) == 1 {
		longest = requested[0].Duration
	}
	for length := requested[0].Duration; length <= min(longest, 60); length++ {
		if p.Nodes()-p.Max(start, start+length) < requested[0].Nodes {
			break
		}
		if len(requested) == 1 {
			return start + length, true
		}
		if candidate, found := placedExactly(requested[1:], p, limit, start+length); found && (!ok || candidate < end) {
			end, ok = candidate, true
		}
	}
	return end, ok
}

func TestWhatCanNeverFitIsRefused(t *testing.T) {
	full := profile.New(4)
	full.Add(0, core.EP{{Duration: core.Forever, Nodes: 3}})
	for name, requested := range map[string]core.EP{
		"more than the machine":  {{Duration: 1, Nodes: 1}, {Duration: 1, Nodes: 5}},
		"more than is ever free": {{Duration: 1, Nodes: 1}, {Duration: 1, Nodes: 2}},
		"no duration":            {{Duration: 0, Nodes: 1}},
		"negative":               {{Duration: 1, Nodes: -1}},
	} {
		if start, got, ok := new(ep.Fitter).Fit(requested, full, ep.Unlimited, 0); ok {
			t.Errorf("%s: placed at %d as %v", name, start, got)
		}
	}
	if start, got, ok := new(ep.Fitter).Fit(nil, full, ep.Twice, 7); !ok || start != 7 || got != nil {
		t.Errorf("nothing: %d, %v, %t; want 7", start, got, ok)
	}
	forever := core.EP{{Duration: core.Forever, Nodes: 1}}
	if start, got, ok := new(ep.Fitter).Fit(forever, full, ep.Twice, 7); !ok || start != 7 || !cmp.Equal(got, forever) {
		t.Errorf("a need without end beside another: %d, %v, %t; want 7", start, got, ok)
	}
}

func TestNothingBeginsAfterTheEndOfTime(t *testing.T) {
	for _, requested := range []core.EP{
		{{Duration: core.Forever, Nodes: 1}, {Duration: 1, Nodes: 2}},
		{{Duration: core.Forever, Nodes: 1}, {Duration: core.Forever, Nodes: 1}, {Duration: core.Forever, Nodes: 2}},
	} {
		for _, limit := range []ep.Limit{ep.NoExpansion, ep.Twice, ep.Unlimited} {
			if start, got, ok := new(ep.Fitter).Fit(requested, profile.New(4), limit, 7); ok {
				t.Errorf("limit %v: %v is placed at %d as %v", limit, requested, start, got)
			}
		}
	}
	if start, _, ok := new(ep.Fitter).Fit(core.EP{{Duration: 1, Nodes: 1}}, profile.New(4), ep.Twice, core.Forever); ok {
		t.Errorf("not before the end of time: placed at %d", start)
	}
}

func TestAFitterLeavesNoTraceOfEarlierFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f ep.Fitter
		for range 4 {
			p, limit, requested := busy(4).Draw(t, "machine"), limits.Draw(t, "limit"), profiles(5, 4, 5).Draw(t, "ep")
			start, got, ok := f.Fit(requested, p, limit, 0)
			start2, want, ok2 := new(ep.Fitter).Fit(requested, p, limit, 0)
			if start != start2 || ok != ok2 || !cmp.Equal(got, want) {
				t.Fatalf("used: %d %v %t; fresh: %d %v %t", start, got, ok, start2, want, ok2)
			}
		}
	})
}

func TestThePlacesOfOneProfileInPlainCharacters(t *testing.T) {
	p := profile.New(5)
	p.Add(0, core.EP{{Duration: 5, Nodes: 2}, {Duration: 5, Nodes: 4}, {Duration: 5, Nodes: 0}, {Duration: 3, Nodes: 3}})
	requested := core.EP{{Duration: 2, Nodes: 3}, {Duration: 2, Nodes: 1}, {Duration: 2, Nodes: 4}}
	var b strings.Builder
	for _, limit := range []ep.Limit{ep.NoExpansion, ep.Twice, ep.Unlimited} {
		start, got, _ := new(ep.Fitter).Fit(requested, p, limit, 0)
		fmt.Fprintf(&b, "limit %v\n%s", limit, draw(p, start, got, 24))
		start, got = new(ep.Fitter).Compact(requested, p, limit, start, got)
		fmt.Fprintf(&b, "limit %v, compacted\n%s", limit, draw(p, start, got, 24))
	}
	if diff := cmp.Diff(places, b.String()); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

// draw draws a machine and what is placed on it, with a column for each second and a row for each node. A # is
// a busy node, and a digit is a step of the scheduled profile.
func draw(p *profile.Profile, start core.Time, ep core.EP, length core.Time) string {
	var b strings.Builder
	for row := p.Nodes(); row > 0; row-- {
		for t := core.Time(0); t < length; t++ {
			cell := byte('.')
			if p.At(t) >= row {
				cell = '#'
			} else if p.At(t)+ep.At(t-start) >= row {
				cell = '1'
				for rest := t - start; rest >= ep[cell-'1'].Duration; cell++ {
					rest -= ep[cell-'1'].Duration
				}
			}
			b.WriteByte(cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// loaded returns the profile of a machine of 1,000 nodes on which 2,500 jobs are planned.
func loaded() *profile.Profile {
	p, random := profile.New(1000), rand.New(rand.NewPCG(7, 9))
	for range 2500 {
		n, d := 1+random.IntN(128), 60+random.Int64N(86400)
		start, _ := p.FirstFit(n, d, 0)
		p.Add(start, core.EP{{Duration: d, Nodes: n}})
	}
	return p
}

// On the project's machine under load a fit takes 5 µs for 5 steps and 0.1 ms for 1,024 steps. The worst known case has steps
// that are hard to fit between thousands of spikes: it takes 60 ms without expansion and 5 ms with expansion.
func BenchmarkFit(b *testing.B) {
	p := loaded()
	for _, steps := range []int{1, 5, 32, 1024} {
		random := rand.New(rand.NewPCG(1, 2))
		ep := make(core.EP, steps)
		for i := range ep {
			ep[i] = core.Step{Duration: 10 + random.Int64N(1000), Nodes: 1 + random.IntN(300)}
		}
		benchmarkFit(b, fmt.Sprintf("steps=%d", steps), ep, p)
	}
	// Short steps that are hard to fit: one node, then most of the machine, and so on.
	ragged := make(core.EP, core.MaxSteps)
	for i := range ragged {
		ragged[i] = core.Step{Duration: 1 + int64(i%7), Nodes: 1 + i%2*(i*13%400)}
	}
	benchmarkFit(b, "ragged", ragged, p)
	spikes := profile.New(1000)
	for i := range core.Time(2500) {
		spikes.Add(i*97, core.EP{{Duration: 1 + i%5, Nodes: 700}})
	}
	benchmarkFit(b, "ragged on spikes", ragged, spikes)
}

func benchmarkFit(b *testing.B, name string, requested core.EP, p *profile.Profile) {
	for _, limit := range []ep.Limit{ep.NoExpansion, ep.Twice, ep.Unlimited} {
		b.Run(fmt.Sprintf("%s/limit=%v", name, limit), func(b *testing.B) {
			var f ep.Fitter
			b.ReportAllocs()
			for b.Loop() {
				if _, _, ok := f.Fit(requested, p, limit, 0); !ok {
					b.Fatal("does not fit")
				}
			}
		})
	}
}
