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

// Sizing is the advice to a job that was run on several sizes: a line #MOLD, by which the planner may pick one.
type Sizing struct {
	Group           // Requested is 0: it differs
	Line    string  // to be written into the script
	Curve   string  // "amdahl" or "downey"; "" where the line lists the sizes that were seen
	Off     float64 // how far the curve is from the medians at most, as a share of them
	Sizes   []Size  // all that were seen often enough, the fewest nodes first
	Runs    int     // on these
	Checked int     // the last third, of which the line knows nothing
	OnTime  int     // of these, that were over in the line's time for their size
	Latest  string  // the last run that the line was made of
	choices []core.EP
}

// Choices are the sizes of the line, each with its time: profiles of one step, the fewest nodes first.
func (s *Sizing) Choices() []core.EP { return s.choices }

// ForOAR replaces the lines of Sizes by oarsub commands: OAR takes each size as a request (-l).
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

// Size is what was seen on so many nodes.
type Size struct {
	Nodes  int
	Runs   int       // that the line was made of
	Median core.Time // of their durations, seconds
	Mostly core.Time // the quantile of them
	Slower bool      // than on fewer nodes, or no more than 5 % faster, in the median or in what a list tells: the line leaves it out
}

const (
	mostSpread = 2.0 // the quantile on one size over its median: with more the runs differ by more than their size
	mostGain   = 1.5 // times the speed that more nodes give at best: what is faster still did less work
	mostOff    = 0.1 // of a curve from the medians
	leastFit   = 3   // sizes through which a curve is fitted: two are on any
)

// sizings finds the jobs that were run on several sizes; those that evolve are told so already.
func (o Options) sizings(runs []Run, told []Advice) []Sizing {
	evolves := map[Group]bool{}
	for _, a := range told {
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

// sizing is the advice on the runs of one job; nil where there is none. Its last third judges the line.
func (o Options) sizing(g Group, runs []*Run) *Sizing {
	slices.SortFunc(runs, older)
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
		size := Size{Nodes: nodes, Runs: len(lengths), Median: Quantile(lengths, 0.5), Mostly: Quantile(lengths, o.Quantile)}
		if float64(size.Mostly) > mostSpread*float64(size.Median) {
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

// write puts the line: a curve where one fits, else the sizes that are faster than smaller ones. False where fewer than two are.
func (o Options) write(s *Sizing) bool {
	best := core.Forever
	var points []Size
	for i := range s.Sizes {
		z := &s.Sizes[i]
		if z.Slower = float64(z.Median) > (1-worth)*float64(best); !z.Slower {
			best = z.Median
			points = append(points, *z)
		}
	}
	if len(points) < 2 || otherWork(points) {
		return false
	}
	if text, curve, off := o.fitted(points); text != "" {
		if choices, err := moldable.Parse(text); err == nil {
			s.Line, s.Curve, s.Off, s.choices = "#MOLD "+text, curve, off, choices
			return true
		}
	}
	shortest := core.Forever
	for i := range s.Sizes {
		z := &s.Sizes[i]
		told := o.written(z.Mostly)
		if z.Slower = z.Slower || float64(told) > (1-worth)*float64(shortest); !z.Slower {
			shortest = told
			s.choices = append(s.choices, core.EP{{Duration: told, Nodes: z.Nodes}})
		}
	}
	if len(s.choices) < 2 || len(s.choices) > moldable.MaxChoices {
		return false
	}
	s.Line = "#MOLD " + moldable.Format(s.choices)
	return true
}

// otherWork says whether the runs on some size were so much faster than on a smaller one that they cannot have done the same.
func otherWork(points []Size) bool {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if float64(a.Median)*float64(a.Nodes) > mostGain*float64(b.Median)*float64(b.Nodes) {
			return true
		}
	}
	return false
}

// fitted is the model that fits the medians best, its time on one node so long that on each size the quantile and the margin are within it;
// "" where none is within mostOff of each.
func (o Options) fitted(points []Size) (text, curve string, off float64) {
	if len(points) < leastFit {
		return "", "", 0
	}
	a, d := fitAmdahl(points), fitDowney(points)
	first, last := points[0].Nodes, points[len(points)-1].Nodes
	nodes := fmt.Sprintf("%d-%d", first, last)
	if !slices.ContainsFunc(points, func(z Size) bool { return z.Nodes&(z.Nodes-1) != 0 }) {
		nodes += "^2"
	}
	switch {
	case a.off <= mostOff && a.off <= d.off+0.01: // of two that are as good, the simpler
		t1 := o.longest(a, points)
		return fmt.Sprintf("amdahl:p=%s,t1=%s,nodes=%s", decimal(a.p), core.FormatDuration(t1), nodes), "amdahl", a.off
	case d.off <= mostOff:
		t1 := o.longest(d, points)
		return fmt.Sprintf("downey:a=%s,sigma=%s,t1=%s,nodes=%s", decimal(d.p), decimal(d.sigma), core.FormatDuration(t1), nodes), "downey", d.off
	}
	return "", "", 0
}

// longest is the time on one node with which the curve is, on each size, at least what is asked for there.
func (o Options) longest(f fit, points []Size) core.Time {
	t1 := 0.0
	for _, z := range points {
		t1 = max(t1, float64(z.Mostly)*(1+o.Margin)*f.speed(z.Nodes))
	}
	return core.Time(math.Ceil(t1))
}

// decimal is a number as models have it, with four places at most.
func decimal(x float64) string {
	text := strings.TrimRight(fmt.Sprintf("%.4f", x), "0")
	return strings.TrimSuffix(text, ".")
}

// judge counts the runs that were over in the line's time for their size.
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
