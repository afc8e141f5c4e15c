// Package schedtest is a second implementation of core/sched's arithmetic for tests, on an array of seconds: slow,
// short and easy to verify. Tests compare policies and promises with it. Production code does not use it.
//
//	seconds := schedtest.NewSeconds(8, running...)
//	start, scheduled, ok := seconds.Fit(ep, ep.Twice, now, false, false)
package schedtest

import (
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/ep"
)

// Horizon is the length of the array, in seconds. All cases end before it.
const Horizon = 250

// Seconds is a machine as an array of used nodes, with one entry for each second. Every start of every step is tried.
type Seconds struct {
	nodes int
	Used  [Horizon]int
}

// NewSeconds returns a machine with some allocations. Together the allocations may exceed the machine.
func NewSeconds(nodes int, all ...core.Allocation) *Seconds {
	d := &Seconds{nodes: nodes}
	for _, a := range all {
		d.Add(a)
	}
	return d
}

// Add adds an allocation.
func (d *Seconds) Add(a core.Allocation) {
	for t := range core.Time(Horizon) {
		d.Used[t] += a.EP.At(t - a.Start)
	}
}

// Free reports whether n nodes are free in [from, to). Behind the Horizon none are.
func (d *Seconds) Free(n int, from, to core.Time) bool {
	for t := from; t < to; t++ {
		if t < 0 || t >= Horizon || d.Used[t]+n > d.nodes {
			return false
		}
	}
	return true
}

// Fit returns the schedule with the earliest completion. If there are several, it returns the one with the
// earliest starts, compared from the first step on. If `late` is set, it returns the one with the latest
// starts, compared from the last step on. If `held` is set, the profile begins at the given second, and its
// first step may wait without limit. Otherwise the first step never waits.
func (d *Seconds) Fit(requested core.EP, limit ep.Limit, begin core.Time, held, late bool) (core.Time, core.EP, bool) {
	longest := func(i int) core.Time {
		switch {
		case i == 0 && held:
			return core.Forever
		case i == 0:
			return requested[0].Duration
		}
		return limit.Longest(requested[i].Duration)
	}
	leads := func(i int, s core.Time) func(func(core.Time) bool) { // iterates over the possible starts of the next step, ascending
		return func(yield func(core.Time) bool) {
			for t := s + 1; t <= Horizon && t-s <= longest(i) && d.Free(requested[i].Nodes, t-1, t); t++ {
				if t >= s+requested[i].Duration && t < Horizon && !yield(t) {
					return
				}
			}
		}
	}
	can := make([][Horizon]bool, len(requested))
	for t := begin; t < Horizon && !(held && t > begin); t++ {
		can[0][t] = d.Free(requested[0].Nodes, t, t+requested[0].Duration)
	}
	for i, step := range requested[1:] {
		for s := range core.Time(Horizon) {
			if can[i][s] {
				for t := range leads(i, s) {
					can[i+1][t] = d.Free(step.Nodes, t, t+step.Duration)
				}
			}
		}
	}
	last := len(requested) - 1
	at := core.Time(-1)
	for t := Horizon - 1; t >= 0; t-- {
		if can[last][t] {
			at = core.Time(t)
		}
	}
	if at < 0 {
		return 0, nil, false
	}
	scheduled := make(core.EP, len(requested))
	scheduled[last] = requested[last]
	for i := last - 1; i >= 0; i-- {
		next, found := at, false
		for s := begin; s < next; s++ {
			reaches := func(t core.Time) bool { return t == next }
			if can[i][s] && (late || !found) && slices.ContainsFunc(slices.Collect(leads(i, s)), reaches) {
				at, found = s, true
			}
		}
		scheduled[i] = core.Step{Duration: next - at, Nodes: requested[i].Nodes}
	}
	return at, scheduled, true
}

// Least finds the schedule with the given completion that wastes least. If there are several, it returns the
// one with the latest starts. It tries every start and every length of every step, from the last step back.
func (d *Seconds) Least(requested core.EP, limit ep.Limit, begin, completion core.Time) (core.Time, core.EP) {
	const none = core.Forever
	waste, length := make([][Horizon + 1]int64, len(requested)+1), make([][Horizon + 1]core.Time, len(requested))
	for t := range waste[len(requested)] {
		waste[len(requested)][t] = none
	}
	waste[len(requested)][completion] = 0
	for i := len(requested) - 1; i >= 0; i-- {
		longest := limit.Longest(requested[i].Duration)
		if i == 0 || i == len(requested)-1 {
			longest = requested[i].Duration
		}
		for t := range waste[i] {
			waste[i][t] = none
			start := core.Time(t)
			for l := core.Time(1); start >= begin && start+l <= completion && l <= longest && d.Free(requested[i].Nodes, start+l-1, start+l); l++ {
				w := waste[i+1][start+l] + (l-requested[i].Duration)*int64(requested[i].Nodes)
				if l >= requested[i].Duration && waste[i+1][start+l] < none && w <= waste[i][t] {
					waste[i][t], length[i][t] = w, l
				}
			}
		}
	}
	start := completion
	for t := completion; t >= begin; t-- {
		if waste[0][t] < waste[0][start] {
			start = t
		}
	}
	scheduled := make(core.EP, len(requested))
	for i, t := 0, start; i < len(requested); i++ {
		scheduled[i] = core.Step{Duration: length[i][t], Nodes: requested[i].Nodes}
		t += length[i][t]
	}
	return start, scheduled
}

// EP parses a profile, "2x10 5x20": 2 nodes for 10 seconds, then 5 for 20.
func EP(text string) core.EP {
	var ep core.EP
	for field := range strings.FieldsSeq(text) {
		var s core.Step
		if _, err := fmt.Sscanf(field, "%dx%d", &s.Nodes, &s.Duration); err != nil {
			panic(err)
		}
		ep = append(ep, s)
	}
	return ep
}
