package profile

import (
	"math"
	"testing"

	"accordion/core"
	"accordion/core/profile/list"
)

func TestTheBeginningOfTimeIsTheFirstInstantOfAll(t *testing.T) {
	small, large := New(5), New(5)
	for i := range core.Time(indexed) {
		large.Change(10*i, 10*i+5, 1)
	}
	for name, p := range map[string]*Profile{"list": small, "tree": large} {
		if isTree := p.tree != nil; isTree != (name == "tree") {
			t.Fatalf("the %s is none", name)
		}
		p.Change(-2*core.Forever, -7, 2)
		p.Add(-core.Forever-9, core.EP{{Duration: 8, Nodes: 3}, {Duration: 2, Nodes: 1}})
		for at, want := range map[core.Time]int{-3 * core.Forever: 3, -core.Forever: 3, 1 - core.Forever: 3, 2 - core.Forever: 2, -8: 2, -7: 0} {
			if got := p.At(at); got != want {
				t.Errorf("%s: %d used at %d, want %d", name, got, at, want)
			}
		}
		if got := p.Max(-4*core.Forever, -core.Forever); got != 3 {
			t.Errorf("%s: at most %d used before the beginning of time, want 3", name, got)
		}
		if got := p.FreeSince(4, math.MinInt64); got != math.MinInt64 {
			t.Errorf("%s: 4 free since %d", name, got)
		}
		for _, late := range []core.Time{core.Forever, list.EndOfTime, math.MaxInt64} {
			if got := p.At(late); got != 0 {
				t.Errorf("%s: %d used at %d", name, got, late)
			}
			if got, ok := p.FirstFit(5, core.Forever, late); got != late || !ok {
				t.Errorf("%s: all free from %d, want %d", name, got, late)
			}
			if got := p.Max(late-1, late); got != 0 {
				t.Errorf("%s: at most %d used before %d", name, got, late)
			}
			if _, ok := p.FirstBelow(5, late); ok {
				t.Errorf("%s: something used from %d on", name, late)
			}
			if got := p.FreeSince(5, late); got != 10*(indexed-1)+5 && got != -7 {
				t.Errorf("%s: free since %d before %d", name, got, late)
			}
		}
		p.Change(1e9, core.Forever, 1) // without end
		for _, late := range []core.Time{core.Forever, list.EndOfTime, math.MaxInt64} {
			if got, ok := p.FirstBelow(5, late); got != late || !ok {
				t.Errorf("%s: something used from %d on, want %d", name, got, late)
			}
		}
	}
}

func TestAProfileOfSeveralStepsBeginsWithTheBeginningOfTime(t *testing.T) {
	p := New(5)
	p.Add(-core.Forever, core.EP{{Duration: 10, Nodes: 1}, {Duration: 5, Nodes: 2}})
	if err := p.check(); err != nil {
		t.Error(err)
	}
	for at, want := range map[core.Time]int{-core.Forever: 1, 10 - core.Forever: 2, 15 - core.Forever: 0} {
		if got := p.At(at); got != want {
			t.Errorf("%d used at %d, want %d", got, at, want)
		}
	}
}
