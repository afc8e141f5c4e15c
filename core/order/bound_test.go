package order_test

import (
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/order"
	"accordion/core/profile"

	"pgregory.net/rapid"
)

func TestTheBoundOfAHostileProblemIsFoundInReasonableWork(t *testing.T) {
	var busy core.EP
	for i := range 20_000 {
		busy = append(busy, core.Step{Duration: 1 + core.Time(i%7), Nodes: 990 + i%10})
	}
	machine := profile.New(1000)
	machine.Add(0, busy)
	eps := make([]core.EP, 8)
	for i := range eps {
		for j := range core.MaxSteps {
			eps[i] = append(eps[i], core.Step{Duration: core.MaxTotal / core.MaxSteps, Nodes: 1 + (i*core.MaxSteps+j)%1000})
		}
	}
	area := int64(0)
	for _, requested := range eps {
		area += requested.Area()
	}
	if bound := order.LowerBound(machine, eps, ep.Algorithm{Limit: ep.NoExpansion}); bound < area/1000 {
		t.Errorf("bound %d, below the area %d on 1000 nodes", bound, area)
	}
}

// limits are the expansion limits of random cases. 1.5 only affects even durations.
var limits = []ep.Limit{ep.NoExpansion, ep.NoExpansion * 3 / 2, ep.Twice, ep.Unlimited}

// problem is a small random problem.
type problem struct {
	nodes int
	busy  core.EP
	eps   []core.EP
	limit ep.Limit
}

func (p problem) profile() *profile.Profile {
	machine := profile.New(p.nodes)
	machine.Add(0, p.busy)
	return machine
}

// problems draws problems that everySchedule can solve.
func problems() *rapid.Generator[problem] {
	return rapid.Custom(func(t *rapid.T) problem {
		p := problem{nodes: rapid.IntRange(1, 7).Draw(t, "nodes"), limit: rapid.SampledFrom(limits).Draw(t, "limit")}
		for range rapid.IntRange(0, 2).Draw(t, "busy") {
			p.busy = append(p.busy, core.Step{Duration: rapid.Int64Range(1, 3).Draw(t, "duration"), Nodes: rapid.IntRange(0, p.nodes).Draw(t, "nodes")})
		}
		steps := rapid.IntRange(1, 5).Draw(t, "steps in all")
		for steps > 0 {
			var ep core.EP
			for range rapid.IntRange(1, min(3, steps)).Draw(t, "steps") {
				steps--
				ep = append(ep, core.Step{Duration: rapid.Int64Range(1, 3).Draw(t, "duration"), Nodes: rapid.IntRange(1, p.nodes).Draw(t, "nodes")})
			}
			p.eps = append(p.eps, ep)
		}
		return p
	})
}

func TestNoScheduleEndsBeforeTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems().Draw(t, "problem")
		a := ep.Algorithm{Limit: p.limit, Rigid: rapid.Bool().Draw(t, "rigid")}
		bound := order.LowerBound(p.profile(), p.eps, a)
		if a.Rigid {
			for i, requested := range p.eps {
				p.eps[i] = core.EP{{Duration: requested.Total(), Nodes: requested.Peak()}}
			}
		}
		used := make([]int, bound)
		for at := range used {
			used[at] = p.profile().At(core.Time(at))
		}
		if end := everySchedule(p.nodes, used, p.eps, p.limit, bound); end < bound {
			t.Fatalf("bound %d, but a schedule ends at %d", bound, end)
		}
	})
}

func TestTheBoundIsNeverBelowTheAreaAndTheLongestApplication(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems().Draw(t, "problem")
		bound := order.LowerBound(p.profile(), p.eps, ep.Algorithm{Limit: p.limit})
		area, longest := int64(0), core.Time(0)
		for _, requested := range p.eps {
			area += requested.Area()
			longest = max(longest, requested.Total())
		}
		if bound < longest || bound*int64(p.nodes) < area {
			t.Fatalf("bound %d; area %d on %d nodes, longest %d", bound, area, p.nodes, longest)
		}
	})
}

func TestTheBoundSeesWhatTheAreaDoesNot(t *testing.T) {
	one := func(nodes int, d core.Time) core.EP { return core.EP{{Duration: d, Nodes: nodes}} }
	for _, test := range []struct {
		name  string
		nodes int
		busy  core.EP
		eps   []core.EP
		want  core.Time
	}{
		{"nothing", 9, nil, nil, 0},
		{"more than half the nodes exclude each other", 100, nil, []core.EP{one(51, 10), one(60, 20), one(55, 5)}, 35},
		{"at most two of more than a third", 100, nil, []core.EP{one(34, 10), one(34, 10), one(34, 10), one(34, 10)}, 20},
		{"three of them need two turns, or half", 100, nil, []core.EP{one(34, 10), one(34, 10), one(34, 10)}, 15},
		{"tenths of the machine", 100, nil, []core.EP{one(90, 10), one(11, 10), one(11, 10)}, 13},
		{"large and half", 10, nil, []core.EP{one(6, 10), one(5, 10), one(5, 10)}, 20},
		{"busy nodes are large too", 100, one(60, 7), []core.EP{one(51, 10), one(51, 10)}, 27},
		{"steps of one application count", 10, nil, []core.EP{{{Duration: 5, Nodes: 6}, {Duration: 5, Nodes: 1}}, {{Duration: 4, Nodes: 1}, {Duration: 5, Nodes: 6}}, one(6, 5)}, 15},
		{"between a thin begin and a thin end", 10, nil,
			[]core.EP{{{Duration: 5, Nodes: 1}, {Duration: 5, Nodes: 6}, {Duration: 3, Nodes: 1}}, {{Duration: 5, Nodes: 1}, {Duration: 5, Nodes: 6}, {Duration: 3, Nodes: 1}}}, 18},
	} {
		machine := profile.New(test.nodes)
		machine.Add(0, test.busy)
		if got := order.LowerBound(machine, test.eps, ep.Algorithm{Limit: ep.Unlimited}); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
