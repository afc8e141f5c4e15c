package report

import (
	"slices"

	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// change is a change of a number at a second.
type change struct {
	at core.Time
	by int
}

// held returns the sizes that a job had from its start on. The job must have begun.
func held(j *workload.Job, o *replay.Outcome) core.EP {
	if len(o.Held) > 0 {
		return o.Held
	}
	return core.EP{{Duration: o.End - o.Start, Nodes: o.Nodes(j)}}
}

// load returns the changes of the number of held nodes under a policy.
func (r *Report) load(policy int) []change {
	var changes []change
	for i := range r.Workload.Jobs {
		o := &r.Replays[policy].Result.Outcomes[i]
		if o.Start < 0 {
			continue
		}
		at, had := o.Start, 0
		for _, s := range held(&r.Workload.Jobs[i], o) {
			changes = append(changes, change{at, s.Nodes - had})
			at, had = at+s.Duration, s.Nodes
		}
		changes = append(changes, change{o.End, -had})
	}
	return changes
}

// queue returns the changes of the number of waiting jobs under a policy.
func (r *Report) queue(policy int) []change {
	var changes []change
	for i := range r.Workload.Jobs {
		changes = append(changes, change{r.Workload.Jobs[i].Submit, 1})
		if o := &r.Replays[policy].Result.Outcomes[i]; o.Start >= 0 {
			changes = append(changes, change{o.Start, -1})
		}
	}
	return changes
}

// span returns the time from the first submission to the last end under any policy. It is never empty.
func (r *Report) span() (from, to core.Time) {
	from, to = core.Forever, -core.Forever
	for i := range r.Workload.Jobs {
		from = min(from, r.Workload.Jobs[i].Submit)
		for p := range r.Replays {
			if o := &r.Replays[p].Result.Outcomes[i]; o.Start >= 0 {
				from, to = min(from, o.Start), max(to, o.End)
			}
		}
	}
	if from == core.Forever {
		from = 0
	}
	return from, max(to, from+60)
}

// means divides the time [from, to) into n parts of equal length, and returns the mean of each part.
func means(changes []change, from, to core.Time, n int) []float64 {
	slices.SortFunc(changes, func(a, b change) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		default:
			return 0
		}
	})
	out := make([]float64, n)
	width := float64(to-from) / float64(n)
	now, k := 0, 0
	for i := range out {
		begin, end := float64(from)+float64(i)*width, float64(from)+float64(i+1)*width
		sum := 0.0
		for at := begin; at < end; {
			for k < len(changes) && float64(changes[k].at) <= at {
				now += changes[k].by
				k++
			}
			until := end
			if k < len(changes) {
				until = min(end, float64(changes[k].at))
			}
			sum += float64(now) * (until - at)
			at = until
		}
		out[i] = max(0, sum/width)
	}
	return out
}
