package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/moldable"
)

// Sizing is the advice for a job that ran on several sizes: a #MOLD line, with which the planner chooses the
// size.
type Sizing struct {
	Group            // Requested is 0, because it differs
	Line     string  // line to put into the script
	Curve    string  // "amdahl" or "downey"; "" if the line lists sizes
	MaxError float64 // largest distance of the curve from a median, as a share of the median
	Sizes    []Size  // sizes with enough runs, the smallest first
	Runs     int     // number of runs on Sizes
	Checked  int     // the last third of Runs, which the line was not computed from
	OnTime   int     // runs of Checked that ended within the line's time for their size
	Latest   string  // ID of the last run that the line was computed from
	choices  []core.EP
}

// Choices returns the sizes of the line with their times: profiles of one step, the smallest size first.
func (s *Sizing) Choices() []core.EP { return s.choices }

// ForOAR replaces the lines of Sizes by oarsub commands, in which each size is a request (-l).
func (r *Report) ForOAR() {
	for i := range r.Sizes {
		line := "oarsub"
		for _, c := range r.Sizes[i].choices {
			d := c[0].Duration
			line += fmt.Sprintf(" -l nodes=%d,walltime=%d:%02d:%02d", c[0].Nodes, d/3600, d/60%60, d%60)
		}
		r.Sizes[i].Line = line
	}
}

// Size is what the runs on one size have in common.
type Size struct {
	Nodes    int
	Runs     int       // number of runs from which the line was computed
	Median   core.Time // median of the run times, in seconds
	Quantile core.Time // quantile of the run times
	Slower   bool      // in the median or in the listed time, less than 5 % faster than a smaller size; the line leaves this size out
}

const (
	maxSpread     = 2.0 // maximum of quantile over median on one size; above it, the runs do different work
	maxGain       = 1.5 // maximum speed-up over linear; above it, the faster runs did less work
	maxCurveError = 0.1 // maximum distance of a curve from a median
	minCurveSizes = 3   // minimum number of sizes for a curve: through two sizes every curve fits
)

// sizings returns the advice for jobs that ran on several sizes. It leaves out groups with an evolving line.
func (o Options) sizings(runs []Run, advised []Advice) []Sizing {
	evolves := map[Group]bool{}
	for _, a := range advised {
		if a.Kind != Smaller {
			evolves[a.Group] = true
		}
	}
	by := map[Group][]*Run{}
	for i := range runs {
		r := &runs[i]
		if r.Completed && r.End > r.Start && !evolves[r.group()] {
			key := r.group()
			key.Requested = 0
			by[key] = append(by[key], r)
		}
	}
	var all []Sizing
	for g, its := range by {
		if s := o.sizing(g, its); s != nil {
			all = append(all, *s)
		}
	}
	slices.SortFunc(all, func(a, b Sizing) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), a.Group.compare(b.Group)) })
	return all
}

// sizing returns the advice for the runs of one job, or nil. The last third of the runs only checks the line.
func (o Options) sizing(g Group, runs []*Run) *Sizing {
	slices.SortFunc(runs, compareStarts)
	s := &Sizing{Group: g}
	known := runs[:len(runs)-len(runs)/3]
	on := map[int][]core.Time{}
	for _, r := range known {
		on[r.Held] = append(on[r.Held], r.End-r.Start)
	}
	for nodes, lengths := range on {
		if least := max(o.Runs*2/3, 1); len(lengths) < least {
			continue
		}
		size := Size{Nodes: nodes, Runs: len(lengths), Median: Quantile(lengths, 0.5), Quantile: Quantile(lengths, o.Quantile)}
		if float64(size.Quantile) > maxSpread*float64(size.Median) {
			return nil
		}
		s.Sizes = append(s.Sizes, size)
	}
	slices.SortFunc(s.Sizes, func(a, b Size) int { return a.Nodes - b.Nodes })
	if !o.write(s) {
		return nil
	}
	for _, r := range runs {
		if slices.ContainsFunc(s.Sizes, func(z Size) bool { return z.Nodes == r.Held }) {
			s.Runs++
		}
	}
	s.Latest = known[len(known)-1].ID
	s.judge(runs[len(known):])
	return s
}

