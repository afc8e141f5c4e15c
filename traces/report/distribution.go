package report

import (
	"math"
	"slices"
	"sort"
	"strings"

	"accordion/traces/replay"
	"accordion/traces/workload"
)

// waited returns how long a job waited, in seconds. slowdown returns its bounded slowdown. The job must have
// begun.
func waited(j *workload.Job, o *replay.Outcome) float64 { return float64(o.Start - j.Submit) }

func slowdown(j *workload.Job, o *replay.Outcome) float64 { return o.Slowdown(j) }

// quantity is a value of each job whose distribution is shown.
type quantity struct {
	name  string // part of the names of its figures' files
	title string
	unit  string // "seconds" or ""; determines the ticks on the page and in the figures
	least float64
	of    func(*workload.Job, *replay.Outcome) float64
}

var (
	wait          = quantity{"wait", "Wait", "seconds", 1, waited}
	boundSlowdown = quantity{"slowdown", "Bounded slowdown", "", 1, slowdown}
)

// cumulative is a distribution function: the share of the jobs with at most a value, one line per policy.
type cumulative struct {
	Title string      `json:"title"`
	About string      `json:"about"`
	Unit  string      `json:"unit"`
	Least float64     `json:"least"` // lower end of the logarithmic axis; smaller values count as this value
	Most  float64     `json:"most"`
	At    []float64   `json:"at"`
	Lines [][]float64 `json:"lines"` // per policy, one value per element of At
	name  string
}

// points is the number of points of a line, at equal distances on the logarithmic axis.
const points = 180

func (r *Report) cumulative(q quantity, about string) cumulative {
	c := cumulative{Title: q.title, About: about, Unit: q.unit, Least: q.least, Most: q.least * 10, name: q.name}
	sorted := make([][]float64, len(r.Replays))
	for i := range r.Replays {
		sorted[i] = r.sorted(i, q)
		if n := len(sorted[i]); n > 0 {
			c.Most = max(c.Most, sorted[i][n-1])
		}
	}
	for k := range points {
		c.At = append(c.At, c.Least*math.Pow(c.Most/c.Least, float64(k)/(points-1)))
	}
	c.At[points-1] = c.Most
	for _, values := range sorted {
		line := make([]float64, points)
		for k, at := range c.At {
			n := sort.Search(len(values), func(i int) bool { return values[i] > at })
			line[k] = rounded(float64(n) / float64(max(1, len(values))))
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

// rounded rounds to the precision that a chart can show. A report of ten policies has thousands of these numbers, and short numbers keep it
// small.
func rounded(v float64) float64 { return math.Round(v*1e5) / 1e5 }

// sorted returns the quantity of every job that began under a policy, in ascending order.
func (r *Report) sorted(policy int, q quantity) []float64 {
	var values []float64
	outcomes := r.Replays[policy].Result.Outcomes
	for i := range r.Workload.Jobs {
		if outcomes[i].Start >= 0 {
			values = append(values, q.of(&r.Workload.Jobs[i], &outcomes[i]))
		}
	}
	slices.Sort(values)
	return values
}

// classes has the mean of a quantity for each class of jobs and each policy.
type classes struct {
	Title   string       `json:"title"`
	About   string       `json:"about"`
	Unit    string       `json:"unit"`
	Least   float64      `json:"least"`
	Most    float64      `json:"most"`
	Classes []string     `json:"classes"`
	Counts  []int        `json:"counts"` // jobs of the workload, also those that never began
	Values  [][]*float64 `json:"values"` // per policy and class; nil if no job began
	name    string
}

// classing divides jobs into the classes of the metrics.
type classing struct {
	name string
	unit string // appended to each class's name
	replay.Classes
	of func(*workload.Job) int64
}

var (
	bySize   = classing{"size", " nodes", replay.SizeClasses, func(j *workload.Job) int64 { return int64(j.Size) }}
	byLength = classing{"length", "", replay.LengthClasses, func(j *workload.Job) int64 { return j.Run }}
)

// means returns the mean of a quantity per class, without classes that have no jobs.
func (r *Report) means(q quantity, by classing, title, about string) classes {
	out := classes{Title: title, About: about, Unit: q.unit, Least: q.least, Most: q.least * 10, name: q.name + "-by-" + by.name}
	of := make([]int, len(r.Workload.Jobs))
	counts := make([]int, len(by.Names))
	for i := range r.Workload.Jobs {
		of[i] = by.Of(by.of(&r.Workload.Jobs[i]))
		counts[of[i]]++
	}
	for class, n := range counts {
		if n > 0 {
			unit := by.unit
			if by.Names[class] == "1" {
				unit = strings.TrimSuffix(unit, "s")
			}
			out.Classes, out.Counts = append(out.Classes, strings.ReplaceAll(by.Names[class], "-", dash)+unit), append(out.Counts, n)
		}
	}
	for p := range r.Replays {
		sums, began := make([]float64, len(by.Names)), make([]int, len(by.Names))
		for i := range r.Workload.Jobs {
			if o := &r.Replays[p].Result.Outcomes[i]; o.Start >= 0 {
				sums[of[i]] += q.of(&r.Workload.Jobs[i], o)
				began[of[i]]++
			}
		}
		var values []*float64
		for class, n := range counts {
			if n == 0 {
				continue
			}
			var mean *float64
			if began[class] > 0 {
				v := sums[class] / float64(began[class])
				mean, out.Most = &v, max(out.Most, v)
			}
			values = append(values, mean)
		}
		out.Values = append(out.Values, values)
	}
	return out
}

// distributions returns the charts of the distributions, for the page and for the figures.
func (r *Report) distributions() ([]cumulative, []classes) {
	if len(r.Workload.Jobs) == 0 {
		return nil, nil
	}
	return []cumulative{
			r.cumulative(wait, "Share of the jobs that waited at most so long"),
			r.cumulative(boundSlowdown, "Share of the jobs slowed down at most so much"),
		}, []classes{
			r.means(wait, bySize, "Mean wait by size", "Jobs by the nodes they asked for"),
			r.means(wait, byLength, "Mean wait by length", "Jobs by how long they run"),
			r.means(boundSlowdown, bySize, "Mean bounded slowdown by size", "Jobs by the nodes they asked for"),
			r.means(boundSlowdown, byLength, "Mean bounded slowdown by length", "Jobs by how long they run"),
		}
}
