package gantt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/traces/report"
	"accordion/traces/workload"
)

// Figures are the sums of a chart.
type Figures struct {
	Jobs     int
	ByKind   map[workload.Kind]int
	Growths  int // number of growths that happened
	Missed   int // promised growths that never happened
	Shrinks  int
	Lateness time.Duration // mean over the promised growths; an early growth counts as on time
	Worst    time.Duration // the latest growth
	// Utilization is the share of the machine that was held from the first start to the last end, from 0 to 1.
	Utilization float64
	// Held is the node-time of the evolving jobs. AtPeak is their node-time if they had been rigid jobs of their largest size.
	Held, AtPeak time.Duration
}

// Saved returns the node-time that rigid jobs of the peak size would have wasted.
func (f Figures) Saved() time.Duration { return f.AtPeak - f.Held }

// Figures returns the sums of the chart.
func (g Chart) Figures() Figures {
	f := Figures{Jobs: len(g.Jobs), ByKind: map[workload.Kind]int{}}
	var first, last time.Time
	var late time.Duration
	judged := 0
	for _, j := range g.Jobs {
		f.ByKind[j.Kind]++
		start, end := j.Start(), j.End()
		if start.IsZero() {
			continue
		}
		if first.IsZero() || start.Before(first) {
			first = start
		}
		if end.After(last) {
			last = end
		}
		if j.Kind != workload.Evolving {
			continue
		}
		f.Held += j.held()
		f.AtPeak += time.Duration(j.Peak()) * end.Sub(start)
		f.countResizes(j)
		for _, m := range j.Marks() {
			if m.From == 0 || m.To < m.From {
				continue
			}
			if m.Real.IsZero() {
				f.Missed++
				continue
			}
			judged++
			late += max(0, m.Late())
			f.Worst = max(f.Worst, m.Late())
		}
	}
	if judged > 0 {
		f.Lateness = late / time.Duration(judged)
	}
	if whole := last.Sub(first); whole > 0 && len(g.Nodes) > 0 {
		f.Utilization = float64(g.held()) / float64(whole) / float64(len(g.Nodes))
	}
	return f
}

// held returns the node-time that was held. A node that jobs share counts once.
func (g Chart) held() (sum time.Duration) {
	holds := map[string][]Hold{}
	for _, j := range g.Jobs {
		for _, h := range j.Holds {
			holds[h.Node] = append(holds[h.Node], h)
		}
	}
	for _, all := range holds {
		slices.SortFunc(all, func(a, b Hold) int { return a.From.Compare(b.From) })
		var until time.Time
		for _, h := range all {
			if h.From.Before(until) {
				h.From = until
			}
			if h.To.After(h.From) {
				sum, until = sum+h.To.Sub(h.From), h.To
			}
		}
	}
	return sum
}

// countResizes counts the growths and shrinks of a job.
func (f *Figures) countResizes(j Job) {
	sizes := j.Sizes()
	for i := 1; i < len(sizes); i++ {
		switch {
		case sizes[i].Nodes == 0: // the end of the job
		case sizes[i].Nodes > sizes[i-1].Nodes:
			f.Growths++
		default:
			f.Shrinks++
		}
	}
}

// rows returns the table of the page, for a machine of this many nodes.
func (f Figures) rows(nodes int) []report.Row {
	var kinds []string
	for k := range slices.Backward(workload.Kinds[:]) {
		if n := f.ByKind[workload.Kind(k)]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, workload.Kind(k)))
		}
	}
	rows := []report.Row{
		{Name: "Jobs", About: strings.Join(kinds, ", "), Unit: report.Count, Values: []float64{float64(f.Jobs)}},
		{Name: "Utilisation", About: fmt.Sprintf("of %d nodes", nodes), Unit: report.Share, Values: []float64{f.Utilization}},
		{Name: "Growths", About: fmt.Sprintf("and %d shrinks", f.Shrinks), Unit: report.Count, Values: []float64{float64(f.Growths)}},
		{Name: "Growths promised and missed", Unit: report.Count, Values: []float64{float64(f.Missed)}},
		{Name: "Mean lateness of growths", About: "an early one counts as on time", Unit: report.Seconds, Values: []float64{f.Lateness.Seconds()}},
		{Name: "Worst lateness", Unit: report.Seconds, Values: []float64{f.Worst.Seconds()}},
	}
	if f.AtPeak > 0 {
		rows = append(rows,
			report.Row{Name: "Held by evolving jobs", Unit: report.NodeSeconds, Values: []float64{f.Held.Seconds()}},
			report.Row{Name: "Waste avoided", About: "of what they would have held as rigid jobs of their peak sizes", Unit: report.Share, Values: []float64{float64(f.Saved()) / float64(f.AtPeak)}})
	}
	return rows
}
