package limits

import (
	"math"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/number"
	"accordion/slurm/output"
)

// Rank returns the known parts of a waiting job's rank, the largest first.
func Rank(c output.Configuration, r *output.Record, rules Policies, now time.Time) []adapter.RankPart {
	share := func(key string, factor float64) int64 {
		weight, _ := c.Number(key)
		return int64(math.Round(float64(weight) * factor))
	}
	points := Age(c, r, now)
	if !r.Parked() {
		points = min(points, r.Priority)
	}
	all := []adapter.RankPart{{Name: "age", Points: points}}
	if chain := rules.chain(r.Account, r.User); len(chain) > 0 {
		all = append(all, adapter.RankPart{Name: "fair share", Points: share("PriorityWeightFairShare", chain[0].factor)})
	}
	most := int64(0)
	for _, q := range rules.qualities {
		most = max(most, q.priority)
	}
	if q := rules.quality(r.QOS); q != nil && most > 0 {
		all = append(all, adapter.RankPart{Name: "QOS", Points: share("PriorityWeightQOS", float64(q.priority)/float64(most))})
	}
	rest := r.Priority
	for _, p := range all {
		rest -= p.Points
	}
	all = append(all, adapter.RankPart{Name: "other", Points: rest})
	slices.SortStableFunc(all, func(a, b adapter.RankPart) int { return int(b.Points - a.Points) })
	return slices.DeleteFunc(all, func(p adapter.RankPart) bool { return p.Points == 0 })
}

// mostAgeParts is the largest number of parts into which PriorityMaxAge is divided. With Slurm's default of a week,
// a part is a minute.
const mostAgeParts = 7 * 24 * 60

// EligibleSince returns the second from which a pending job could have run. It is the latest of the job's
// submission, its begin time, the end of its dependency and the end of its hold. Slurm does not report the last two
// for a parked job, so the job must be read often. `known` is the result of the last call, or 0 at the first call.
func EligibleSince(r *output.Record, known core.Time, now time.Time) core.Time {
	switch {
	case r.DependsOn != "" || r.Begin > now.Unix() || r.Stopped():
		return adapter.NotYet
	case known == adapter.NotYet:
		return now.Unix()
	case known > 0:
		return known
	}
	return max(r.Submitted, r.Begin)
}

// Age returns what the job's age would add to its priority. While the job is parked, Slurm does not add it, because
// the job could not start.
func Age(c output.Configuration, r *output.Record, now time.Time) int64 {
	weight, _ := c.Number("PriorityWeightAge")
	most, err := number.Limit(c["PriorityMaxAge"])
	if c["PriorityType"] != "priority/multifactor" || strings.Contains(c["PriorityFlags"], "ACCRUE_ALWAYS") || err != nil || most <= 0 {
		return 0
	}
	since := max(r.Submitted, r.Begin)
	switch {
	case r.CouldRun == adapter.NotYet:
		return 0
	case r.CouldRun > 0:
		since = r.CouldRun
	}
	grain := max(1, min(60, most/mostAgeParts)) // so that the priority does not change at every reading
	waited := max(0, now.Unix()-since) / grain * grain
	return int64(math.Round(float64(weight) * min(1, float64(waited)/float64(most))))
}
