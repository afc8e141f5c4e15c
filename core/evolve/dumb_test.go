package evolve_test

import (
	"accordion/core"
	"accordion/core/evolve"
	"accordion/core/profile"
)

// This file holds the dumb implementations that Fit and Compact are compared with.

// everyPlace tries every schedule over integer time that completes by the horizon: all starts of all steps. It returns
// the earliest completion and the latest start among the schedules that have it.
func everyPlace(ep core.EP, p *profile.Profile, limit evolve.Limit, notBefore, horizon core.Time) (completion, latest core.Time, ok bool) {
	completion = horizon + 1
	free := func(from, to core.Time, n int) bool {
		for t := from; t < to; t++ {
			if p.Nodes()-p.At(t) < n {
				return false
			}
		}
		return true
	}
	var place func(i int, start, first core.Time)
	place = func(i int, start, first core.Time) {
		s := ep[i]
		longest := limit.Longest(s.Duration)
		if i == 0 || i == len(ep)-1 {
			longest = s.Duration
		}
		for end := start + s.Duration; end <= min(start+longest, completion) && free(start, end, s.Nodes); end++ {
			if i < len(ep)-1 {
				place(i+1, end, first)
			} else if end < completion || end == completion && first > latest {
				completion, latest, ok = end, first, true
			}
		}
	}
	for start := notBefore; start <= horizon; start++ {
		place(0, start, start)
	}
	return completion, latest, ok
}

// printed is the fit algorithm as CoreGRID 2011 prints it (Algorithm 2), recursion, max and loc and all, with "i > 0"
// before the prepending read as "i > 1". It gives up at the horizon, where the paper's machine would be idle.
type printed struct {
	ep      core.EP
	p       *profile.Profile
	limit   evolve.Limit
	horizon core.Time
}

func (a printed) fit(i int, t0 core.Time) (start core.Time, scheduled core.EP) {
	if i == len(a.ep) {
		return t0, core.EP{}
	}
	s := a.ep[i]
	for t := t0; t <= a.horizon; {
		if a.p.Nodes()-a.p.Max(t, t+s.Duration) < s.Nodes {
			t = a.p.Loc(t, t+s.Duration)
			continue
		}
		if i > 0 {
			before := a.ep[i-1]
			if earliest := t - a.limit.Longest(before.Duration); earliest > t0-before.Duration {
				return earliest, nil
			}
			if a.p.Nodes()-a.p.Max(t0, t) < before.Nodes {
				return a.p.Loc(t0, t), nil
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
