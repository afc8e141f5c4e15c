package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/profile"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// horizon is the length of the simple implementation: an array of used nodes with one entry for each second.
// Before and after these seconds the machine is idle.
const horizon = 60

// seconds is the simple implementation with which the real profile is compared.
type seconds struct {
	nodes int
	used  [horizon]int
}

func (s *seconds) add(start core.Time, ep core.EP, sign int) {
	for _, step := range ep {
		for t := start; t < start+step.Duration; t++ {
			if 0 <= t && t < horizon {
				s.used[t] += sign * step.Nodes
			}
		}
		start += step.Duration
	}
}

func (s *seconds) at(t core.Time) int {
	if t < 0 || t >= horizon {
		return 0
	}
	return s.used[t]
}

// fits checks every second until the horizon. After it the machine is idle.
func (s *seconds) fits(n int, d, from core.Time) bool {
	if n > s.nodes {
		return false
	}
	for t := from; t < min(from+d, horizon); t++ {
		if max(0, s.nodes-s.at(t)) < n {
			return false
		}
	}
	return true
}

func (s *seconds) max(from, to core.Time) (peak int) {
	for t := from; t < to; t++ {
		if t == from || s.at(t) > peak {
			peak = s.at(t)
		}
	}
	return peak
}

// load draws a few allocations between second 0 and the horizon.
func load(t *rapid.T) []core.Allocation {
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Step {
		return core.Step{Duration: rapid.Int64Range(1, 6).Draw(t, "duration"), Nodes: rapid.IntRange(0, 3).Draw(t, "nodes")}
	}), 1, 4)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Allocation {
		return core.Allocation{Start: rapid.Int64Range(0, 35).Draw(t, "start"), EP: steps.Draw(t, "ep")}
	}), 0, 6).Draw(t, "load")
}

func both(nodes int, load []core.Allocation) (*profile.Profile, *seconds) {
	p, s := profile.New(nodes), &seconds{nodes: nodes}
	for _, a := range load {
		p.Add(a.Start, a.EP)
		s.add(a.Start, a.EP, 1)
	}
	return p, s
}

func TestEveryAnswerIsThatOfAnArrayOfSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allocations := load(t)
		p, s := both(8, allocations)
		for i, a := range allocations { // remove some of them
			if rapid.Bool().Draw(t, fmt.Sprint("remove ", i)) {
				p.Remove(a.Start, a.EP)
				s.add(a.Start, a.EP, -1)
			}
		}
		n := rapid.IntRange(0, 9).Draw(t, "n")
		d := rapid.Int64Range(1, 12).Draw(t, "d")
		from := rapid.Int64Range(-3, horizon+3).Draw(t, "from")
		to := rapid.Int64Range(-3, horizon+3).Draw(t, "to")

		if got := p.At(from); got != s.at(from) {
			t.Fatalf("At(%d) = %d, want %d", from, got, s.at(from))
		}
		if got, want := p.Free(from), max(0, 8-s.at(from)); got != want {
			t.Fatalf("Free(%d) = %d, want %d", from, got, want)
		}
		peak := s.max(from, to)
		if got := p.Max(from, to); got != peak {
			t.Fatalf("Max(%d, %d) = %d, want %d", from, to, got, peak)
		}
		checkSearches(t, p, s, n, d, from)
	})
}

func checkSearches(t *rapid.T, p *profile.Profile, s *seconds, n int, d, from core.Time) {
	want, found := from, true
	for ; !s.fits(n, d, want); want++ {
		if found = want < 2*horizon; !found {
			break
		}
	}
	start, ok := p.FirstFit(n, d, from)
	if ok != found || ok && start != want {
		t.Fatalf("FirstFit(%d, %d, %d) = %d, %t; want %d, %t", n, d, from, start, ok, want, found)
	}
	below, isBelow := p.FirstBelow(n, from)
	want, found = from, false
	for ; want < 2*horizon && !found; want++ {
		found = !s.fits(n, 1, want)
	}
	if isBelow != found || found && below != want-1 {
		t.Fatalf("FirstBelow(%d, %d) = %d, %t; want %d, %t", n, from, below, isBelow, want-1, found)
	}
	want = from
	for s.fits(n, 1, want-1) && want > -horizon {
		want--
	}
	if got := p.FreeSince(n, from); got != want && !(want == -horizon && got == -core.Forever) {
		t.Fatalf("FreeSince(%d, %d) = %d, want %d", n, from, got, want)
	}
	if begin, end, ok2 := p.Hole(n, d, from); ok2 != ok || begin != start {
		t.Fatalf("Hole(%d, %d, %d) begins at %d, %t; FirstFit at %d, %t", n, d, from, begin, ok2, start, ok)
	} else if ok {
		if want, _ := p.FirstBelow(n, start); end != want {
			t.Fatalf("Hole(%d, %d, %d) ends at %d, want %d", n, d, from, end, want)
		}
	}
}

func TestWhatWasAddedCanBeTakenBackWithoutATrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := load(t), load(t)
		p, _ := both(8, first)
		before := p.Steps(-5)
		kept := p.Clone()
		for _, a := range second {
			p.Add(a.Start, a.EP)
		}
		for _, a := range second {
			p.Remove(a.Start, a.EP)
		}
		if diff := cmp.Diff(before, p.Steps(-5)); diff != "" {
			t.Fatalf("not as before (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(before, kept.Steps(-5)); diff != "" {
			t.Fatalf("the clone changed:\n%s", diff)
		}
	})
}

