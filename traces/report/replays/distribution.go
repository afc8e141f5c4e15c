package replays

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"accordion/core"
	"accordion/traces/replay"
)

// bound is the run time from which a bounded slowdown takes a job's own, in seconds (Feitelson and Rudolph's 10 s).
const bound = 10

// waited is how long a job waited, in seconds, and slowdown its bounded slowdown; neither for one that never began.
func waited(j *replay.Job, o *replay.Outcome) float64 { return float64(o.Start - j.Submit) }

func slowdown(j *replay.Job, o *replay.Outcome) float64 {
	return max(1, float64(o.End-j.Submit)/float64(max(o.End-o.Start, bound)))
}

// quantity is something of each job whose distribution is shown.
type quantity struct {
	name  string // of the files of its figure
	title string
	unit  string // "seconds" or "": the page's scripts and the figures know what ticks become it
	least float64
	of    func(*replay.Job, *replay.Outcome) float64
}

var (
	wait          = quantity{"wait", "Wait", "seconds", 1, waited}
	boundSlowdown = quantity{"slowdown", "Bounded slowdown", "", 1, slowdown}
)

// cumulative is which share of the jobs had at most so much of a quantity, a line a policy.
type cumulative struct {
	Title string      `json:"title"`
	About string      `json:"about"`
	Unit  string      `json:"unit"`
	Least float64     `json:"least"` // of the axis, which is logarithmic; what is smaller counts there
	Most  float64     `json:"most"`
	At    []float64   `json:"at"`
	Lines [][]float64 `json:"lines"` // of each policy, beside At
	name  string
}

// points of a cumulative line, evenly on the logarithmic axis.
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

// rounded keeps what a chart can show: a report of ten policies has thousands of these numbers.
func rounded(v float64) float64 { return math.Round(v*1e5) / 1e5 }

// sorted is the quantity of every job that began under a policy, ascending.
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

// classes is the mean of a quantity in each class of jobs, for each policy.
type classes struct {
	Title   string       `json:"title"`
	About   string       `json:"about"`
	Unit    string       `json:"unit"`
	Least   float64      `json:"least"`
	Most    float64      `json:"most"`
	Classes []string     `json:"classes"`
	Counts  []int        `json:"counts"` // jobs of the workload, whether they began or not
	Values  [][]*float64 `json:"values"` // of each policy, beside Classes; nil where no job began
	name    string
}

// classing sorts jobs into classes.
type classing struct {
	name  string
	names []string
	of    func(*replay.Job) int // among names
}

// bySize are classes by powers of four of the nodes asked for.
func bySize() classing {
	c := classing{name: "size", of: func(j *replay.Job) int {
		class := 0
		for most := 1; class < 7 && j.Size > most; most *= 4 {
			class++
		}
		return class
	}}
	c.names = append(c.names, "1 node")
	for least, k := 2, 0; k < 6; k++ {
		c.names = append(c.names, fmt.Sprintf("%d%s%d", least, dash, 4*(least-1)))
		least = 4*(least-1) + 1
	}
	c.names = append(c.names, "over 4096")
	return c
}

// byLength are classes by how long the jobs run undisturbed.
func byLength() classing {
	ends := []core.Time{60, 600, 3600, 4 * 3600, 12 * 3600, 86400}
	return classing{
		name:  "length",
		names: []string{"under 1 min", "1" + dash + "10 min", "10" + dash + "60 min", "1" + dash + "4 h", "4" + dash + "12 h", "12" + dash + "24 h", "over a day"},
		of: func(j *replay.Job) int {
			class := 0
			for class < len(ends) && j.Run >= ends[class] {
				class++
			}
			return class
		},
	}
}

// means is a quantity's mean by class; classes without jobs are left out.
func (r *Report) means(q quantity, by classing, title, about string) classes {
	out := classes{Title: title, About: about, Unit: q.unit, Least: q.least, Most: q.least * 10, name: q.name + "-by-" + by.name}
	of := make([]int, len(r.Workload.Jobs))
	counts := make([]int, len(by.names))
	for i := range r.Workload.Jobs {
		of[i] = by.of(&r.Workload.Jobs[i])
		counts[of[i]]++
	}
	for class, n := range counts {
		if n > 0 {
			out.Classes, out.Counts = append(out.Classes, by.names[class]), append(out.Counts, n)
		}
	}
	for p := range r.Replays {
		sums, began := make([]float64, len(by.names)), make([]int, len(by.names))
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

// distributions are the charts under that heading, of the page and of the figures.
func (r *Report) distributions() ([]cumulative, []classes) {
	if len(r.Workload.Jobs) == 0 {
		return nil, nil
	}
	return []cumulative{
			r.cumulative(wait, "Share of the jobs that waited at most so long"),
			r.cumulative(boundSlowdown, "Share of the jobs slowed down at most so much"),
		}, []classes{
			r.means(wait, bySize(), "Mean wait by size", "Jobs by the nodes they asked for"),
			r.means(wait, byLength(), "Mean wait by length", "Jobs by how long they run"),
			r.means(boundSlowdown, bySize(), "Mean bounded slowdown by size", "Jobs by the nodes they asked for"),
			r.means(boundSlowdown, byLength(), "Mean bounded slowdown by length", "Jobs by how long they run"),
		}
}
