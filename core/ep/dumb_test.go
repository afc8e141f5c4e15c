package ep_test

import (
	"slices"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// This file has the simple implementations with which Fit, Compact and LeastWaste are compared.

// best is the result of an exhaustive search: the earliest completion, and among the schedules with this
// completion the latest start and the schedule with the least waste. If several schedules have the least waste,
// best has the one with the latest starts, compared from the first step on.
type best struct {
	completion, latest core.Time
	waste              int64
	starts             []core.Time
}

// everyPlace tries every schedule in whole seconds that completes by the horizon: all starts of all steps. ok is
// false if there is none.
func everyPlace(requested core.EP, p *profile.Profile, limit ep.Limit, notBefore, horizon core.Time) (b best, ok bool) {
	b.completion = horizon + 1
	free, starts := everySecond(p, horizon), make([]core.Time, len(requested))
	var place func(i int, start core.Time, waste int64)
	place = func(i int, start core.Time, waste int64) {
		s, last := requested[i], i == len(requested)-1
		longest := limit.Longest(s.Duration)
		if i == 0 || last {
			longest = s.Duration
		}
		starts[i] = start
		for end := start + s.Duration; end <= min(start+longest, b.completion, horizon) && always(free[start:end], s.Nodes); end++ {
			switch waste := waste + (end-start-s.Duration)*int64(s.Nodes); {
			case !last:
				place(i+1, end, waste)
			case end < b.completion:
				b, ok = best{completion: end, latest: starts[0], waste: waste, starts: slices.Clone(starts)}, true
			default:
				b.latest = max(b.latest, starts[0])
				if waste < b.waste || waste == b.waste && slices.Compare(starts, b.starts) > 0 {
					b.waste, b.starts = waste, slices.Clone(starts)
				}
			}
		}
	}
	for start := notBefore; start <= horizon; start++ {
		place(0, start, 0)
	}
	return b, ok
}

// everySecond returns how many nodes are free at each second before `end`.
func everySecond(p *profile.Profile, end core.Time) []int {
	free := make([]int, end)
	for t := range free {
		free[t] = p.Nodes() - p.At(core.Time(t))
	}
	return free
}

// always reports whether n nodes are free in all seconds.
func always(free []int, n int) bool {
	for _, f := range free {
		if f < n {
			return false
		}
	}
	return true
}

// plain does what Fit does, without any pruning. It increases the start of a step to its next hole, or to the
// end of the step before it. It also does so if the step would otherwise wait for the next step beyond its
// limit, or without free nodes. It repeats this until no start increases.
func plain(requested core.EP, p *profile.Profile, limit ep.Limit, notBefore core.Time) (starts []core.Time, ok bool) {
	starts = slices.Repeat([]core.Time{notBefore}, len(requested))
	for rises := true; rises; {
		rises = false
		raise := func(i int, to core.Time) {
			if to > starts[i] {
				starts[i], rises = to, true
			}
		}
		for i, s := range requested {
			if i > 0 {
				raise(i, starts[i-1]+requested[i-1].Duration)
			}
			longest := limit.Longest(s.Duration)
			if i == 0 {
				longest = s.Duration
			}
			if i+1 < len(requested) {
				raise(i, starts[i+1]-longest)
				raise(i, p.FreeSince(s.Nodes, starts[i+1]))
			}
			hole, ok := p.FirstFit(s.Nodes, s.Duration, starts[i])
			if !ok {
				return nil, false
			}
			raise(i, hole)
		}
	}
	return starts, true
}

// leastSecondBySecond returns the least waste of all schedules that complete at the given time, and the starts
// of the steps in such a schedule. If there are several, it returns the latest starts. It tries each second and
// each length of each step. It ignores nodes that become free after the profile's last second.
func leastSecondBySecond(requested core.EP, p *profile.Profile, limit ep.Limit, notBefore, completion core.Time) (waste int64, starts []core.Time) {
	const none = int64(1) << 60
	free, size := everySecond(p, completion), completion+1
	least := make([][]int64, len(requested)) // least[i][t] is the least waste of the steps from i on if step i starts at t
	next := make([][]core.Time, len(requested))
	for i := len(requested) - 1; i >= 0; i-- {
		s := requested[i]
		least[i], next[i] = slices.Repeat([]int64{none}, int(size)), make([]core.Time, size)
		longest := min(limit.Longest(s.Duration), size)
		if i == 0 || i == len(requested)-1 {
			longest = s.Duration
		}
		for t := notBefore; t+s.Duration <= completion; t++ {
			for u := t + 1; u <= min(t+longest, completion) && free[u-1] >= s.Nodes; u++ {
				w := (u - t - s.Duration) * int64(s.Nodes)
				switch {
				case u < t+s.Duration, i == len(requested)-1 && u < completion:
					continue
				case i < len(requested)-1:
					w += least[i+1][u]
				}
				if w <= least[i][t] {
					least[i][t], next[i][t] = w, u
				}
			}
		}
	}
	waste = none
	var at core.Time
	for t, w := range least[0] {
		if w <= waste {
			waste, at = w, core.Time(t)
		}
	}
	for i := range requested {
		starts = append(starts, at)
		at = next[i][at]
	}
	return waste, starts
}

// printed is the fit algorithm as printed in CoreGRID 2011 (Algorithm 2), with its recursion and its functions
// `max` and `loc`. Where the paper has the condition "i > 0" before the prepending, this code has "i > 1". The
// search gives up at the horizon.
type printed struct {
	ep      core.EP
	p       *profile.Profile
	limit   ep.Limit
	horizon core.Time
}

// loc returns the end of the last step that has the maximum of [from, to), as in the paper.
func (a printed) loc(from, to core.Time) core.Time {
	for from < to && a.p.At(to-1) < a.p.Max(from, to) {
		to--
	}
	return to
}

func (a printed) fit(i int, t0 core.Time) (start core.Time, scheduled core.EP) {
	if i == len(a.ep) {
		return t0, core.EP{}
	}
	s := a.ep[i]
	for t := t0; t <= a.horizon; {
		if a.p.Nodes()-a.p.Max(t, t+s.Duration) < s.Nodes {
			t = a.loc(t, t+s.Duration)
			continue
		}
		if i > 0 {
			before := a.ep[i-1]
			if earliest := t - a.limit.Longest(before.Duration); earliest > t0-before.Duration {
				return earliest, nil
			}
			if a.p.Nodes()-a.p.Max(t0, t) < before.Nodes {
				return a.loc(t0, t), nil
			}
		}
		tail, rest := a.fit(i+1, t+s.Duration)
		if rest == nil {
			t = tail
			continue
		}
		if i > 0 {
			return t, append(core.EP{{Duration: tail - t, Nodes: s.Nodes}}, rest...)
		}
		return tail - s.Duration, append(core.EP{s}, rest...)
	}
	return a.horizon + 1, nil
}