func TestAMirrorIsTheOccupationWithTimeTurnedRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, _ := both(8, load(t))
		from := rapid.Int64Range(0, 20).Draw(t, "from")
		to := rapid.Int64Range(0, 40).Draw(t, "to")
		var mirror, copied profile.Profile
		mirror.MirrorOf(a, from, to)
		copied.CopyFrom(a)
		for s := core.Time(-20); s < horizon+20; s++ {
			want := 0
			if from <= s && s < to {
				want = a.At(s)
			}
			if got := mirror.At(-s - 1); got != want {
				t.Fatalf("mirror of [%d, %d) at %d is %d, want %d", from, to, -s-1, got, want)
			}
			if copied.At(s) != a.At(s) {
				t.Fatalf("the copy differs at %d", s)
			}
		}
	})
}

func TestStepsAreTheWholeOccupationWithoutRedundantPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, s := both(8, load(t))
		ep := p.Steps(0)
		for i := range ep {
			if i > 0 && ep[i].Nodes == ep[i-1].Nodes || ep[i].Duration <= 0 {
				t.Fatalf("step %d of %v says nothing", i, ep)
			}
		}
		for at := core.Time(0); at < horizon; at++ {
			if ep.At(at) != s.at(at) {
				t.Fatalf("%v at %d is %d, want %d", ep, at, ep.At(at), s.at(at))
			}
		}
	})
}

func TestAnOccupationWithoutEndIsNeverGivenBack(t *testing.T) {
	p := profile.New(4)
	p.Add(10, core.EP{{Duration: core.Forever, Nodes: 3}})
	if start, ok := p.FirstFit(2, 5, 0); !ok || start != 0 {
		t.Errorf("before it: %d, %t; want 0", start, ok)
	}
	if start, ok := p.FirstFit(2, 11, 0); ok {
		t.Errorf("a need that reaches into it was placed at %d", start)
	}
	if start, ok := p.FirstFit(1, core.Forever, 3); !ok || start != 3 {
		t.Errorf("beside it, without end: %d, %t; want 3", start, ok)
	}
	if got := p.Steps(0); got[len(got)-1].Nodes != 3 {
		t.Errorf("Steps = %v: the last step must be that of 3 nodes", got)
	}
	p.Remove(10, core.EP{{Duration: core.Forever, Nodes: 3}})
	if got := p.Steps(-core.Forever); got != nil {
		t.Errorf("after its removal the machine is not idle: %v", got)
	}
}

func TestOvercommitmentLeavesNothingFreeAndDoesNoHarm(t *testing.T) {
	p := profile.New(2)
	p.Add(0, core.EP{{Duration: 10, Nodes: 4}})
	if got := p.Free(5); got != 0 {
		t.Errorf("Free = %d, want 0", got)
	}
	if start, ok := p.FirstFit(2, 1, 0); !ok || start != 10 {
		t.Errorf("FirstFit = %d, %t; want 10", start, ok)
	}
	if _, ok := p.FirstFit(3, 1, 0); ok {
		t.Error("more than the machine was placed")
	}
	if start, ok := p.FirstFit(0, 5, 3); !ok || start != 3 {
		t.Errorf("nothing, wanted at 3, was placed at %d, %t", start, ok)
	}
}

func TestTheProfileOfTheExampleInPlainCharacters(t *testing.T) {
	p := profile.New(6)
	p.Add(2, core.EP{{Duration: 4, Nodes: 2}, {Duration: 6, Nodes: 4}})
	p.Add(0, core.EP{{Duration: 8, Nodes: 1}})
	start, _ := p.FirstFit(4, 5, 0)
	p.Add(start, core.EP{{Duration: 5, Nodes: 4}})
	// The new job needs 4 nodes. It fits only after the step of 4 nodes ends at second 12.
	if got := draw(p, 14); start != 12 || got != picture {
		t.Errorf("placed at %d\n%s\nwant at 12\n%s", start, got, picture)
	}
}

// picture is 14 seconds of the example, a column for each second, a row for each node.
const picture = `..............
......##......
......########
..############
..############
##############
`

func draw(p *profile.Profile, length core.Time) string {
	var b strings.Builder
	for row := p.Nodes(); row > 0; row-- {
		for t := core.Time(0); t < length; t++ {
			if p.At(t) >= row {
				b.WriteByte('#')
			} else {
				b.WriteByte('.')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// One planning cycle: 2,500 jobs are placed one after the other in queue order. It takes 4 to 5 ms of processor time
// on the project's machine (bound 15 ms).
func BenchmarkCycleOf2500Jobs(b *testing.B) {
	p := profile.New(1000)
	ep := core.EP{{}}
	b.ReportAllocs()
	for b.Loop() {
		p.CopyFrom(profile.New(1000))
		random := uint32(1)
		for range 2500 {
			random = random*1664525 + 1013904223
			n, d := 1+int(random>>16)%64, core.Time(60+random%86400)
			start, _ := p.FirstFit(n, d, 0)
			ep[0] = core.Step{Duration: d, Nodes: n}
			p.Add(start, ep)
		}
	}
}