// write sets the line: a curve if one fits, otherwise the sizes that are faster than all smaller sizes. It returns false if there are fewer
// than two such sizes.
func (o Options) write(s *Sizing) bool {
	best := core.Forever
	var points []Size
	for i := range s.Sizes {
		z := &s.Sizes[i]
		if z.Slower = float64(z.Median) > (1-minSaving)*float64(best); !z.Slower {
			best = z.Median
			points = append(points, *z)
		}
	}
	if len(points) < 2 || otherWork(points) {
		return false
	}
	if text, curve, maxError := o.fitted(points); text != "" {
		if choices, err := moldable.Parse(text); err == nil {
			s.Line, s.Curve, s.MaxError, s.choices = "#MOLD "+text, curve, maxError, choices
			return true
		}
	}
	shortest := core.Forever
	for i := range s.Sizes {
		z := &s.Sizes[i]
		listed := o.rounded(z.Quantile)
		if z.Slower = z.Slower || float64(listed) > (1-minSaving)*float64(shortest); !z.Slower {
			shortest = listed
			s.choices = append(s.choices, core.EP{{Duration: listed, Nodes: z.Nodes}})
		}
	}
	if len(s.choices) < 2 || len(s.choices) > moldable.MaxChoices {
		return false
	}
	s.Line = "#MOLD " + moldable.Format(s.choices)
	return true
}

// otherWork reports whether the runs on some size were too much faster than on a smaller one to have done the same work.
func otherWork(points []Size) bool {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if float64(a.Median)*float64(a.Nodes) > maxGain*float64(b.Median)*float64(b.Nodes) {
			return true
		}
	}
	return false
}

// fitted returns the model that fits the medians best, or "" if no model is within maxCurveError of each median. It chooses the model's time
// on one node so that on each size the quantile with its margin does not exceed the model's time.
func (o Options) fitted(points []Size) (text, curve string, maxError float64) {
	if len(points) < minCurveSizes {
		return "", "", 0
	}
	a, d := fitAmdahl(points), fitDowney(points)
	first, last := points[0].Nodes, points[len(points)-1].Nodes
	nodes := fmt.Sprintf("%d-%d", first, last)
	if !slices.ContainsFunc(points, func(z Size) bool { return z.Nodes&(z.Nodes-1) != 0 }) {
		nodes += "^2"
	}
	switch {
	case a.maxError <= maxCurveError && a.maxError <= d.maxError+0.01: // if both fit equally well, the simpler one
		t1 := o.longest(a, points)
		return fmt.Sprintf("amdahl:p=%s,t1=%s,nodes=%s", decimal(a.p), core.FormatDuration(t1), nodes), "amdahl", a.maxError
	case d.maxError <= maxCurveError:
		t1 := o.longest(d, points)
		return fmt.Sprintf("downey:a=%s,sigma=%s,t1=%s,nodes=%s", decimal(d.p), decimal(d.sigma), core.FormatDuration(t1), nodes), "downey", d.maxError
	}
	return "", "", 0
}

// longest returns the smallest time on one node for which, on each size, the curve's time is at least the quantile with the margin.
func (o Options) longest(f fit, points []Size) core.Time {
	t1 := 0.0
	for _, z := range points {
		t1 = max(t1, float64(z.Quantile)*(1+o.Margin)*f.speed(z.Nodes))
	}
	return core.Time(math.Ceil(t1))
}

// decimal returns a number with at most four decimals, as models have it.
func decimal(x float64) string {
	text := strings.TrimRight(fmt.Sprintf("%.4f", x), "0")
	return strings.TrimSuffix(text, ".")
}

// judge counts the runs that ended within the line's time for their size.
func (s *Sizing) judge(runs []*Run) {
	for _, r := range runs {
		for _, c := range s.choices {
			if c[0].Nodes == r.Held {
				s.Checked++
				if r.End-r.Start <= c[0].Duration {
					s.OnTime++
				}
			}
		}
	}
}
