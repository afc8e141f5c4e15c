package queue_test

import (
	"slices"

	"accordion/core"
	"accordion/core/evolve"
	"accordion/core/queue"
)

// horizon bounds the dumb implementation, in seconds; the cases are small enough that all is over before.
const horizon = 250

// dumb is the second implementation of everything here: an array of free nodes, one entry a second, and every start of
// every step tried.
type dumb struct {
	nodes int
	used  [horizon]int
}

func newDumb(nodes int, all ...core.Allocation) *dumb {
	d := &dumb{nodes: nodes}
	for _, a := range all {
		d.add(a)
	}
	return d
}

func (d *dumb) add(a core.Allocation) {
	for t := range core.Time(horizon) {
		d.used[t] += a.EP.At(t - a.Start)
	}
}

// free says whether n nodes are free from one second to another; behind the horizon nothing is.
func (d *dumb) free(n int, from, to core.Time) bool {
	for t := from; t < to; t++ {
		if t < 0 || t >= horizon || d.used[t]+n > d.nodes {
			return false
		}
	}
	return true
}

// fit finds the starts of every step from which it can run, front to back, and of those that lead to the earliest
// completion the earliest ones, or with late the latest, back to front. A held profile begins at the second given and its
// first step waits as long as it likes; else the first step never waits.
func (d *dumb) fit(ep core.EP, limit evolve.Limit, begin core.Time, held, late bool) (core.Time, core.EP, bool) {
	longest := func(i int) core.Time {
		switch {
		case i == 0 && held:
			return core.Forever
		case i == 0:
			return ep[0].Duration
		}
		return limit.Longest(ep[i].Duration)
	}
	leads := func(i int, s core.Time) func(func(core.Time) bool) { // to starts t of the next step, rising
		return func(yield func(core.Time) bool) {
			for t := s + 1; t <= horizon && t-s <= longest(i) && d.free(ep[i].Nodes, t-1, t); t++ {
				if t >= s+ep[i].Duration && t < horizon && !yield(t) {
					return
				}
			}
		}
	}
	can := make([][horizon]bool, len(ep))
	for t := begin; t < horizon && !(held && t > begin); t++ {
		can[0][t] = d.free(ep[0].Nodes, t, t+ep[0].Duration)
	}
	for i, step := range ep[1:] {
		for s := range core.Time(horizon) {
			if can[i][s] {
				for t := range leads(i, s) {
					can[i+1][t] = d.free(step.Nodes, t, t+step.Duration)
				}
			}
		}
	}
	last := len(ep) - 1
	at := core.Time(-1)
	for t := horizon - 1; t >= 0; t-- {
		if can[last][t] {
			at = core.Time(t)
		}
	}
	if at < 0 {
		return 0, nil, false
	}
	scheduled := make(core.EP, len(ep))
	scheduled[last] = ep[last]
	for i := last - 1; i >= 0; i-- {
		next, found := at, false
		for s := begin; s < next; s++ {
			reaches := func(t core.Time) bool { return t == next }
			if can[i][s] && (late || !found) && slices.ContainsFunc(slices.Collect(leads(i, s)), reaches) {
				at, found = s, true
			}
		}
		scheduled[i] = core.Step{Duration: next - at, Nodes: ep[i].Nodes}
	}
	return at, scheduled, true
}

// least finds the schedule with the given completion that wastes least, of several the one with the latest starts: every
// start and every length of every step is tried, from the last one back.
func (d *dumb) least(ep core.EP, limit evolve.Limit, begin, completion core.Time) (core.Time, core.EP) {
	const none = core.Forever
	waste, length := make([][horizon + 1]int64, len(ep)+1), make([][horizon + 1]core.Time, len(ep))
	for t := range waste[len(ep)] {
		waste[len(ep)][t] = none
	}
	waste[len(ep)][completion] = 0
	for i := len(ep) - 1; i >= 0; i-- {
		longest := limit.Longest(ep[i].Duration)
		if i == 0 || i == len(ep)-1 {
			longest = ep[i].Duration
		}
		for t := range waste[i] {
			waste[i][t] = none
			start := core.Time(t)
			for l := core.Time(1); start >= begin && start+l <= completion && l <= longest && d.free(ep[i].Nodes, start+l-1, start+l); l++ {
				w := waste[i+1][start+l] + (l-ep[i].Duration)*int64(ep[i].Nodes)
				if l >= ep[i].Duration && waste[i+1][start+l] < none && w <= waste[i][t] {
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
	scheduled := make(core.EP, len(ep))
	for i, t := 0, start; i < len(ep); i++ {
		scheduled[i] = core.Step{Duration: length[i][t], Nodes: ep[i].Nodes}
		t += length[i][t]
	}
	return start, scheduled
}

// plan is Figure 5 of RR-7389, word by word.
func (d *dumb) plan(policy queue.Repeated, now core.Time, jobs []core.Job) core.Plan {
	var plan core.Plan
	queued := crowd{order: policy.Order}
	for _, j := range jobs {
		queued.insert(waiter{job: j})
	}
	for _, w := range queued.waiting {
		j := w.job
		var best *core.Planned
		for c, ep := range j.Choices {
			start, scheduled, ok := d.fit(ep, policy.Limit, max(now, j.Begin), false, policy.Compact)
			if !ok {
				continue
			}
			if policy.LeastWaste {
				start, scheduled = d.least(ep, policy.Limit, max(now, j.Begin), start+scheduled.Total())
			}
			p := core.Planned{Allocation: core.Allocation{Job: j.ID, Start: start, EP: scheduled}, Choice: c}
			if best == nil || p.End() < best.End() || p.End() == best.End() && p.EP.Peak() < best.EP.Peak() {
				best = &p
			}
		}
		if best != nil {
			d.add(best.Allocation)
			plan.Jobs = append(plan.Jobs, *best)
		}
	}
	return plan
}
